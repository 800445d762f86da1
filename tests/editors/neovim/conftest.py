"""A real Neovim beside the real bridge and its demo agent; nothing may be left running when it is gone."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.leftovers import mark, until_gone
from support.neovim import PLUGIN, Neovim
from support.parts import bridge_command, nvim_bin

pytestmark = pytest.mark.editor

NOTES = "# Notes\n\nhello wörld 😀\n"

PLUGIN_INIT = f"""
vim.o.swapfile = false
vim.opt.runtimepath:prepend([[{PLUGIN}]])
vim.cmd.runtime('plugin/acp_bridge.lua')
require('acp_bridge').setup({{
  cmd = {{ [[{bridge_command()}]], 'lsp' }},
  default_agent = 'demo',
}})
"""

Start = Callable[..., Neovim]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder that Neovim takes for a project, with the file the demo agent edits."""
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    (folder / "demo-notes.md").write_text(NOTES)
    return folder


@pytest.fixture
def start(project: Path, tmp_path: Path) -> Iterator[Start]:
    """Start a Neovim with this init (Lua) and these files; at the end all quit, and nothing is left.

    $ACP_BRIDGE_TEST_NVIM names another program than the one the tests install.
    """
    program = Path(os.environ.get("ACP_BRIDGE_TEST_NVIM") or nvim_bin())
    marker, environ = mark()
    environ["ACP_BRIDGE_CONFIG_DIR"] = str(tmp_path / "config")
    started: list[Neovim] = []

    def begin(init: str = PLUGIN_INIT, *files: str) -> Neovim:
        home = tmp_path / f"home{len(started)}"
        nvim = Neovim(program, project, home, init, environ, *(files or ("demo-notes.md",)))
        started.append(nvim)
        return nvim

    yield begin
    for nvim in started:
        nvim.close()
    asyncio.run(until_gone(marker))


@pytest.fixture
def nvim(start: Start) -> Neovim:
    """A Neovim with the plugin, the notes open."""
    editor = start()
    editor.sees("hello")
    return editor


@pytest.fixture
def chat(nvim: Neovim) -> Neovim:
    """The same with a chat open, the cursor in its prompt."""
    nvim.keys(":AcpBridgeChat<CR>")
    nvim.sees("Prompt")
    return nvim


@pytest.fixture
def picture(artifacts: Path) -> Callable[[Neovim, str], None]:
    """Keep the screen for people to look at: text, and a picture where there is a browser."""

    def take(nvim: Neovim, name: str) -> None:
        (artifacts / f"neovim-{name}.txt").write_text(nvim.screen.text() + "\n")
        page = artifacts / f"neovim-{name}.html"
        page.write_text(nvim.screen.as_html())
        browser = shutil.which("chromium")
        if browser is None:
            return
        picture = artifacts / f"neovim-{name}.png"
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        options += ["--window-size=1120,740", f"--screenshot={picture}"]
        done = subprocess.run([browser, *options, page.as_uri()], capture_output=True, timeout=60)
        assert done.returncode == 0, done.stderr.decode()

    return take
