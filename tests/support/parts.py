"""Where the real programs of the tests lie; a test whose part is not installed is skipped with what to run.

Under CI=true such a skip is a failure (see conftest.py).
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from tools.parts import EXTENSION, PARTS

from support.real_agents import RealAgent, settle


def _part(name: str) -> Path:
    part = PARTS[name]
    if not part.installed():
        pytest.skip(f"{name} {part.version} is not installed: python3.11 tools/test.py --install")
    return part.path


def bridge_command() -> str:
    """The `acp-bridge` command of the environment the tests run in."""
    return str(Path(sys.executable).with_name("acp-bridge"))


def node24() -> Path:
    """The Node 24 program itself, not a launcher: ending it ends it."""
    return _part("node24")


def node_environ() -> dict[str, str]:
    """This environment with Node 24 first on PATH."""
    return {**os.environ, "PATH": f"{node24().parent}{os.pathsep}{os.environ['PATH']}"}


def nvim_bin() -> Path:
    """Neovim's program, its runtime beside it."""
    return _part("neovim")


def code_server() -> list[str]:
    """The command of VS Code served to a browser."""
    return [str(node24()), str(_part("code-server"))]


def playwright() -> Path:
    """The folder of the playwright-core package."""
    return _part("playwright")


def chromium() -> str:
    """The browser's program."""
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("chromium is not installed: as root, python3.11 tools/test.py --install")
    return found


def extension() -> Path:
    """The packaged VS Code extension."""
    package = EXTENSION / "dist" / "acp-bridge.vsix"
    if not package.exists():
        pytest.skip("the VS Code extension is not packaged: python3.11 tools/test.py --only extension")
    return package


def acp_sdk() -> Path:
    """The folder of the official TypeScript SDK package: it holds the ACP schema and is a test peer."""
    return _part("acp-sdk")


def real_agent(name: str, url: str, home: Path) -> RealAgent:
    """A real agent (opencode, claude-agent-acp, codex-acp, gemini) pointed at the model server `url`, with
    `home` as its home folder."""
    node24()
    _part(name)
    return settle(name, url, home)
