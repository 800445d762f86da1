"""Neovim without the plugin: `vim.lsp.config` alone does the whole job, by messages, code actions, a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from support.neovim import Neovim
from support.parts import bridge_command

pytestmark = pytest.mark.editor

NOTES = "# Notes\n\nhello wörld 😀\n"
LINE = "- The demo agent was here."
Picture = Callable[[Neovim, str], None]

DOCS = Path(__file__).resolve().parents[3] / "docs" / "neovim.md"


def init() -> str:
    """The configuration of docs/neovim.md, with this bridge and the demo agent."""
    example = DOCS.read_text().split("## Without the plugin")[1].split("```lua\n")[1].split("```")[0]
    changed = example.replace("'acp-bridge'", f"[[{bridge_command()}]]").replace("'opencode'", "'demo'")
    assert changed.count(bridge_command()) == 1 and changed.count("'demo'") == 1
    return f"vim.o.swapfile = false\n{changed}"


@pytest.fixture
def plain(start: Callable[..., Neovim], tmp_path: Path) -> Neovim:
    nvim = start(init())
    nvim.sees("hello")
    nvim.until(lambda: nvim.lua("return #vim.lsp.get_clients({ bufnr = 0 }) == 1"), "not attached")
    return nvim


def choose(nvim: Neovim, item: str) -> None:
    """Answer the list on the screen by the number of `item`."""
    nvim.sees(f": {item}")
    line = next(line for line in nvim.screen.lines() if line.endswith(f": {item}"))
    nvim.keys(f"{line.split(':')[0]}<CR>")


def thread(nvim: Neovim) -> str:
    """The text of the thread file, "" before it is opened."""
    files = [buffer for buffer in nvim.nvim.buffers if buffer.name.endswith(".acp.md")]
    return "\n".join(files[0][:]) if files else ""


def only_one_bridge(nvim: Neovim) -> None:
    assert nvim.lua("return #vim.lsp.get_clients()") == 1


def test_a_whole_turn_by_message(plain: Neovim, project: Path, picture: Picture) -> None:
    plain.keys("Gounsaved<Esc>:Ask add a line<CR>")
    plain.sees("demo-notes.md")
    choose(plain, "Allow")
    plain.until(lambda: "That was a whole turn" in thread(plain), "the turn does not end")
    plain.until(lambda: thread(plain).count("acp-bridge prompt") == 2, "no new prompt")
    picture(plain, "plain-lsp")
    only_one_bridge(plain)
    assert plain.buffer("demo-notes.md") == [*NOTES.splitlines(), "unsaved", LINE]
    assert (project / "demo-notes.md").read_text() == NOTES
    plain.keys(":buffer demo-notes.md<CR>u")
    plain.until(lambda: plain.buffer("demo-notes.md") == [*NOTES.splitlines(), "unsaved"], "not undone")


def test_only_a_code_action_decides(plain: Neovim, project: Path) -> None:
    plain.keys(":Ask add a line<CR>")
    choose(plain, "Decide later")
    plain.sees("still waiting for your permission")
    plain.keys("<CR>")
    plain.until(lambda: "Your permission is needed" in thread(plain), "the thread does not ask")
    assert plain.buffer("demo-notes.md") == NOTES.splitlines()
    plain.until(lambda: plain.nvim.current.buffer.name.endswith(".acp.md"), "the thread is not shown")
    plain.keys(":lua vim.lsp.buf.code_action()<CR>")
    choose(plain, "Allow: Edit demo-notes.md")
    plain.until(lambda: plain.buffer("demo-notes.md") == [*NOTES.splitlines(), LINE], "the edit is missing")
    plain.until(lambda: "That was a whole turn" in thread(plain), "the turn does not end")


def test_the_thread_file_is_a_chat(plain: Neovim) -> None:
    plain.keys(":Ask plain<CR>")
    plain.until(lambda: thread(plain).count("acp-bridge prompt") == 2, "no new prompt")
    assert "This answer is **only text**." in thread(plain)
    plain.keys("Gorefuse, please<Esc>:lua vim.lsp.buf.code_action()<CR>")
    choose(plain, "Send the prompt to the agent")
    plain.until(lambda: "The agent refused or failed." in thread(plain), "no second turn")
    only_one_bridge(plain)
