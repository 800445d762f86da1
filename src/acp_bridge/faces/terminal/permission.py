"""`--permission`: what is answered to a permission request, and how a request reads. No I/O.

An option is chosen only by its known kind, never by its name or place. `allow` never leaves the roots.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from acp_bridge.host.visible import visible

Json = dict[str, Any]


class Policy(StrEnum):
    """The values of `--permission`."""

    ask = "ask"
    allow = "allow"
    reject = "reject"


@dataclass(frozen=True, slots=True)
class Decision:
    """`option_id` None cancels the turn. `why` is shown to the user, behind the option."""

    option_id: str | None
    why: str


def decide(request: Json, policy: Policy) -> Decision:
    """The answer to a request of `acp/permission/requested` when nobody is asked; `ask` counts as reject."""
    if policy is Policy.ask:
        return reject(request, "nobody can be asked")
    if policy is Policy.reject:
        return reject(request, "--permission reject")
    if request.get("outsideRoots"):
        return reject(request, "--permission allow does not reach outside the session's folders")
    option = _of_kind(request, "allow_once")
    if option is None:
        return reject(request, "the agent offers nothing that allows just once")
    return Decision(option, "--permission allow")


def reject(request: Json, why: str) -> Decision:
    """Reject this once; where the agent offers no such option, cancel the turn."""
    option = _of_kind(request, "reject_once")
    if option is None:
        return Decision(None, f"{why}; there is no option to reject just once, so the turn is cancelled")
    return Decision(option, why)


def _of_kind(request: Json, kind: str) -> str | None:
    for option in request.get("options", []):
        if option.get("kind") == kind:
            return str(option["optionId"])
    return None


def describe(request: Json) -> list[str]:
    """What is asked, exactly, as lines with nothing invisible in them."""
    action = request.get("action") or {}
    details = action.get("details") or {}
    if "command" in details:
        command = visible(_command(details["command"])).split("\n")
        lines = [f"$ {command[0]}", *(f"  {line}" for line in command[1:])]
        return [*lines, f"in {visible(str(details['cwd']))}"] if details.get("cwd") else lines
    if details.get("paths"):
        verb = action.get("type") or "use"
        return [f"{verb} {visible(str(named.get('path')))}" for named in details["paths"]]
    raw = details.get("rawInput")
    return [] if raw in (None, {}, "") else [visible(json.dumps(raw, ensure_ascii=False))]


def _command(command: object) -> str:
    if isinstance(command, list):
        return shlex.join(str(word) for word in command)
    return str(command)


def option_lines(request: Json) -> list[str]:
    """The options in the agent's order, numbered from 1."""
    return [
        f"{number}. {visible(str(option.get('name') or option['optionId']))}"
        for number, option in enumerate(request.get("options", []), 1)
    ]


def option_of_answer(request: Json, line: str) -> str | None:
    """The option a typed line names by number; None if it names none."""
    options = request.get("options", [])
    word = line.strip()
    if word.isascii() and word.isdigit() and 1 <= int(word) <= len(options):
        return str(options[int(word) - 1]["optionId"])
    return None


def outcome_text(request: Json, outcome: Json) -> str:
    """How a request was answered, for a person: the option's name."""
    if outcome.get("outcome") != "selected":
        return "cancelled"
    for option in request.get("options", []):
        if option["optionId"] == outcome.get("optionId"):
            return visible(str(option.get("name") or option["optionId"]))
    return visible(str(outcome.get("optionId")))
