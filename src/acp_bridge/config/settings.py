"""`Settings`: what the user chose, apart from the agents; and how it is put together from several places."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from acp_bridge.config.problems import Problem, explain, json_kind


class Settings(BaseModel):
    """camelCase in files and editor settings; an absent or null value is the default."""

    model_config = ConfigDict(
        alias_generator=to_camel, frozen=True, extra="forbid", validate_by_name=True, strict=True
    )

    default_agent: str = ""
    """The agent's id where none is named; empty = the only available one."""

    thread_stream: Literal["live", "end"] = "live"
    """How an answer reaches a thread file: while it comes, or in one edit at the end of the turn."""

    thread_folder: str = ""
    """Where thread files are put: absolute, below `~`, or below the workspace folder; empty = the state
    folder."""


_NAMES: Final = {to_camel(name): name for name in Settings.model_fields}


def merge(layers: list[tuple[str, Any]]) -> tuple[Settings, list[Problem]]:
    """Settings from `(place, value)` layers, lowest first: each key from the highest layer that sets it well.
    Unknown keys are warnings, bad values errors; neither disturbs the others. An empty string sets nothing,
    because editors send one for a setting that was never touched."""
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for place, raw in layers:
        if raw is None:
            continue
        if not isinstance(raw, Mapping):
            problems.append(Problem(place, "", "", f"must be an object, not {json_kind(raw)}"))
            continue
        for key, value in raw.items():
            if problem := _problem(place, key, value):
                problems.append(problem)
            elif value not in (None, ""):
                values[key] = value
    return Settings.model_validate(values), problems


def _problem(place: str, key: str, value: Any) -> Problem | None:
    if key not in _NAMES:
        near = difflib.get_close_matches(key, _NAMES, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(_NAMES)}"
        return Problem(place, "", key, "is no setting; it is ignored", hint, "warning")
    if value in (None, ""):
        return None
    try:
        Settings.model_validate({key: value})
    except ValidationError as error:
        return Problem(place, "", key, *explain(error.errors(include_url=False)[0]))
    return None
