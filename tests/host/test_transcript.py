"""Events to entries: grouping of messages, upserts of tool calls, what a turn's end closes."""

from __future__ import annotations

from typing import Any

import pytest

from acp_bridge.agents.events import (
    Compaction,
    Error,
    Event,
    Message,
    MessageChunk,
    Notice,
    Plan,
    PlanRemoved,
    ThoughtChunk,
    ToolCall,
    ToolContent,
    ToolOutput,
    Unknown,
)
from acp_bridge.host.thread import Thread
from acp_bridge.host.transcript import Transcript

Json = dict[str, Any]


def text(value: str, message_id: str | None = None, **more: Any) -> MessageChunk:
    return MessageChunk(role="agent", text=value, message_id=message_id, **more)


def thought(value: str, message_id: str | None = None) -> ThoughtChunk:
    return ThoughtChunk(text=value, message_id=message_id)


def played(*events: Event, prompt: str = "hi") -> list[Json]:
    """The entries after the user's own of a turn with these events."""
    transcript = Transcript(Thread("ses"))
    transcript.begin_turn("t1", [{"type": "text", "text": prompt}], None)
    for event in events:
        assert transcript.apply(event)
    return transcript.thread.entries()[1:]


def texts(entries: list[Json]) -> list[tuple[str, str]]:
    return [(entry["kind"], entry.get("text", "")) for entry in entries]


def statuses(transcript: Transcript) -> list[str]:
    return [entry["status"] for entry in transcript.thread.entries() if entry["kind"] == "tool"]


def test_chunks_group_by_message_id_and_without_one_by_run() -> None:
    entries = played(
        text("a", "m1"), text("b", "m1"), text("c", "m2"), text("d"), text("e"),
        ToolCall(id="t", title="x", announced=True), text("f"),
    )  # fmt: skip
    assert texts(entries) == [("agent", "ab"), ("agent", "c"), ("agent", "de"), ("tool", ""), ("agent", "f")]


def test_thoughts_and_messages_that_share_an_id_are_two_entries() -> None:
    entries = played(thought("t1", "m"), text("a", "m"), thought("t2", "m"), text("b", "m"))
    assert texts(entries) == [("thought", "t1t2"), ("agent", "ab")]


def test_a_subagents_text_stands_apart_and_names_its_parent() -> None:
    entries = played(text("a"), text("sub", parent="call"), text("b"))
    assert [(entry["text"], entry.get("parent")) for entry in entries] == [
        ("a", None),
        ("sub", "call"),
        ("b", None),
    ]


def test_an_empty_chunk_makes_nothing_and_white_space_is_kept() -> None:
    assert texts(played(text(""), text("a"), text("\n "), text(""))) == [("agent", "a\n ")]


def test_other_blocks_join_the_message() -> None:
    image = {"type": "image", "data": "", "mimeType": "image/png"}
    (entry,) = played(text("see", "m"), MessageChunk(role="agent", block=image, message_id="m"))
    assert (entry["text"], entry["blocks"]) == ("see", [image])


@pytest.mark.parametrize("cut", [["hi there"], ["hi", " there"], ["hi ", "there"]])
def test_the_echo_of_the_prompt_is_not_shown_again(cut: list[str]) -> None:
    chunks = [MessageChunk(role="user", text=part) for part in cut]
    assert texts(played(*chunks, text("yes"), prompt="hi there")) == [("agent", "yes")]


def test_a_user_message_that_is_no_echo_is_shown() -> None:
    (entry,) = played(
        MessageChunk(role="user", text="[Request "), MessageChunk(role="user", text="interrupted]")
    )
    assert (entry["kind"], entry["blocks"]) == ("user", [{"type": "text", "text": "[Request interrupted]"}])


def test_a_whole_message_replaces_and_later_chunks_append() -> None:
    content = [{"type": "text", "text": "new"}]
    (entry,) = played(
        text("old", "m"), Message(role="agent", message_id="m", content=content), text("er", "m")
    )
    assert entry["text"] == "newer"


def test_a_tool_call_is_made_by_whatever_names_it_first_and_updated_in_place() -> None:
    (entry,) = played(
        ToolCall(id="t", status="in_progress"),
        ToolCall(id="t", title="Write a", kind="edit", announced=True, raw_input={"path": "/w/a"}),
        ToolCall(id="t", content=[{"type": "content", "content": {"type": "text", "text": "A"}}]),
        ToolCall(id="t", locations=[{"path": "/w/a", "line": 3}]),
        ToolContent(tool_call_id="t", item={"type": "diff", "path": "/w/a", "oldText": None, "newText": "B"}),
        ToolOutput(tool_call_id="t", text="out"),
        ToolCall(id="t", status="completed", raw_output={"ok": 1}),
    )
    assert (entry["title"], entry["toolKind"], entry["status"]) == ("Write a", "edit", "completed")
    assert entry["content"] == [
        {"type": "text", "text": "A"},
        {"type": "diff", "uri": "file:///w/a", "path": "/w/a", "oldText": None, "newText": "B"},
    ]
    assert entry["locations"] == [{"uri": "file:///w/a", "path": "/w/a", "line": 2}]
    assert (entry["output"], entry["rawInput"], entry["rawOutput"]) == ("out", {"path": "/w/a"}, {"ok": 1})


def test_a_list_replaces_and_an_empty_one_clears() -> None:
    block = {"type": "content", "content": {"type": "text", "text": "A"}}
    (entry,) = played(ToolCall(id="t", content=[block]), ToolCall(id="t", content=[]))
    assert entry["content"] == []


def test_content_that_nobody_knows_is_kept() -> None:
    odd = {"type": "hologram", "x": 1}
    (entry,) = played(ToolCall(id="t", content=[odd, {"type": "text", "text": "bare"}]))
    assert entry["content"] == [{"type": "block", "block": odd}, {"type": "text", "text": "bare"}]


def test_a_late_update_does_not_reopen_a_finished_call_but_another_call_of_the_same_id_is_shown() -> None:
    entries = played(
        ToolCall(id="unknown", title="one", status="pending", announced=True),
        ToolCall(id="unknown", status="completed"),
        ToolCall(id="unknown", status="in_progress"),
        ToolCall(id="unknown", title="two", status="pending", announced=True),
    )
    assert [(entry["title"], entry["status"]) for entry in entries] == [
        ("one", "completed"),
        ("two", "pending"),
    ]


def test_a_repeated_announcement_of_an_open_call_is_the_same_call() -> None:
    (entry,) = played(
        ToolCall(id="t", title="x", status="pending", announced=True),
        ToolCall(id="t", title="x", status="in_progress", announced=True),
        ToolCall(id="t", title="x", status="completed", announced=True),
    )
    assert entry["status"] == "completed"


@pytest.mark.parametrize(
    ("call", "title"),
    [
        (ToolCall(id="t"), "tool"),
        (ToolCall(id="t", name="file_edit", raw_input={"file": "auth/login.go"}), "file_edit auth/login.go"),
        (ToolCall(id="t", name="Bash", raw_input={"command": "ls\n-la"}), "Bash ls -la"),
        (ToolCall(id="t", name="Bash", title="List files"), "List files"),
    ],
)
def test_a_title_is_made_where_the_agent_gives_none(call: ToolCall, title: str) -> None:
    assert played(call)[0]["title"] == title


def test_the_end_of_a_turn_closes_what_is_open_and_a_late_result_still_counts() -> None:
    transcript = Transcript(Thread("ses"))
    transcript.begin_turn("t1", [{"type": "text", "text": "hi"}], None)
    transcript.apply(ToolCall(id="a", title="a", status="in_progress"))
    transcript.apply(ToolCall(id="b", title="b", status="pending"))
    transcript.end_turn("cancelled", None, {"totalTokens": 3})
    assert statuses(transcript) == ["cancelled", "cancelled"]
    transcript.apply(ToolCall(id="a", status="completed"))
    transcript.apply(ToolCall(id="b", status="in_progress"))
    assert statuses(transcript) == ["completed", "cancelled"]
    stop = transcript.thread.entries()[-1]
    assert (stop["stopReason"], stop["tokens"], stop["turnId"]) == ("cancelled", {"totalTokens": 3}, "t1")


def test_ids_of_an_earlier_turn_start_anew_in_the_next() -> None:
    transcript = Transcript(Thread("ses"))
    for turn in ("t1", "t2"):
        transcript.begin_turn(turn, [{"type": "text", "text": "hi"}], None)
        transcript.apply(text("x", "m"))
        transcript.apply(ToolCall(id="call", title="x", status="in_progress", announced=True))
        transcript.apply(ToolCall(id="call", status="completed"))
        transcript.end_turn("end_turn", None, None)
    assert [e["kind"] for e in transcript.thread.entries()] == ["user", "agent", "tool", "stop"] * 2


def test_a_plan_is_replaced_emptied_and_removed() -> None:
    entry = {"content": "x", "priority": "high", "status": "pending"}
    (plan,) = played(Plan(entries=[entry]), Plan(entries=[]))
    assert plan["entries"] == []
    assert played(Plan(entries=[entry]), PlanRemoved(plan_id="plan")) == []
    assert len(played(Plan(entries=[entry]), Plan(entries=[entry], plan_id="other"))) == 2


def test_notices_errors_compactions_and_unknown_kinds_are_rows() -> None:
    entries = played(
        Notice(severity="warning", title="Careful"),
        Error(message="No", details="why", hint="try"),
        Compaction(compaction_id="c", status="in_progress", summary_append="a"),
        Compaction(compaction_id="c", summary_append="b"),
        Compaction(compaction_id="c", status="completed"),
        Unknown(kind="hologram", raw={"x": 1}),
    )
    assert [entry["kind"] for entry in entries] == ["notice", "error", "compaction", "unknown"]
    assert (entries[1]["message"], entries[1]["detail"], entries[1]["hint"]) == ("No", "why", "try")
    assert (entries[2]["status"], entries[2]["summary"]) == ("completed", "ab")
    assert entries[3]["raw"] == {"x": 1}


def test_a_users_message_is_replaced_whole_but_its_echo_is_not_shown() -> None:
    block = {"type": "text", "text": "from elsewhere"}
    (entry,) = played(
        Message(role="user", message_id="m", content=[{"type": "text", "text": "hi"}]),
        Message(role="user", message_id="u", content=[{"type": "text", "text": "from"}]),
        Message(role="user", message_id="u", content=[block]),
    )
    assert (entry["kind"], entry["blocks"]) == ("user", [block])


def test_a_plan_may_be_text_or_a_file() -> None:
    (plan,) = played(Plan(entries=[], content="# Plan", uri="file:///plan.md"))
    assert (plan["content"], plan["uri"]) == ("# Plan", "file:///plan.md")


def test_a_path_that_is_no_text_costs_nothing() -> None:
    (entry,) = played(ToolCall(id="t", locations=[{"path": "/a\ud800"}, {"path": "b c"}]))
    assert [location["uri"] for location in entry["locations"]] == ["file:///a%3F", "file:b%20c"]
