"""Typing in the thread file of a Neovim without the plugin while the answer streams into it."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from support.neovim import Neovim
from support.parts import bridge_command

pytestmark = pytest.mark.editor

SCRIPTED = Path(__file__).parents[2] / "support" / "scripted.py"
LINES = [f"line {number} of the answer" for number in range(1, 101)]
DRAFT = "what I type while it speaks is my next prompt"
INIT = f"""
vim.o.swapfile = false
vim.lsp.config('acp', {{
  cmd = {{ [[{bridge_command()}]], 'lsp' }},
  root_markers = {{ '.git' }},
  reuse_client = function(client, wanted) return client.name == wanted.name end,
}})
vim.lsp.enable('acp')
vim.api.nvim_create_user_command('Ask', function(call)
  vim.lsp.get_clients({{ name = 'acp' }})[1]:exec_cmd({{
    title = 'Ask', command = 'acpBridge.ask', arguments = {{ {{ agent = 'speaker', prompt = call.args }} }},
  }})
end, {{ nargs = '+' }})
"""


@pytest.fixture
def speaker(start: Callable[..., Neovim], tmp_path: Path) -> Neovim:
    """A Neovim whose agent speaks LINES in some four seconds, then a second answer."""
    steps: list[dict[str, object]] = []
    for line in LINES:
        steps += [{"text": f"{line}\n"}, {"sleep": 0.04}]
    scenario = tmp_path / "scenario.json"
    scenario.write_text(json.dumps({"prompts": [steps, [{"text": "second answer"}]]}))
    (tmp_path / "config").mkdir()
    server = {"command": sys.executable, "args": [str(SCRIPTED), f"@{scenario}"]}
    (tmp_path / "config" / "acp.json").write_text(json.dumps({"agent_servers": {"speaker": server}}))
    nvim = start(INIT)
    nvim.sees("hello")
    nvim.until(lambda: nvim.lua("return #vim.lsp.get_clients({ bufnr = 0 }) == 1"), "not attached")
    return nvim


def thread(nvim: Neovim) -> str:
    """The text of the thread file, "" before it is opened."""
    files = [buffer for buffer in nvim.nvim.buffers if buffer.name.endswith(".acp.md")]
    return "\n".join(files[0][:]) if files else ""


def test_nothing_is_lost_and_nothing_is_mixed(speaker: Neovim) -> None:
    speaker.keys(":Ask go<CR>")
    speaker.until(lambda: LINES[2] in thread(speaker), "the answer does not stream")
    speaker.until(lambda: speaker.nvim.current.buffer.name.endswith(".acp.md"), "the thread is not shown")
    speaker.keys("Go")
    for letter in DRAFT:
        speaker.keys("<Space>" if letter == " " else letter)
        time.sleep(0.03)
    speaker.keys("<Esc>")
    speaker.until(lambda: thread(speaker).count("acp-bridge prompt") == 2, "no new prompt")
    text = thread(speaker)
    assert "\n".join(LINES) in text
    above, below = text.rsplit("-->", 1)
    assert below.strip() == DRAFT
    assert DRAFT not in above
    speaker.keys(":lua vim.lsp.buf.code_action()<CR>")
    speaker.sees("Send the prompt to the agent")
    speaker.keys("1<CR>")
    speaker.until(lambda: thread(speaker).count("acp-bridge prompt") == 3, "no second turn")
    assert "second answer" in thread(speaker)
