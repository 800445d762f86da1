"""Start and end: what is missing is named, nothing is left running, a dead bridge is told."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from support.leftovers import MARKER, marked, until_gone
from support.neovim import PLUGIN, Neovim
from support.parts import bridge_command

pytestmark = pytest.mark.editor


def marker_of(nvim: Neovim) -> str:
    return str(nvim.lua("return vim.env[...]", MARKER))


def bridges(nvim: Neovim) -> list[int]:
    """The processes the editor started as language servers."""
    return [
        pid
        for pid, command in marked(marker_of(nvim)).items()
        if "acp-bridge" in command and "lsp" in command
    ]


def test_quitting_in_mid_turn_leaves_nothing(chat: Neovim) -> None:
    marker = marker_of(chat)
    chat.keys("islow<C-s>")
    chat.sees("still talking")
    assert bridges(chat)
    assert chat.close() == 0
    asyncio.run(until_gone(marker))


def test_killing_neovim_leaves_nothing(chat: Neovim) -> None:
    marker = marker_of(chat)
    chat.keys("islow<C-s>")
    chat.sees("still talking")
    chat.process.send_signal(signal.SIGKILL)
    chat.process.wait(15)
    asyncio.run(until_gone(marker))


def test_a_dead_bridge_is_told_and_a_new_chat_works(chat: Neovim) -> None:
    chat.keys("islow<C-s>")
    chat.sees("still talking")
    for pid in bridges(chat):
        os.kill(pid, signal.SIGKILL)
    chat.sees("the bridge has ended")
    chat.sees("start a new chat: :AcpBridgeNew")
    chat.keys("<CR>iplain<C-s>")
    chat.sees("the bridge of this chat has ended")
    chat.keys("<CR>:AcpBridgeNew demo<CR>")
    chat.until(lambda: any("acp-bridge://2/demo" in line for line in chat.screen.lines()), "no second chat")
    chat.keys("iplain<C-s>")
    chat.sees("Hello from the demo agent.")


def test_a_missing_program_is_named(start: Callable[..., Neovim]) -> None:
    nvim = start(
        f"vim.opt.runtimepath:prepend([[{PLUGIN}]])\nvim.cmd.runtime('plugin/acp_bridge.lua')\n"
        "require('acp_bridge').setup({ cmd = { 'no-such-bridge', 'lsp' }, enable = false })"
    )
    nvim.keys(":AcpBridgeChat<CR>")
    nvim.sees("the program no-such-bridge is not found")
    nvim.sees("pipx install . in a checkout")


def test_an_unknown_agent_is_named_with_those_there_are(chat: Neovim) -> None:
    chat.keys(":AcpBridgeNew nobody<CR>")
    chat.sees("no chat was started: ")
    chat.sees("nobody")
    chat.sees("Try: ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("{ comand = {} }", "no option comand; there are agent_servers, chat, cmd"),
        ("{ cmd = 'acp-bridge' }", "acp_bridge option cmd: expected table, got string"),
        ("{ chat = { position = 'middle' } }", "chat.position must be right, left, top, bottom or tab"),
        ("{ chat = { widht = 3 } }", "no option chat.widht; there are position, prompt_height, size"),
    ],
)
def test_a_wrong_option_is_named(nvim: Neovim, options: str, message: str) -> None:
    told = nvim.lua(f"return {{ pcall(require('acp_bridge').setup, {options}) }}")
    assert told[0] is False
    assert message in told[1]


def test_without_setup_the_first_command_starts_the_bridge(start: Callable[..., Neovim]) -> None:
    nvim = start(
        f"vim.o.swapfile = false\nvim.opt.runtimepath:prepend([[{PLUGIN}]])\n"
        "vim.cmd.runtime('plugin/acp_bridge.lua')\n"
        f"vim.env.PATH = [[{Path(bridge_command()).parent}]] .. ':' .. vim.env.PATH"
    )
    nvim.keys("Goseen without a file type<Esc>:set ft=<CR>")
    nvim.keys(":AcpBridgeNew demo<CR>")
    nvim.sees("Prompt")
    nvim.keys("iadd a line<C-s>")
    nvim.sees("asks: Edit demo-notes.md")
    nvim.sees("│ seen without a file type")
    nvim.keys("3<CR>")


def test_the_agent_is_asked_for_where_none_is_set(start: Callable[..., Neovim]) -> None:
    nvim = start(
        f"vim.opt.runtimepath:prepend([[{PLUGIN}]])\nvim.cmd.runtime('plugin/acp_bridge.lua')\n"
        f"require('acp_bridge').setup({{ cmd = {{ [[{bridge_command()}]], 'lsp' }} }})"
    )
    nvim.keys(":AcpBridgeChat<CR>")
    nvim.sees("Agent of the new chat")
    nvim.sees("Demo  (demo)")
    lines = nvim.screen.lines()
    number = next(line.split(":")[0] for line in lines if line.endswith("Demo  (demo)"))
    nvim.keys(f"{number}<CR>")
    nvim.sees("Prompt")


def test_the_health_check_names_program_and_agents(chat: Neovim) -> None:
    chat.keys(":checkhealth acp_bridge<CR>")
    chat.sees("OK acp-bridge ")
    chat.sees("OK Demo (demo): running")
    chat.sees("'claude-agent-acp'")


def test_a_file_changed_on_disk_is_not_saved_over(chat: Neovim, project: Path) -> None:
    path = project / "demo-notes.md"
    saved = chat.lua("return require('acp_bridge.document').save(vim.uri_from_fname(...))", str(path))
    assert saved == {"ok": True}
    chat.keys("<C-w>tGomine<Esc>")
    chat.until(lambda: chat.buffer("/demo-notes.md")[-1] == "mine", "not typed")
    path.write_text("theirs, and longer\n")
    os.utime(path, (1, 1))
    answer = chat.lua("return require('acp_bridge.document').save(vim.uri_from_fname(...))", str(path))
    assert answer["ok"] is False
    assert "changed on disk" in answer["reason"]
    assert path.read_text() == "theirs, and longer\n"
    nowhere = chat.lua("return require('acp_bridge.document').save('file:///no/such')")
    assert nowhere == {"ok": False, "reason": "it is not open"}
