"""What the tests of this face share: an environment of its own for each bridge, and a folder to work in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An environment in which the bridge finds no configuration and keeps its state below tmp_path."""
    return {
        **os.environ,
        "ACP_BRIDGE_STATE_DIR": str(tmp_path / "state"),
        "ACP_BRIDGE_CONFIG_DIR": str(tmp_path / "config"),
        "ACP_BRIDGE_DEMO_DELAY": "0",
    }


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty workspace folder."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder
