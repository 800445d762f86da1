"""Permission by `vim.ui.select`: exactly what was chosen, nothing by accident, asked again when wanted."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.neovim import Neovim

pytestmark = pytest.mark.editor

NOTES = "# Notes\n\nhello wörld 😀\n"
LINE = "- The demo agent was here.\n"
DIALOG = "Type number and <Enter>"


def prompt(nvim: Neovim, text: str) -> None:
    nvim.keys(f"i{text}<C-s>")


def test_closing_the_dialog_decides_nothing_and_it_can_be_asked_again(chat: Neovim, project: Path) -> None:
    prompt(chat, "add a line")
    chat.sees(DIALOG)
    chat.keys("<CR>")
    chat.sees("nothing was decided")
    chat.sees("needs your permission")
    chat.keys(":AcpBridgePermission<CR>")
    chat.sees(DIALOG)
    chat.keys("<Esc>")
    chat.until(lambda: DIALOG not in chat.screen.text(), "the dialog does not close")
    chat.sees("needs your permission")
    chat.keys("<C-w>k")
    chat.keys("?Edit demo<CR><CR>")
    chat.sees(DIALOG)
    chat.keys("3<CR>")
    chat.sees("Then I leave it as it is.")
    assert (project / "demo-notes.md").read_text() == NOTES
    chat.keys(":AcpBridgePermission<CR>")
    chat.sees("no permission is asked for")


def test_typing_never_answers(nvim: Neovim, project: Path) -> None:
    nvim.keys(":AcpBridgeAsk add a line<CR>")
    nvim.sees("Prompt")
    nvim.keys("<C-w>tGo1")
    nvim.sees("needs your permission")
    nvim.keys("<CR>1<CR>1<CR>")
    nvim.until(lambda: nvim.buffer("/demo-notes.md")[3:6] == ["1", "1", "1"], "the typing is lost")
    assert DIALOG not in nvim.screen.text()
    assert (project / "demo-notes.md").read_text() == NOTES
    nvim.keys("<Esc>")
    nvim.sees(DIALOG)
    nvim.keys("3<CR>")
    nvim.sees("Then I leave it as it is.")


def test_two_requests_are_asked_one_after_the_other(chat: Neovim, project: Path) -> None:
    prompt(chat, "two permissions")
    chat.sees("asks: Edit demo-notes.md")
    chat.keys("3<CR>")
    chat.sees("asks: Edit demo-more.md")
    chat.keys("1<CR>")
    chat.sees("Both are decided.")
    assert (project / "demo-notes.md").read_text() == NOTES
    assert (project / "demo-more.md").read_text() == LINE


def test_a_command_is_shown_as_it_would_run(chat: Neovim, project: Path) -> None:
    prompt(chat, "ask")
    chat.sees(f"Demo asks to run: echo hello  (in {project})")
    chat.keys("1<CR>")
    chat.sees("│ hello")
    chat.sees("Done.")


def test_a_path_outside_is_said_to_be(chat: Neovim, project: Path) -> None:
    prompt(chat, "outside")
    chat.sees("wants to read outside the workspace")
    chat.sees("(outside the folder)")
    chat.keys("2<CR>")
    chat.sees("asks: Edit ../demo-outside.md")
    chat.keys("3<CR>")
    chat.sees("Done.")
    assert not (project.parent / "demo-outside.md").exists()


def test_what_was_cancelled_is_not_asked_any_more(chat: Neovim, project: Path) -> None:
    prompt(chat, "add a line")
    chat.sees(DIALOG)
    chat.keys("<CR>")
    chat.sees("nothing was decided")
    chat.keys(":AcpBridgeCancel<CR>")
    chat.sees("Cancelled.")
    chat.keys(":AcpBridgePermission<CR>")
    chat.sees("no permission is asked for")
    assert (project / "demo-notes.md").read_text() == NOTES


def test_always_is_the_agents_own_option(chat: Neovim, project: Path) -> None:
    prompt(chat, "add a line")
    chat.sees(DIALOG)
    chat.keys("2<CR>")
    chat.sees("Auto")
    chat.sees(" ready")
    prompt(chat, "again")
    chat.until(
        lambda: (project / "demo-notes.md").read_text() == NOTES + LINE + LINE, "the second edit is missing"
    )


def test_a_picker_without_line_breaks_gets_one_line(chat: Neovim) -> None:
    request = {
        "requestId": "r1",
        "sessionId": "none",
        "entryId": "e1",
        "title": "Run",
        "action": {"type": "shell", "details": {"command": "one\ntwo", "cwd": "/"}},
        "options": [{"optionId": "a", "name": "Allow", "kind": "allow_once"}],
        "rememberScopes": [],
    }
    chat.lua("vim.ui.select = function(items, opts, cb) _G.asked = { items, opts.prompt, opts.kind } end")
    chat.lua("require('acp_bridge.permission').requested(...)", request)
    items, question, kind = chat.until(lambda: chat.lua("return _G.asked"), "not asked")
    assert question == "The agent asks to run: one␊two  (in /)"
    assert kind == "acp_bridge_permission"
    assert [item["optionId"] for item in items] == ["a"]
