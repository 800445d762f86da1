"""One configuration file: from a path to entries, telling the formats apart by what stands in the file."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

from acp_bridge.config import acp_json, agents_json
from acp_bridge.config.entries import Entries, Place
from acp_bridge.config.jsonc import JsonError, decode
from acp_bridge.config.paths import ACP_JSON
from acp_bridge.config.problems import Problem, json_kind

_SHAPES = 'write [{"id": …, "cmd": […]}], {"agents": [...]} or {"agent_servers": {"name": {"command": …}}}'

LIMIT = 16 * 1024 * 1024
"""Bytes of the largest configuration file."""


def read_file(path: Path, place: Place, *, required: bool = False) -> Entries:
    """The entries of the file at `path`. That it is not there is a problem only if it is `required`."""
    content, problems = _content(path, place.file, required)
    if content is None:
        return Entries({}, problems)
    return read_entries(content, place)


def read_entries(content: bytes, place: Place) -> Entries:
    """The entries of a file's `content`: agents.json in either form, acp.json, or Zed's settings."""
    try:
        decoded = decode(content)
    except JsonError as error:
        return Entries({}, [_no_json(place.file, error)])
    found = _by_shape(decoded.value, place)
    for key in decoded.repeated:
        entry, field = (key, "") if key in found.servers else ("", key)
        message, hint = "stands twice in one object; the first counts", "remove one of the two"
        found.problems.append(Problem(place.file, entry, field, message, hint))
    return found


def read_json(path: Path) -> tuple[Any, list[Problem]]:
    """The value in an optional file, None where there is none or it is unusable."""
    content, problems = _content(path, str(path), False)
    if content is None:
        return None, problems
    try:
        return decode(content).value, []
    except JsonError as error:
        return None, [_no_json(str(path), error)]


def _by_shape(value: Any, place: Place) -> Entries:
    if isinstance(value, list):
        return agents_json.read(value, place)
    if not isinstance(value, dict):
        return _wrong(place, f"must hold a list or an object, not {json_kind(value)}")
    if "agent_servers" in value:
        return acp_json.read(value["agent_servers"], place)
    if "agents" in value:
        return agents_json.read(value["agents"], place)
    if Path(place.file).name == ACP_JSON:
        return Entries()
    return _wrong(place, "has neither agents nor agent_servers")


def _wrong(place: Place, message: str) -> Entries:
    return Entries({}, [Problem(place.file, "", "", message, _SHAPES)])


def _content(path: Path, name: str, required: bool) -> tuple[bytes | None, list[Problem]]:
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            return None, [Problem(name, "", "", "is a folder, not a file", "put a JSON file there")]
        if not stat.S_ISREG(mode) and not required:  # reading a pipe that nobody writes would never end
            return None, [Problem(name, "", "", "is no regular file", "put a JSON file there")]
        with path.open("rb") as file:
            content = file.read(LIMIT + 1)
        if len(content) > LIMIT:
            why = f"is larger than {LIMIT >> 20} MiB"
            return None, [Problem(name, "", "", why, "put a JSON file there")]
        return content, []
    except FileNotFoundError:
        missing = Problem(name, "", "", "does not exist", "check the path given to --config")
        return None, [missing] if required else []
    except (OSError, ValueError) as error:
        why = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
        hint = "check that you may read it"
        return None, [Problem(name, "", "", f"cannot be read: {why}", hint)]


def _no_json(name: str, error: JsonError) -> Problem:
    return Problem(name, "", "", f"is no JSON: {error}", "mend it there; the whole file is skipped")
