"""The VS Code extension in a real VS Code, in a real browser, with mouse and keyboard."""

from __future__ import annotations

from pathlib import Path

import pytest

from editors.vscode import code_server
from support import parts
from support.model_server import ModelServer

pytestmark = pytest.mark.editor
LIGHT = {"workbench.colorTheme": "Default Light Modern"}


def test_a_whole_turn(tmp_path: Path, artifacts: Path) -> None:
    settings = {"acpBridge.command": parts.bridge_command()}
    with code_server.running(tmp_path, artifacts, settings) as server:
        (server.workspace / "demo-notes.md").write_text("# Notes\n")
        server.drive("whole_turn")
        text = (server.workspace / "demo-notes.md").read_text()
    assert text == "# Notes\ntyped and not saved\n- The demo agent was here.\n"


def test_a_conversation(tmp_path: Path, artifacts: Path) -> None:
    settings = {"acpBridge.command": parts.bridge_command()}
    with code_server.running(tmp_path, artifacts, settings, LIGHT) as server:
        (server.workspace / "a.txt").write_text("a\n")
        server.drive("conversation")


def test_trouble(tmp_path: Path, artifacts: Path) -> None:
    with code_server.running(tmp_path, artifacts, {"acpBridge.command": "no-such-bridge"}) as server:
        (server.workspace / "a.txt").write_text("a\n")
        server.drive(
            "trouble",
            MACHINE_SETTINGS=str(server.machine_settings),
            COMMAND=parts.bridge_command(),
            HOME_OF_ALL=str(server.root),
        )


def test_a_real_agent(tmp_path: Path, artifacts: Path, model_server: ModelServer) -> None:
    agent = parts.real_agent("opencode", model_server.url, tmp_path / "agent-home")
    entry = {"command": agent.command[0], "args": agent.command[1:], "env": agent.env}
    settings = {
        "acpBridge.command": parts.bridge_command(),
        "acpBridge.agentServers": {"OpenCode, scripted": entry},
    }
    with code_server.running(tmp_path, artifacts, settings, LIGHT) as server:
        (server.workspace / "README.md").write_text("# Title\n\nhello world\n")
        server.drive("real_agent", AGENT="OpenCode, scripted")
        text = (server.workspace / "README.md").read_text()
    assert text == "# Title\n\ngoodbye world\n"
