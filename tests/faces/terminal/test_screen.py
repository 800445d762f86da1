"""What a person sees of op lists: no host, no agent, two strings."""

from __future__ import annotations

import copy
import io
import os
from typing import Any

import pytest
from rich.console import Console

from acp_bridge.faces.terminal.paper import Paper
from acp_bridge.faces.terminal.screen import OUTPUT_LINES, Screen
from acp_bridge.faces.terminal.status import Ended, Failed

Json = dict[str, Any]


class Seen:
    """A screen with its two streams; with `shared` everything lands in one, as on a terminal."""

    def __init__(self, shared: bool = False) -> None:
        self.err_file = io.StringIO()
        self.out_file = self.err_file if shared else io.StringIO()
        console = Console(file=self.err_file, width=100, color_system=None, force_terminal=False)
        self.screen = Screen(Paper(self._write, console, out_is_terminal=shared, shared=shared))

    def _write(self, text: str) -> None:
        self.out_file.write(text)

    @property
    def out(self) -> str:
        return self.out_file.getvalue()

    @property
    def err(self) -> str:
        return self.err_file.getvalue()

    def ops(self, *ops: Json) -> None:
        self.screen.ops({"ops": list(ops)})


def put(entry_id: str, kind: str, **fields: Any) -> Json:
    return {"op": "put", "entry": {"id": entry_id, "kind": kind, "turnId": "t", **fields}}


def append(entry_id: str, text: str, field: str = "text") -> Json:
    return {"op": "append", "id": entry_id, "field": field, "text": text}


def patch(entry_id: str, **fields: Any) -> Json:
    return {"op": "patch", "id": entry_id, "set": fields}


def tool(entry_id: str, **fields: Any) -> Json:
    common = {"name": "", "title": "Do it", "toolKind": "edit", "status": "pending", "content": []}
    return put(entry_id, "tool", **{**common, "locations": [], "output": "", **fields})


def test_ops_belong_to_others_too_and_stay_as_they_are() -> None:
    ops = [put("a", "agent", text="hi"), append("a", "!"), tool("t", content=[{"type": "text", "text": "x"}])]
    before = copy.deepcopy(ops)
    Seen().ops(*ops)
    assert ops == before


def test_words_go_to_stdout_unchanged_and_alone() -> None:
    seen = Seen()
    seen.ops(put("1", "user", blocks=[{"type": "text", "text": "secret question"}]))
    seen.ops(put("2", "thought", text="hm"), put("3", "agent", text="Hel"))
    seen.ops(append("3", "lo [bold]you[/bold] \x1b[31m"), append("2", "m"))
    seen.ops(append("3", "!\n"))
    seen.screen.end(Ended("end_turn"))
    assert seen.out == "Hello [bold]you[/bold] \x1b[31m!\n"
    assert seen.err == "hm\nm\n"


def test_each_message_ends_its_line() -> None:
    seen = Seen()
    seen.ops(put("1", "agent", text="one"), put("2", "agent", text="two"))
    seen.screen.end(Ended("end_turn"))
    assert seen.out == "one\ntwo\n"


def test_a_terminal_gets_no_escape_sequences_from_the_agent() -> None:
    seen = Seen(shared=True)
    seen.ops(put("1", "agent", text="a\x1b]0;title\x07b\r\nc"), put("2", "thought", text="\x9b31m"))
    assert "a<U+001B>]0;title<U+0007>b\nc" in seen.out
    assert "<U+009B>31m" in seen.err
    assert "\x1b" not in seen.out


def test_on_a_shared_terminal_everything_starts_on_its_own_line() -> None:
    seen = Seen(shared=True)
    seen.ops(put("1", "agent", text="words"), tool("2"), append("1", "more"))
    assert seen.out == "words\n\n● Do it  edit\n\nmore"


def test_a_replaced_message_is_shown_again_whole() -> None:
    seen = Seen()
    seen.ops(put("1", "agent", text="draft"))
    seen.ops(patch("1", text="draft and more"))
    seen.ops(patch("1", text="final"))
    assert seen.out == "draft and more\nfinal"


def test_blocks_that_are_no_text_are_named_once() -> None:
    seen = Seen()
    image = {"type": "image", "mimeType": "image/png", "data": "…"}
    seen.ops(put("1", "agent", text="look: ", blocks=[image]))
    seen.ops(patch("1", blocks=[image, {"type": "resource_link", "uri": "file:///a"}]))
    assert seen.out == "look: "
    assert seen.err == "[image image/png]\n[resource_link file:///a]\n"


def test_a_tool_is_told_at_first_sight_and_when_it_is_finished() -> None:
    seen = Seen()
    seen.ops(tool("1"))
    seen.ops(patch("1", status="in_progress"))
    seen.ops(append("1", "a\nb\n", field="output"), patch("1", status="completed"))
    assert seen.err == "● Do it  edit\n  ✓ completed\n    a\n    b\n"


def test_a_tool_is_named_again_if_something_came_between() -> None:
    seen = Seen()
    seen.ops(tool("1"), tool("2", title="Other", toolKind="other"), patch("1", status="failed"))
    assert seen.err == "● Do it  edit\n● Other\n✗ Do it  edit\n"


def test_a_subagents_tool_is_indented() -> None:
    seen = Seen()
    seen.ops(tool("1", parent="0", status="cancelled"))
    assert seen.err == "  ↳ ⊘ Do it  edit\n"


def test_tool_content_is_shown_when_finished_and_long_output_is_cut() -> None:
    seen = Seen()
    text = "".join(f"line {number}\n" for number in range(OUTPUT_LINES + 5))
    seen.ops(
        tool("1", content=[{"type": "text", "text": text}, {"type": "block", "block": {"type": "audio"}}])
    )
    assert "line 0" not in seen.err
    seen.ops(patch("1", status="completed"))
    assert f"line {OUTPUT_LINES - 1}\n" in seen.err
    assert f"line {OUTPUT_LINES}\n" not in seen.err
    assert "… 5 more lines" in seen.err
    assert "[audio]" in seen.err


def test_what_comes_late_to_a_finished_tool_is_shown_once() -> None:
    """One message patches a call's status before it appends its output."""
    seen = Seen()
    seen.ops(tool("1"))
    seen.ops(patch("1", status="completed"), append("1", "one\n", field="output"))
    seen.ops(append("1", "two\n", field="output"))
    late = {"type": "text", "text": "three"}
    seen.ops(patch("1", content=[late]))
    seen.ops(patch("1", content=[late], rawOutput=1))
    assert seen.err == "● Do it  edit\n  ✓ completed\n    one\n    two\n    three\n"


def test_log_lines_of_an_agent() -> None:
    seen = Seen()
    seen.screen.log("x", "log", "x is still starting")
    seen.screen.log("x", "noise", "Loading\x1b[1m")
    seen.screen.log("x", "stderr", "told with a failure only")
    seen.screen.session({"cwd": "/w"})
    seen.screen.log("x", "log", "exited with status 3")
    assert seen.err == "x is still starting\nx printed what is no message: Loading<U+001B>[1m\n"


def test_a_diff_is_shown_as_soon_as_it_is_known_and_once() -> None:
    seen = Seen()
    diff = {"type": "diff", "path": "/w/a.txt", "oldText": "one\ntwo\n", "newText": "one\nTWO\n"}
    seen.ops(tool("1", content=[diff]))
    seen.ops(patch("1", status="completed", content=[diff]))
    assert seen.err.count("-two") == 1
    assert " one\n    -two\n    +TWO\n" in seen.err


def test_what_became_of_old_entries_is_told_before_new_ones() -> None:
    """One message holds all that changed at once, new entries first."""
    seen = Seen(shared=True)
    seen.ops(tool("1"), put("2", "agent", text="so "))
    seen.ops(
        put("3", "agent", text="then"),
        patch("3", text="then more"),
        append("2", "far"),
        patch("1", status="completed"),
    )
    assert seen.out == "● Do it  edit\n\nso far\n\n✓ Do it  edit\n\nthen more"


def test_paths_are_shown_as_seen_from_the_sessions_folder() -> None:
    seen = Seen()
    seen.screen.session({"cwd": "/w"})
    for path in ("/w/in/a.txt", "/ww/b.txt"):
        diff = {"type": "diff", "path": path, "oldText": "", "newText": "x"}
        seen.ops(tool(path, title="Edit it", content=[diff]))
    assert seen.err == "● Edit it\n    in/a.txt\n    +x\n● Edit it\n    /ww/b.txt\n    +x\n"


def test_an_unknown_tool_status_is_no_failure() -> None:
    seen = Seen()
    seen.ops(tool("1", status="dreaming"))
    assert seen.err == "● Do it  edit\n"


def test_a_plan_is_told_whole_and_then_by_what_changed() -> None:
    seen = Seen()
    steps = [{"content": "first", "status": "in_progress"}, {"content": "second", "status": "pending"}]
    seen.ops(put("1", "plan", entries=steps))
    done = [{"content": "first", "status": "completed"}, steps[1]]
    seen.ops(patch("1", entries=done))
    seen.ops(patch("1", entries=done))
    seen.ops(patch("1", entries=[*done, {"content": "third", "status": "pending"}]))
    assert seen.err == (
        "◆ Plan  0 of 2 done\n  ▸ first\n  ○ second\n"
        "◆ Plan  1 of 2 done\n  ✓ first\n"
        "◆ Plan  1 of 3 done\n  ✓ first\n  ○ second\n  ○ third\n"
    )


def test_the_rest_of_the_kinds() -> None:
    seen = Seen()
    seen.ops(
        put("1", "notice", severity="warning", title="Mind\u202e this", description="two\nlines"),
        put("2", "compaction", status="in_progress"),
        put("3", "elicitation", requestId="r", message="Which colour?"),
        put("4", "unknown", raw={"sessionUpdate": "future_kind", "x": 1}),
        put("5", "error", message="told at the end", detail="", hint=""),
        put("6", "stop", stopReason="end_turn"),
        patch("2", status="completed", summary="short"),
        {"op": "remove", "id": "1"},
        patch("1", title="gone"),
    )
    assert seen.err == (
        "i Mind<U+202E> this\n    two\n    lines\n"
        "⇣ Context compaction in_progress\n"
        "? Which colour?\n"
        "· future_kind (unknown to this version)\n"
        "⇣ Context compaction completed short\n"
    )


@pytest.mark.parametrize(
    ("reason", "word"),
    [
        ("refusal", "refused or failed"),
        ("max_tokens", "token limit"),
        ("max_turn_requests", "limit of model requests"),
        ("cancelled", "cancelled"),
        ("boredom", "does not know: boredom"),
    ],
)
def test_every_other_end_is_told(reason: str, word: str) -> None:
    seen = Seen()
    seen.screen.end(Ended(reason))
    assert word in seen.err


def test_a_failure_tells_what_the_evidence_and_what_to_try() -> None:
    seen = Seen()
    seen.ops(put("1", "agent", text="half an ans"))
    seen.screen.end(Failed("agentDied", "X exited with status 3", "try harder", "last words\nof stderr"))
    assert seen.out == "half an ans\n"
    assert seen.err == ("error: X exited with status 3\n    last words\n    of stderr\ntry: try harder\n")


REQUEST = {
    "requestId": "r",
    "title": "Run it",
    "action": {"type": "shell", "details": {"command": "rm -rf x\necho \u202edone", "cwd": "/w"}},
    "options": [{"optionId": "a", "name": "Yes", "kind": "allow_once"}, {"optionId": "b", "name": "No"}],
}


def test_a_permission_shows_the_exact_command_and_numbered_options() -> None:
    seen = Seen()
    seen.screen.permission_requested(REQUEST, asked=True)
    seen.screen.question("Your answer: ")
    seen.screen.answered()
    seen.screen.permission_resolved(REQUEST, {"outcome": "selected", "optionId": "a"}, "user", "")
    assert seen.err == (
        "▲ Permission Run it\n  $ rm -rf x\n    echo <U+202E>done\n  in /w\n    1. Yes\n    2. No\n"
        "Your answer:   → Yes  (you)\n"
    )


def test_a_question_nobody_answered_is_not_written_over() -> None:
    seen = Seen()
    seen.screen.question("Your answer: ")
    seen.screen.permission_resolved(REQUEST, {"outcome": "cancelled"}, "cancel", "")
    assert seen.err == "Your answer: \n  → cancelled\n"


def test_a_permission_nobody_is_asked_about_shows_no_options() -> None:
    seen = Seen()
    seen.screen.permission_requested(REQUEST, asked=False)
    seen.screen.permission_resolved(REQUEST, {"outcome": "cancelled"}, "policy", "because")
    assert "1. Yes" not in seen.err
    assert "→ cancelled  (because)" in seen.err


def test_a_permission_shows_the_diff_of_an_edit_that_was_not_shown_yet() -> None:
    seen = Seen()
    details = {"paths": [{"path": "/w/new.txt"}], "oldText": None, "newText": "hello\n"}
    request = {
        "requestId": "r",
        "title": "Write",
        "action": {"type": "edit", "details": details},
        "options": [],
    }
    seen.screen.permission_requested(request, asked=True)
    assert "edit /w/new.txt" in seen.err
    assert "(new file)" in seen.err
    assert "+hello" in seen.err


def test_a_long_answer_in_many_pieces_is_quick() -> None:
    """20,000 chunks onto one entry: the work must not grow with what is there already."""
    seen = Seen()
    seen.ops(put("1", "agent", text=""))
    before = os.times().user
    for _ in range(20_000):
        seen.ops(append("1", "0123456789" * 10))
    assert os.times().user - before < 5
    assert len(seen.out) == 2_000_000
