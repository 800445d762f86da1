"""What the launch tests share: a mark for every process of a test, and agents as Python programs."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from acp_bridge.launch.spec import LaunchSpec
from support.processes import MARK, end_marked


@pytest.fixture
def mark() -> Iterator[str]:
    """A value for MARK; whatever still carries it at the end of the test is killed."""
    value = uuid.uuid4().hex
    yield value
    end_marked(value)


@pytest.fixture
def environ(mark: str) -> dict[str, str]:
    """An inherited environment that marks."""
    return {**os.environ, MARK: mark}


@pytest.fixture
def python(tmp_path: Path) -> Callable[..., LaunchSpec]:
    """A spec that runs a piece of Python."""

    def make(code: str, *argv: str, **fields: object) -> LaunchSpec:
        return LaunchSpec((sys.executable, "-c", code, *argv), str(tmp_path), **fields)  # type: ignore[arg-type]

    return make


@pytest.fixture
def shell(tmp_path: Path) -> Callable[..., LaunchSpec]:
    """A spec that runs a piece of shell."""

    def make(code: str, **fields: object) -> LaunchSpec:
        return LaunchSpec(("sh", "-c", code), str(tmp_path), **fields)  # type: ignore[arg-type]

    return make
