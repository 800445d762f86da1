"""Requests that wait for the user: each is answered exactly once, by the first who answers.

Guarantees
- The agent gets exactly the option that was chosen; nothing is ever chosen by itself.
- A cancelled turn answers every request of its session with `cancelled`; a dead agent's requests are closed.
- A second answer is told what the first one was.
"""

from __future__ import annotations

import os
import shlex
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from acp_bridge.agents.events import PermissionRequest
from acp_bridge.host.content import file_ref
from acp_bridge.host.errors import HostError
from acp_bridge.host.ids import mint
from acp_bridge.host.thread import Entry
from acp_bridge.host.visible import one_line, visible, visible_json

if TYPE_CHECKING:
    from acp_bridge.host.session import Session

Json = dict[str, Any]
CANCELLED: Json = {"outcome": "cancelled"}
KEPT_ANSWERS = 1000

ACTION_OF_KIND = {
    "execute": "shell",
    "edit": "edit",
    "read": "read",
    "search": "read",
    "delete": "delete",
    "move": "move",
    "fetch": "fetch",
    "switch_mode": "mode",
}

PATH_ARGUMENTS = (
    "file_path",
    "filePath",
    "path",
    "abs_path",
    "absolute_path",
    "notebook_path",
    "source",
    "destination",
)
"""What tools call the argument that is a path."""


@dataclass(slots=True)
class Pending:
    """A request that waits. `settle(outcome, by)` tells whoever asked."""

    request: Json
    session: Session
    entry: Entry
    settle: Callable[[Json, str], None]

    @property
    def id(self) -> str:
        return str(self.request["requestId"])


class Permissions:
    """All permission requests of one host."""

    def __init__(self) -> None:
        self._pending: dict[str, Pending] = {}
        self._answered: OrderedDict[str, tuple[Json, str]] = OrderedDict()

    def of(self, session: Session) -> list[Pending]:
        """What waits in one session, oldest first."""
        return [pending for pending in self._pending.values() if pending.session is session]

    def add(self, pending: Pending) -> None:
        self._pending[pending.id] = pending

    def resolve(self, request_id: str, outcome: Json, by: str) -> bool:
        """Settle a request; False if it is not pending any more."""
        pending = self._pending.pop(request_id, None)
        if pending is None:
            return False
        self._answered[request_id] = (outcome, by)
        if len(self._answered) > KEPT_ANSWERS:
            self._answered.popitem(last=False)
        pending.settle(outcome, by)
        pending.session.permission_resolved(pending, outcome, by)
        return True

    def resolve_all(self, session: Session, by: str) -> None:
        """Answer everything of a session with `cancelled`."""
        for pending in self.of(session):
            self.resolve(pending.id, CANCELLED, by)

    def answer(self, request_id: str, option_id: str | None, remember: str | None) -> Json:
        """`acp/permission/answer`; raises HostError unknownRequest, badParam, unsupported."""
        pending = self._pending.get(request_id)
        if pending is None:
            return self._late_answer(request_id)
        if remember is not None:
            hint = "answer without `remember`; the request offers no scopes in `rememberScopes`"
            raise HostError("unsupported", f"cannot remember for {remember!r}", hint, param="remember")
        if option_id is None:
            session = pending.session
            session.cancel(reason="The user cancelled a permission request")
            self.resolve_all(session, "cancel")
            return {"accepted": True, "outcome": CANCELLED, "by": "cancel"}
        known = [option["optionId"] for option in pending.request["options"]]
        if option_id not in known:
            hint = f"choose one of {', '.join(map(repr, known))}, or null to cancel the turn"
            raise HostError("badParam", f"unknown option {option_id!r}", hint, param="optionId")
        outcome = {"outcome": "selected", "optionId": option_id}
        self.resolve(request_id, outcome, "user")
        return {"accepted": True, "outcome": outcome, "by": "user"}

    def _late_answer(self, request_id: str) -> Json:
        answered = self._answered.get(request_id)
        if answered is None:
            hint = "the request may have ended with its turn; see `pending` of the session"
            raise HostError("unknownRequest", f"unknown permission request {request_id!r}", hint)
        outcome, by = answered
        return {"accepted": False, "outcome": outcome, "by": by}


def request_of_agent(event: PermissionRequest, session: Session, entry: Entry) -> Json:
    """The `acp/permission/requested` request for an agent's question; what is shown is made visible."""
    action = action_of(event, session, entry)
    title = event.title or entry.fields.get("title") or action["type"]
    request: Json = {
        "requestId": mint("req"),
        "sessionId": session.id,
        "entryId": entry.id,
        "title": one_line(title, 400),
        "action": action,
        "options": [_option(option) for option in event.options],
        "rememberScopes": [],
        "outsideRoots": _leaves_roots(event, session, entry),
    }
    if event.tool_call is not None:
        request["toolCallId"] = event.tool_call.id
    return request


def _option(option: Json) -> Json:
    shown: Json = {
        "optionId": option["optionId"],
        "name": one_line(str(option.get("name") or option["optionId"])),
    }
    if option.get("kind") is not None:
        shown["kind"] = option["kind"]
    return shown


def action_of(event: PermissionRequest, session: Session, entry: Entry) -> Json:
    """`action {type, details}`: a command line, the files concerned, or the raw input."""
    fields = entry.fields
    raw = fields.get("rawInput")
    kind = ACTION_OF_KIND.get(str(fields.get("toolKind")), "other")
    command = _command_of(event, entry)
    if kind == "shell" or command is not None:
        text = (command or {}).get("command") or fields.get("title") or ""
        cwd = (command or {}).get("cwd") or session.cwd
        return {"type": "shell", "details": {"command": visible(str(text)), "cwd": visible(str(cwd))}}
    paths = paths_of(entry)
    if kind in ("edit", "read", "delete", "move") and paths:
        details: Json = {"paths": [file_ref(path) | {"path": visible(path)} for path in paths]}
        diff = next((item for item in fields.get("content", []) if item["type"] == "diff"), None)
        if diff is not None:
            details |= {key: visible_json(diff[key]) for key in ("oldText", "newText")}
        return {"type": kind, "details": details}
    return {"type": kind, "details": {"rawInput": visible_json(raw)}}


def _command_of(event: PermissionRequest, entry: Entry) -> Json | None:
    """`{command, cwd}` of a tool call that runs one, whatever kind it says it is. A `command` beside a path
    is the word of a file tool (view, create, …)."""
    if event.command is not None:
        return event.command
    raw = entry.fields.get("rawInput")
    kind = ACTION_OF_KIND.get(str(entry.fields.get("toolKind")), "other")
    if kind not in ("shell", "other") and (not isinstance(raw, dict) or _raw_paths(raw)):
        return None
    return _command(raw)


def _command(raw: Any) -> Json | None:
    if not isinstance(raw, dict):
        return None
    command, arguments = raw.get("command", raw.get("cmd")), raw.get("args")
    if isinstance(command, str) and command and isinstance(arguments, list):
        command = " ".join([command, *(shlex.quote(str(part)) for part in arguments)])
    if isinstance(command, list) and command:
        command = shlex.join(str(part) for part in command)
    if not isinstance(command, str) or not command:
        return None
    return {"command": command, "cwd": raw.get("cwd") or raw.get("workdir") or raw.get("directory")}


def _leaves_roots(event: PermissionRequest, session: Session, entry: Entry) -> bool:
    """Whether anything the request names, as far as it says so, lies outside the session's folders."""
    named = [*_diffs(entry), *_located(entry), *_raw_paths(entry.fields.get("rawInput"))]
    cwd = (_command_of(event, entry) or {}).get("cwd")
    if cwd:
        named.append(str(cwd))
    return any(not session.roots.contains(os.path.expanduser(path)) for path in named)


def paths_of(entry: Entry) -> list[str]:
    """The files a tool entry names: its diffs first, else its locations, else its arguments; each once."""
    found = _diffs(entry) or _located(entry) or _raw_paths(entry.fields.get("rawInput"))
    return list(dict.fromkeys(found))


def _diffs(entry: Entry) -> list[str]:
    items = entry.fields.get("content", [])
    return [item["path"] for item in items if item.get("type") == "diff" and "path" in item]


def _located(entry: Entry) -> list[str]:
    return [location["path"] for location in entry.fields.get("locations", [])]


def _raw_paths(raw: Any) -> list[str]:
    if not isinstance(raw, dict):
        return []
    return [raw[key] for key in PATH_ARGUMENTS if isinstance(raw.get(key), str) and raw[key]]
