"""A configuration in temporary folders: nothing of the machine's own is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acp_bridge.config.load import Configuration, load


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def user_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "user config"
    folder.mkdir()
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".acp-bridge").mkdir(parents=True)
    return folder


@pytest.fixture
def loaded(user_dir: Path, home: Path) -> Callable[..., Configuration]:
    def call(**arguments: Any) -> Configuration:
        return load(**{"user_dir": user_dir, "environ": {"HOME": str(home)}} | arguments)

    return call


@pytest.fixture
def write() -> Callable[[Path, Any], Path]:
    """Writes text as it is, everything else as JSON."""

    def put(path: Path, content: Any) -> Path:
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    return put
