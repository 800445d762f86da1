"""A person at a Neovim: all by keystrokes, all judged by the screen, the buffer and the disk."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from support.neovim import Neovim

pytestmark = pytest.mark.editor

NOTES = "# Notes\n\nhello wörld 😀\n"
UNSAVED = "a line nobody saved"
LINE = "- The demo agent was here."
QUESTION = "Demo asks: Edit demo-notes.md: "
Picture = Callable[[Neovim, str], None]


def notes(nvim: Neovim) -> list[str]:
    return nvim.buffer("/demo-notes.md")


def prompt(nvim: Neovim, text: str) -> None:
    """Type into the prompt, from Normal mode in one of the chat's windows, and send."""
    nvim.keys(f"i{text}<C-s>")


def select_notes_window(nvim: Neovim) -> None:
    nvim.keys("<C-w>t")
    nvim.until(lambda: nvim.nvim.current.buffer.name.endswith("demo-notes.md"), "not in the notes")


def select_chat_window(nvim: Neovim) -> None:
    nvim.keys("<C-w>k")
    nvim.until(lambda: nvim.nvim.current.buffer.name.endswith("/demo"), "not in the chat")


def test_a_whole_turn_from_unsaved_text_to_an_edit_that_can_be_undone(
    nvim: Neovim, project: Path, picture: Picture
) -> None:
    nvim.keys(f"Go{UNSAVED}<Esc>")
    nvim.keys(":AcpBridgeChat<CR>")
    nvim.sees("Prompt")
    prompt(nvim, "add a line")
    nvim.sees("working")
    nvim.sees("no network, no key")
    nvim.sees(QUESTION + str(project / "demo-notes.md"))
    picture(nvim, "permission")
    assert "+ - The demo agent was here." in nvim.screen.text(), (
        "the change must be seen before it is allowed"
    )
    assert UNSAVED in nvim.screen.text().split("Read demo-notes.md")[1], (
        "the agent must have read unsaved text"
    )
    assert notes(nvim) == [*NOTES.splitlines(), UNSAVED]
    options = re.findall(r"^(\d: .*?)$", nvim.screen.text(), re.MULTILINE)
    assert options == ["1: Allow", "2: Always allow", "3: Reject"]

    nvim.keys("1<CR>")
    nvim.sees("That was a whole turn")
    nvim.sees(" ready")
    nvim.sees("1.5k/200k")
    picture(nvim, "whole-turn")
    assert notes(nvim) == [*NOTES.splitlines(), UNSAVED, LINE]
    assert (project / "demo-notes.md").read_text() == f"{NOTES}{UNSAVED}\n{LINE}\n"

    select_notes_window(nvim)
    nvim.keys("u")
    nvim.until(lambda: notes(nvim) == [*NOTES.splitlines(), UNSAVED], "one `u` must undo the agent's edit")
    nvim.keys("u")
    nvim.until(lambda: notes(nvim) == NOTES.splitlines(), "the next `u` must undo the user's own")


def test_the_stream_is_seen_while_it_comes(chat: Neovim) -> None:
    prompt(chat, "slow")
    chat.sees("still talking")
    words = chat.screen.text().count("talking")
    chat.until(lambda: chat.screen.text().count("talking") > words + 5, "the text does not grow")
    chat.keys("<C-c>")
    chat.sees("Cancelled.")
    chat.sees(" ready")
    prompt(chat, "plain")
    chat.sees("Hello from the demo agent.")


def test_the_whole_of_a_long_answer_stands_in_the_chat(chat: Neovim) -> None:
    prompt(chat, "big 3000")
    chat.sees("line 3000")
    chat.sees(" ready")
    shown = [line for line in chat.buffer("/demo") if line.startswith("line ")]
    assert shown == [f"line {number}" for number in range(1, 3001)]


def test_the_view_follows_only_at_the_end(chat: Neovim) -> None:
    prompt(chat, "big 200")
    chat.sees("line 200")
    select_chat_window(chat)
    chat.keys("gg")
    chat.sees("❯ You")
    chat.keys(":AcpBridgeAsk slow<CR>")
    window = chat.nvim.current.window
    # A prompt sent goes to its end; the cursor may leave it again at once.
    chat.sees("still talking")
    chat.keys("gg")
    chat.until(lambda: window.cursor[0] == 1, "not at the top")
    length = len(chat.buffer("/demo")[-2])
    chat.until(lambda: len(chat.buffer("/demo")[-2]) > length + 100, "the stream has stopped")
    assert window.cursor[0] == 1
    assert "❯ You" in chat.screen.text()
    chat.keys("<C-c>")
    chat.until(lambda: "Cancelled." in chat.buffer("/demo"), "not cancelled")
    chat.keys("G")
    chat.sees("Cancelled.")


def test_a_tool_call_opens_its_diff_and_its_file(chat: Neovim, picture: Picture) -> None:
    prompt(chat, "add a line")
    chat.sees(QUESTION)
    chat.keys("1<CR>")
    chat.sees(" ready")
    select_chat_window(chat)
    chat.keys("?Edit demo-notes<CR>gd")
    chat.until(lambda: len(chat.nvim.tabpages) == 2, "no tab page")
    windows = chat.nvim.current.tabpage.windows
    assert [list(window.buffer[:]) for window in windows] == [
        NOTES.splitlines(),
        [*NOTES.splitlines(), LINE],
    ]
    assert all(window.options["diff"] for window in windows)
    assert not any(window.buffer.options["modifiable"] for window in windows)
    chat.sees(LINE)
    picture(chat, "diff")
    chat.keys("q")
    chat.until(lambda: len(chat.nvim.tabpages) == 1, "the diff does not close")
    select_notes_window(chat)
    chat.keys("ggOtop<Esc>")
    select_chat_window_from_notes = "<C-w>l<C-w>t<C-w>l"
    chat.keys(select_chat_window_from_notes)
    chat.until(lambda: chat.nvim.current.buffer.name.endswith("/demo"), "not in the chat")
    chat.keys("gg/→ demo-notes<CR>gf")
    chat.until(lambda: chat.nvim.current.buffer.name.endswith("demo-notes.md"), "the file is not opened")
    assert notes(chat)[0] == "top", "what was not saved must not be read anew"


def test_thoughts_open_and_close(chat: Neovim) -> None:
    prompt(chat, "add a line")
    chat.sees(QUESTION)
    chat.keys("3<CR>")
    chat.sees("Then I leave it as it is.")
    assert "wants to see what a turn looks like" not in chat.screen.text()
    select_chat_window(chat)
    chat.keys("gg/Thought<CR><Tab>")
    chat.sees("wants to see what a turn looks")
    chat.keys("<Tab>")
    chat.until(lambda: "wants to see what" not in chat.screen.text(), "it does not close")


def test_an_error_says_what_to_try(chat: Neovim) -> None:
    prompt(chat, "fail")
    chat.sees("The demo agent failed on purpose")
    chat.sees("Try: Send another prompt.")
    prompt(chat, "die")
    chat.sees("status 3")
    prompt(chat, "plain")
    chat.sees("Hello from the demo agent.")


def test_things_nobody_knows_are_shown(chat: Neovim) -> None:
    prompt(chat, "odd")
    chat.sees("Those were odd things.")
    chat.sees("A notice")
    chat.sees("Context compaction")


def test_a_range_goes_with_the_question(nvim: Neovim) -> None:
    nvim.keys("gg:1AcpBridgeAsk plain, what is this?<CR>")
    nvim.sees("Hello from the demo agent.")
    shown = nvim.buffer("/demo")
    assert shown[1] == "plain, what is this?"
    assert shown[3].endswith("/demo-notes.md:1-1")
    assert shown[4:7] == ["```markdown", "# Notes", "```"]
    assert nvim.nvim.current.buffer.name.endswith("demo-notes.md"), "the cursor must stay"


def test_a_second_chat_is_another(chat: Neovim) -> None:
    prompt(chat, "plain")
    chat.sees("Hello from the demo agent.")
    chat.keys(":AcpBridgeNew demo<CR>")
    chat.until(lambda: any("acp-bridge://2/demo" in line for line in chat.screen.lines()), "no second chat")
    assert list(chat.buffer("//2/demo")) == [""]
    prompt(chat, "refuse")
    chat.sees("The agent refused or failed.")
    assert "Hello from the demo agent. This answer is **only text**." in chat.buffer("//1/demo")


def test_a_chat_that_was_deleted_is_shown_again(chat: Neovim) -> None:
    prompt(chat, "plain")
    chat.sees("Hello from the demo agent.")
    chat.keys(":bdelete<CR>")
    select_chat_window_from_notes = "<C-w>t<C-w>l"
    chat.keys(select_chat_window_from_notes)
    chat.keys(":bdelete<CR>")
    chat.until(lambda: "Hello" not in chat.screen.text(), "the chat is still there")
    chat.keys(":AcpBridgeChat<CR>")
    chat.sees("Hello from the demo agent.")
    chat.sees("A demo turn")
    prompt(chat, "refuse")
    chat.sees("The agent refused or failed.")


def test_agents_are_listed_and_completed(chat: Neovim) -> None:
    chat.keys(":AcpBridgeAgents<CR>")
    chat.sees("Demo  (demo)  running")
    chat.sees("not available")
    chat.keys("<CR>")
    chat.keys(":AcpBridgeNew de<Tab>")
    chat.sees(":AcpBridgeNew demo")
    chat.keys("<Esc>")
    assert "claude-acp" in chat.nvim.funcs.getcompletion("AcpBridgeNew ", "cmdline")


def test_logging_in_sends_the_prompt_that_was_kept(chat: Neovim) -> None:
    prompt(chat, "auth")
    chat.sees("wants you to log in: :AcpBridgeLogin demo")
    chat.keys(":AcpBridgeLogin demo<CR>")
    chat.sees("1: Demo log-in  Logs in at once; nothing is asked.")
    chat.keys("1<CR>")
    chat.sees("You are logged in.")


def test_slash_commands_complete_in_the_prompt(chat: Neovim) -> None:
    prompt(chat, "plain")
    chat.sees("Hello from the demo agent.")
    chat.keys("i/sl<C-x><C-o>")
    chat.until(lambda: chat.nvim.current.line == "/slow", "not completed")
    chat.keys("<Esc>")


def test_what_an_agent_wrote_is_shown(chat: Neovim) -> None:
    prompt(chat, "die")
    chat.sees("status 3")
    chat.keys(":AcpBridgeLog<CR>")
    chat.sees("log exited with status 3")


def test_an_option_is_chosen(chat: Neovim, project: Path) -> None:
    chat.until(lambda: chat.screen.lines()[0].endswith(" Ask"), "the mode is not shown")
    chat.keys(":AcpBridgeOptions<CR>")
    chat.sees("1: Mode: Ask")
    chat.keys("1<CR>")
    chat.sees("2: Auto  Change files without asking")
    chat.keys("2<CR>")
    chat.until(lambda: chat.screen.lines()[0].endswith(" Auto"), "the mode is not another")
    prompt(chat, "add a line")
    chat.sees("That was a whole turn")
    assert (project / "demo-notes.md").read_text() == f"{NOTES}{LINE}\n"


def test_prompts_that_wait_are_held_after_a_cancel_and_resumed(chat: Neovim) -> None:
    prompt(chat, "slow")
    chat.sees("still talking")
    prompt(chat, "plain")
    chat.sees("1 queued")
    chat.keys("<C-c>")
    chat.sees("1 queued, held")
    chat.keys(":AcpBridgeQueue<CR>")
    chat.sees("1: Resume")
    chat.sees("2: Send now: plain")
    chat.keys("1<CR>")
    chat.sees("Hello from the demo agent.")


def test_the_help_is_found(chat: Neovim, picture: Picture) -> None:
    chat.lua("vim.cmd.helptags(vim.fn.fnamemodify(...,':p') .. '/doc')", str(plugin_copy(chat)))
    chat.keys("g?")
    chat.sees("4. Keys")


def test_the_help_needs_no_tags_and_the_prompts_bar_is_never_cut(chat: Neovim) -> None:
    chat.keys(":vertical resize 34<CR>")
    chat.sees(" Prompt  ")
    chat.sees("<C-s> send · g? help")
    chat.keys("g?")
    chat.sees("4. Keys")
    chat.sees("In the prompt:")


def plugin_copy(nvim: Neovim) -> Path:
    """The plugin's help in a folder of the test's own: tags are written beside it."""
    from support.neovim import PLUGIN

    folder = nvim.home / "plugin"
    (folder / "doc").mkdir(parents=True)
    (folder / "doc" / "acp_bridge.txt").write_text((PLUGIN / "doc" / "acp_bridge.txt").read_text())
    nvim.lua("vim.opt.runtimepath:prepend(...)", str(folder))
    return folder
