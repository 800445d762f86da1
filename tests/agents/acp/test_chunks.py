"""Runs of text chunks: what is joined, what is not, and that no cut of the stream changes what is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_bridge.agents.acp.chunks import ChunkRun
from acp_bridge.agents.events import AnyEvent, MessageChunk, Plan, ThoughtChunk, ToolCall
from agents.acp.stream import agent_and_client, chunk_line, events_of, joined, update_line

RECORDED = Path(__file__).with_name("recorded.jsonl")


def agent_text(text: str, **fields: Any) -> MessageChunk:
    return MessageChunk(role="agent", text=text, **fields)


def test_chunks_of_one_read_are_one_event() -> None:
    assert events_of(chunk_line("a") + chunk_line("b") + chunk_line("c")) == [("s", agent_text("abc"))]


def test_each_read_is_handed_over_at_its_end() -> None:
    agent, client = agent_and_client()
    agent.data_received(chunk_line("a") + chunk_line("b"))
    assert client.events == [("s", agent_text("ab"))]
    assert client.flushes == 1
    agent.data_received(chunk_line("c"))
    assert client.events[1:] == [("s", agent_text("c"))]
    assert client.flushes == 2


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ({}, {"session": "other"}),
        ({}, {"kind": "agent_thought_chunk"}),
        ({}, {"kind": "user_message_chunk"}),
        ({"messageId": "m1"}, {"messageId": "m2"}),
        ({"messageId": "m1"}, {}),
        ({}, {"_meta": {"claudeCode": {"parentToolUseId": "t"}}}),
    ],
)
def test_a_run_ends_where_something_differs(one: dict[str, Any], two: dict[str, Any]) -> None:
    events = events_of(chunk_line("a", **one) + chunk_line("b", **two) + chunk_line("c", **one))
    assert [event.text for _, event in events] == ["a", "b", "c"]


def test_meta_that_names_no_parent_ends_no_run() -> None:
    events = events_of(chunk_line("a", _meta={"x": 1}) + chunk_line("b", _meta=None) + chunk_line("c"))
    assert events == [("s", agent_text("abc"))]


def test_a_trace_shows_each_chunk_beside_its_line() -> None:
    agent, client = agent_and_client(tracing=True)
    agent.data_received(chunk_line("a") + chunk_line("b"))
    assert client.events == [("s", agent_text("a")), ("s", agent_text("b"))]


def test_kinds_ids_and_parents_are_told() -> None:
    parent = {"claudeCode": {"parentToolUseId": "t"}}
    events = events_of(
        chunk_line("a", "agent_thought_chunk", messageId="m")
        + chunk_line("b", "user_message_chunk")
        + chunk_line("c", _meta=parent)
    )
    assert events == [
        ("s", ThoughtChunk(text="a", message_id="m")),
        ("s", MessageChunk(role="user", text="b")),
        ("s", agent_text("c", parent="t")),
    ]


def test_anything_else_comes_after_the_text_before_it() -> None:
    events = events_of(
        chunk_line("a")
        + update_line({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "T"})
        + chunk_line("b")
        + update_line({"sessionUpdate": "plan", "entries": []})
    )
    assert [type(event) for _, event in events] == [MessageChunk, ToolCall, MessageChunk, Plan]


def test_text_that_takes_the_tolerant_way_keeps_its_place() -> None:
    annotated = {"type": "text", "text": "b", "annotations": {"audience": ["user"]}}
    events = events_of(
        chunk_line("a")
        + update_line({"sessionUpdate": "agent_message_chunk", "content": annotated})
        + update_line(
            {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "c"}}, _meta={"x": 1}
        )
        + chunk_line("d")
    )
    assert "".join(event.text for _, event in events) == "abcd"


@pytest.mark.parametrize("cut", ["one read", "two reads"])
def test_an_emoji_cut_in_half_is_made_whole(cut: str) -> None:
    first, second = chunk_line("say \ud83d"), chunk_line("\ude00!")
    assert b"\\ud83d" in first
    reads = [first + second] if cut == "one read" else [first, second]
    assert joined(events_of(*reads)) == [("s", agent_text("say \U0001f600!"))]


def test_half_an_emoji_whose_other_half_never_comes_is_replaced() -> None:
    agent, client = agent_and_client()
    agent.data_received(chunk_line("say \ud83d"))
    assert client.events == [("s", agent_text("say "))]
    agent.data_received(update_line({"sessionUpdate": "plan", "entries": []}))
    assert client.events[1:] == [("s", agent_text("\ufffd")), ("s", Plan(entries=[]))]


def test_a_lone_low_surrogate_is_replaced() -> None:
    assert events_of(chunk_line("x\ude00y")) == [("s", agent_text("x\ufffdy"))]


def test_only_the_exact_shape_takes_the_short_way() -> None:
    run = ChunkRun(lambda session, event: None)
    for line in (
        b"",
        b"[]",
        b'"_chunk\\""',
        chunk_line("a")[:-3],
        chunk_line("a").replace(b'"method"', b'"id": 1, "method"'),
        chunk_line("a").replace(b"session/update", b"session/other"),
        chunk_line("a").replace(b'"text": "a"', b'"text": 1'),
        b'{"x":"_chunk\\"' + b"[" * 100_000,
    ):
        assert not run.take(line.strip())
    assert run.take(chunk_line("a").strip())


def test_recorded_lines_mean_what_they_say() -> None:
    """Text, tools and the rest of real agents, read as one stream."""
    lines = [json.loads(line) for line in RECORDED.read_text("utf-8").splitlines()]
    stream = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    events = events_of(stream)
    assert [session for session, _ in events] == [line["params"]["sessionId"] for line in lines]
    assert "Unknown" not in {type(event).__name__ for _, event in events}


pieces = st.lists(
    st.one_of(
        st.builds(
            chunk_line,
            st.text(max_size=6),
            st.sampled_from(["agent_message_chunk", "agent_thought_chunk", "user_message_chunk"]),
            st.sampled_from(["s", "t"]),
        ),
        st.builds(lambda text: chunk_line(text, messageId="m"), st.text(max_size=6)),
        st.just(update_line({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "T"})),
        st.just(update_line({"sessionUpdate": "mystery", "x": [1]})),
        st.sampled_from([chunk_line("\ud83d"), chunk_line("\ude00")]),
        st.sampled_from([b"noise\n", b"\n", b"42\n", b"\xff\xfe\n"]),
    ),
    max_size=12,
)


@settings(deadline=None)
@given(lines=pieces, cuts=st.lists(st.integers(min_value=1, max_value=40), max_size=30))
def test_any_cut_of_the_stream_says_the_same(lines: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(lines) + update_line({"sessionUpdate": "plan", "entries": []})
    reads, rest = [], stream
    for cut in cuts:
        reads.append(rest[:cut])
        rest = rest[cut:]
    assert joined(events_of(*reads, rest)) == joined(events_of(stream))


def test_a_text_that_is_no_text_is_the_tolerant_readers() -> None:
    seen: list[AnyEvent] = []
    run = ChunkRun(lambda session, event: seen.append(event))
    image = {"type": "image", "data": "", "mimeType": "image/png"}
    assert not run.take(update_line({"sessionUpdate": "agent_message_chunk", "content": image}).strip())
    assert seen == []
