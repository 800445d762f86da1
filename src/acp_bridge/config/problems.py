"""`Problem`: one thing that is wrong in the configuration, told so that a person can find and mend it.

Loading never fails: what cannot be used is skipped and reported here. No value of a file is ever quoted,
because any of them may be a secret.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from pydantic_core import ErrorDetails


@dataclass(frozen=True, slots=True)
class Problem:
    """`file` is a path or the name of an editor setting; `entry` an agent id or `agents[2]`; `field` a path
    such as `env.PORT`. Each is empty where there is none. An "error" makes something unusable, a "warning"
    does not."""

    file: str
    entry: str
    field: str
    message: str
    hint: str = ""
    severity: Literal["error", "warning"] = "error"

    def __str__(self) -> str:
        where = [self.file]
        if self.entry:
            where.append(f"agent {self.entry!r}" if not self.entry.startswith("agents[") else self.entry)
        if self.field:
            where.append(self.field)
        return ": ".join([*where, self.message]) + (f" ({self.hint})" if self.hint else "")


_KINDS = {
    "string_type": "a string",
    "string_sub_type": "a string",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}


def json_kind(value: object) -> str:
    """What a JSON value is, for a person: "a number", "null", …"""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "an object" if isinstance(value, dict) else "a list"


def field_path(loc: Iterable[int | str]) -> str:
    """A pydantic error location as a path: `available_models[0].id`."""
    path = ""
    for part in loc:
        path += f"[{part}]" if isinstance(part, int) else f".{part}"
    return path.removeprefix(".")


def explain(error: ErrorDetails) -> tuple[str, str]:
    """(message, hint) of a pydantic error, without the value itself."""
    kind = error["type"]
    given: Any = error["input"]
    if kind == "missing":
        return "is missing", _how_to_add(str(error["loc"][-1]), given)
    if kind == "literal_error":
        return f"must be one of {error['ctx']['expected']}", ""
    if wanted := _KINDS.get(kind):
        return f"must be {wanted}, not {json_kind(given)}", _how_to_write(wanted, given)
    return error["msg"], ""


def _how_to_add(field: str, given: Any) -> str:
    """The name next to it may be a typing mistake: names are no secrets, only values are."""
    names = [name for name in given if isinstance(name, str)] if isinstance(given, dict) else []
    near = difflib.get_close_matches(field, names, n=1)
    return f'is "{near[0]}" meant to be "{field}"?' if near else f'add "{field}"'


def _how_to_write(wanted: str, given: Any) -> str:
    if wanted == "a string" and isinstance(given, int | float):
        return "write it in quotes"
    return 'write it in brackets: ["…"]' if wanted == "a list" and isinstance(given, str) else ""
