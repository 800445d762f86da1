"""From one raw entry to an `AgentServer`, or to the problems that stand in the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import ValidationError

from acp_bridge.config.checks import check_entry
from acp_bridge.config.paths import expand_home
from acp_bridge.config.problems import Problem, explain, field_path
from acp_bridge.config.server import AgentServer, Source

Loc = tuple[int | str, ...]

_FREE: Final = {"env", "protocol_config", "default_config_options"}
_UNIONS: Final[list[tuple[Loc, int, str]]] = [
    (("default_config_options",), 2, "a string, or true or false"),
    (("model_config", "dynamic_models_cmd"), 2, "a string or a list of strings"),
]


@dataclass(slots=True)
class Place:
    """Where entries stand: the layer, and the file (or editor setting) named in messages. `environ` gives
    the home folder that `~` means."""

    source: Source
    file: str
    environ: Mapping[str, str]


@dataclass(slots=True)
class Entries:
    """What one file holds, in its order. The value is None for an entry that cannot be used: its id is taken
    all the same, so that a lower place's agent never starts under a name the user gave to another."""

    servers: dict[str, AgentServer | None] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def build(
    raw: Mapping[str, Any], entry: str, place: Place, as_written: Callable[[Loc], Loc] = lambda loc: loc
) -> tuple[AgentServer | None, list[Problem]]:
    """The record of one entry, or None and why. `as_written` turns a record field into the file's own."""

    def problem(loc: Loc, message: str, hint: str = "") -> Problem:
        return Problem(place.file, entry, field_path(as_written(loc)), message, hint)

    values = {**without_nulls(raw), "source": place.source, "file": place.file}
    try:
        server = AgentServer.model_validate(values)
    except ValidationError as error:
        return None, [problem(loc, *why) for loc, why in _reasons(error).items()]
    if server.cmd and not server.image:
        command = expand_home(server.cmd[0], place.environ)
        server = server.model_copy(update={"cmd": [command, *server.cmd[1:]]})
    findings = check_entry(server)
    if findings:
        return None, [problem(each.loc, each.message, each.hint) for each in findings]
    return server, []


def without_nulls(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The entry with null fields left out at every level where fields have names: a program written in Go
    writes null for an empty list."""
    return {
        key: without_nulls(value) if isinstance(value, dict) and key not in _FREE else value
        for key, value in raw.items()
        if value is not None
    }


def _reasons(error: ValidationError) -> dict[Loc, tuple[str, str]]:
    """(message, hint) by field. pydantic reports a field of several types once a type, below the field, and
    names the type as if it were a field; that becomes one reason."""
    reasons: dict[Loc, tuple[str, str]] = {}
    for each in error.errors(include_url=False):
        loc, why = each["loc"], explain(each)
        for prefix, size, forms in _UNIONS:
            if loc[: len(prefix)] == prefix and len(loc) > size:
                loc, why = loc[:size], (f"must be {forms}", "")
        reasons.setdefault(loc, why)
    return reasons
