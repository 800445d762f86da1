"""`acp-bridge` looks at argv and imports only the face that is asked for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from acp_bridge import __version__


def run(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-X", "importtime", "-m", "acp_bridge", *words]
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, cwd=cwd, check=False
    )


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["lsp"],
        ["lsp", "--stdio"],
        ["--log-level", "debug", "lsp"],
        ["--log-level=debug", "lsp"],
        ["--config", "agents.json", "--log-level", "debug"],
    ],
)
def test_the_language_server_is_reached_without_the_terminal(words: list[str], tmp_path: Path) -> None:
    done = run(*words, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert done.stdout == ""
    assert "acp_bridge.faces.lsp.main" in done.stderr
    for module in ("typer", "rich", "acp_bridge.faces.terminal"):
        assert f" {module}\n" not in done.stderr


def test_the_version_imports_no_face(tmp_path: Path) -> None:
    done = run("--version", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"acp-bridge {__version__}\n")
    assert "acp_bridge.faces" not in done.stderr


def test_a_global_option_before_another_command(tmp_path: Path) -> None:
    done = run("--log-level", "error", "run", "demo", "plain", cwd=tmp_path)
    assert done.returncode == 0
    assert "only text" in done.stdout


def test_a_global_option_without_its_value(tmp_path: Path) -> None:
    done = run("--config", cwd=tmp_path)
    assert done.returncode == 2
    assert "--config" in done.stderr
