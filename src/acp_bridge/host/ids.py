"""Ids the bridge mints: unique across restarts and across bridges that share a state folder."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable
from datetime import UTC, datetime


def mint(prefix: str) -> str:
    """A new id such as `ses-3f2a…`."""
    return f"{prefix}-{uuid.uuid4().hex[:20]}"


def series(prefix: str) -> Callable[[], str]:
    """A function that mints ids under one unique stem; cheaper than `mint` and in order of making."""
    stem = f"{prefix}-{uuid.uuid4().hex[:12]}"
    numbers = itertools.count(1)
    return lambda: f"{stem}-{next(numbers)}"


def now() -> str:
    """The time as RFC 3339 with Z, in milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
