"""acp.json and Zed-style `agent_servers`: a map from name to command. The name is id and display name.

Sources: the Koog guide's and JetBrains' acp.json (`command`, `args`, `env`); Zed's settings (`type` "custom",
`default_mode`, `default_model`, `default_config_options`). Every other field of an `AgentServer` may stand in
an entry too; fields that other clients use are kept and ignored.
"""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from acp_bridge.config.entries import Entries, Loc, Place, build, without_nulls
from acp_bridge.config.problems import Problem, explain, field_path, json_kind
from acp_bridge.config.server import AgentServer

_OURS: Final = {"id", "name", "display_name", "cmd", "type"}


class _Command(BaseModel):
    """The fields of an entry that an AgentServer spells otherwise."""

    model_config = ConfigDict(extra="ignore")

    command: str
    args: list[str] = Field(default_factory=list)


def read(agent_servers: Any, place: Place, field: str = "agent_servers") -> Entries:
    """The entries of the map; a bad one, and one of a type that this version does not know, is reported and
    skipped. `field` is the map's name in messages."""
    if not isinstance(agent_servers, dict):
        hint = 'write {"My agent": {"command": "…", "args": […]}}'
        problem = Problem(place.file, "", field, f"must be an object, not {json_kind(agent_servers)}", hint)
        return Entries({}, [problem])
    found = Entries()
    for name, raw in agent_servers.items():
        if _foreign(raw):
            found.problems.append(_skipped(name, place))
            continue
        found.servers[name], problems = _entry(name, raw, place)
        found.problems += problems
    return found


def _foreign(raw: Any) -> bool:
    return isinstance(raw, dict) and raw.get("type") not in (None, "custom")


def _skipped(name: str, place: Place) -> Problem:
    message = 'is not "custom", the only type that this version starts; the entry is skipped'
    hint = 'give the agent\'s command and args, with type "custom" or none'
    return Problem(place.file, name, "type", message, hint, "warning")


def _entry(name: str, raw: Any, place: Place) -> tuple[AgentServer | None, list[Problem]]:
    if not isinstance(raw, dict):
        return None, [Problem(place.file, name, "", f"must be an object, not {json_kind(raw)}")]
    try:
        command = _Command.model_validate(without_nulls(raw))
    except ValidationError as error:
        return None, [
            Problem(place.file, name, field_path(each["loc"]), *explain(each))
            for each in error.errors(include_url=False)
        ]
    rest = {key: value for key, value in raw.items() if key not in {*_OURS, *_Command.model_fields}}
    record = {**rest, "id": name, "name": name, "display_name": name, "cmd": [command.command, *command.args]}
    return build(record, name, place, _as_written)


def _as_written(loc: Loc) -> Loc:
    match loc:
        case ("cmd",) | ("cmd", 0):
            return ("command",)
        case ("cmd", int(index), *_):
            return ("args", index - 1)
    return loc
