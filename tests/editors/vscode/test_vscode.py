"""The VS Code extension in a real VS Code, in a real browser, with mouse and keyboard."""

from __future__ import annotations

import json
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


def test_a_folder_that_is_not_trusted(tmp_path: Path, artifacts: Path) -> None:
    """Neither its agents nor its settings start anything, and settings never do, trusted or not."""
    started = tmp_path / "started"
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {started}\n")
    trap.chmod(0o755)
    settings = {"acpBridge.command": parts.bridge_command()}
    with code_server.running(tmp_path, artifacts, settings, trusted=False) as server:
        files = {
            ".vscode/settings.json": {"acpBridge.command": str(trap), "acpBridge.args": ["--evil"]},
            ".acp-bridge/acp.json": {"agent_servers": {"Agent of the folder": {"command": str(trap)}}},
        }
        for name, content in files.items():
            (server.workspace / name).parent.mkdir()
            (server.workspace / name).write_text(json.dumps(content))
        server.drive("restricted")
    assert not started.exists()
