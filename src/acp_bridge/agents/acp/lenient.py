"""Read JSON that may be wrong: a bad optional field is as if it were absent, a bad list item is left out.

That is what ACP asks of a client (schema flags x-deserialize-default-on-error and -skip-invalid-items): a
strict parser would lose the message. In v1 null means "not said", so both give UNSET.
"""

from __future__ import annotations

import ntpath
import posixpath
from collections.abc import Callable, Iterable
from typing import Any

from msgspec import UNSET, UnsetType

from acp_bridge.agents.events import Json


def text(source: Json, key: str) -> str | UnsetType:
    """The string at `key`."""
    value = source.get(key)
    return value if isinstance(value, str) else UNSET


def text_or_none(source: Json, key: str) -> str | None:
    """The string at `key`, None for anything else."""
    value = source.get(key)
    return value if isinstance(value, str) else None


def clearable(source: Json, key: str) -> str | UnsetType | None:
    """A three-state string: absent or bad keeps (UNSET), null clears (None)."""
    if key not in source:
        return UNSET
    value = source[key]
    return value if value is None or isinstance(value, str) else UNSET


def given(source: Json, key: str) -> Any:
    """Any value at `key`; null counts as absent."""
    value = source.get(key)
    return UNSET if value is None else value


def number(source: Json, key: str) -> int | None:
    """The whole number >= 0 at `key` (a float without a fraction counts), None for anything else."""
    value = source.get(key)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and value >= 0 else None


def objects(source: Json, key: str) -> list[Json] | UnsetType:
    """The objects in the list at `key`; other items are dropped singly."""
    value = source.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else UNSET


def strings_in(source: Json, key: str) -> list[str]:
    """The strings in the list at `key`; other items are dropped singly."""
    value = source.get(key)
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def obj(source: Json, key: str) -> Json:
    """The object at `key`, {} for anything else."""
    value = source.get(key)
    return value if isinstance(value, dict) else {}


def kept(items: Iterable[Json], check: Callable[[Json], Json | None]) -> list[Json]:
    """Every item as `check` returns it; None drops it."""
    return [good for item in items if (good := check(item)) is not None]


def strings(source: Json, *keys: str) -> bool:
    """Whether all `keys` hold strings."""
    return all(isinstance(source.get(key), str) for key in keys)


def is_absolute(path: str) -> bool:
    """Whether `path` is absolute on POSIX or, with its drive, on Windows."""
    return posixpath.isabs(path) or bool(ntpath.splitdrive(path)[0] and ntpath.isabs(path))
