"""session/update to events: one row a case, what is wrong dropped singly, what is unknown kept."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from acp_bridge.agents.acp.options import SessionOptions
from acp_bridge.agents.acp.updates import KINDS, read
from acp_bridge.agents.events import (
    Commands,
    Compaction,
    Event,
    MessageChunk,
    Notice,
    Plan,
    PlanRemoved,
    SessionInfo,
    ThoughtChunk,
    ToolCall,
    ToolOutput,
    Unknown,
    Usage,
)

IMAGE = {"type": "image", "data": "AA==", "mimeType": "image/png"}
DIFF = {"type": "diff", "path": "/w/a", "oldText": None, "newText": "x"}
TEXT_ITEM = {"type": "content", "content": {"type": "text", "text": "t"}}


def said(update: str, /, **fields: Any) -> dict[str, Any]:
    return {"sessionUpdate": update, **fields}


def events(update: Any) -> list[Event]:
    return read(update, SessionOptions())


CASES: list[tuple[str, dict[str, Any], list[Event]]] = [
    (
        "agent text",
        said("agent_message_chunk", content={"type": "text", "text": "hi"}, messageId="m"),
        [MessageChunk(role="agent", text="hi", message_id="m")],
    ),
    (
        "user echo",
        said("user_message_chunk", content={"type": "text", "text": "hi"}),
        [MessageChunk(role="user", text="hi")],
    ),
    (
        "empty text",
        said("agent_message_chunk", content={"type": "text", "text": ""}, messageId=None),
        [MessageChunk(role="agent", text="")],
    ),
    (
        "a bad message id is no id",
        said("agent_message_chunk", content={"type": "text", "text": "x"}, messageId=7),
        [MessageChunk(role="agent", text="x")],
    ),
    ("an image", said("agent_message_chunk", content=IMAGE), [MessageChunk(role="agent", block=IMAGE)]),
    (
        "an unknown block",
        said("agent_message_chunk", content={"type": "hologram", "depth": 3}),
        [MessageChunk(role="agent", block={"type": "hologram", "depth": 3})],
    ),
    (
        "a list of blocks",
        said("agent_message_chunk", content=[{"type": "text", "text": "a"}, 5, IMAGE]),
        [MessageChunk(role="agent", text="a"), MessageChunk(role="agent", block=IMAGE)],
    ),
    ("a bare string", said("agent_message_chunk", content="a"), [MessageChunk(role="agent", text="a")]),
    (
        "a subagent's text",
        said(
            "agent_message_chunk",
            content={"type": "text", "text": "x"},
            _meta={"claudeCode": {"parentToolUseId": "toolu_1"}},
        ),
        [MessageChunk(role="agent", text="x", parent="toolu_1")],
    ),
    (
        "a thought",
        said("agent_thought_chunk", content={"type": "text", "text": "hm"}, messageId="m"),
        [ThoughtChunk(text="hm", message_id="m")],
    ),
    (
        "a whole tool call",
        said(
            "tool_call",
            toolCallId="t",
            title="Read a",
            kind="read",
            status="pending",
            content=[TEXT_ITEM],
            locations=[{"path": "/w/a", "line": 3}],
            rawInput={"path": "/w/a"},
            name="read_file",
        ),
        [
            ToolCall(
                id="t",
                announced=True,
                name="read_file",
                title="Read a",
                kind="read",
                status="pending",
                content=[TEXT_ITEM],
                locations=[{"path": "/w/a", "line": 3}],
                raw_input={"path": "/w/a"},
            )
        ],
    ),
    ("a tool call without a title", said("tool_call", toolCallId="t"), [ToolCall(id="t", announced=True)]),
    (
        "null keeps in v1",
        said(
            "tool_call_update",
            toolCallId="t",
            title=None,
            kind=None,
            status=None,
            content=None,
            locations=None,
            rawInput=None,
            rawOutput=None,
            name=None,
        ),
        [ToolCall(id="t")],
    ),
    (
        "an empty list clears",
        said("tool_call_update", toolCallId="t", content=[], locations=[]),
        [ToolCall(id="t", content=[], locations=[])],
    ),
    (
        "unknown words stay",
        said("tool_call_update", toolCallId="t", kind="levitate", status="pondering"),
        [ToolCall(id="t", kind="levitate", status="pondering")],
    ),
    (
        "bad content items go singly, a bare block is wrapped, an unknown one stays",
        said(
            "tool_call_update",
            toolCallId="t",
            content=[
                7,
                {"type": "content"},
                {"type": "diff", "path": "/w/a"},
                {"type": "terminal"},
                {"no": "type"},
                {"type": "text", "text": "bare"},
                DIFF,
                {"type": "terminal", "terminalId": "x"},
                {"type": "future", "x": 1},
            ],
        ),
        [
            ToolCall(
                id="t",
                content=[
                    {"type": "content", "content": {"type": "text", "text": "bare"}},
                    DIFF,
                    {"type": "terminal", "terminalId": "x"},
                    {"type": "future", "x": 1},
                ],
            )
        ],
    ),
    (
        "bad locations and lines",
        said(
            "tool_call_update",
            toolCallId="t",
            locations=[{"path": 3}, {"path": "/a", "line": 0}, {"path": "/b", "line": "x"}, {"path": "/c"}],
        ),
        [ToolCall(id="t", locations=[{"path": "/a", "line": 1}, {"path": "/b"}, {"path": "/c"}])],
    ),
    (
        "raw values of any type stay",
        said("tool_call_update", toolCallId="t", rawInput=[1], rawOutput="text"),
        [ToolCall(id="t", raw_input=[1], raw_output="text")],
    ),
    (
        "name and parent from _meta",
        said(
            "tool_call",
            toolCallId="t",
            _meta={"claudeCode": {"toolName": "Bash", "parentToolUseId": "up"}},
        ),
        [
            ToolCall(
                id="t",
                announced=True,
                name="Bash",
                parent="up",
                meta={"claudeCode": {"toolName": "Bash", "parentToolUseId": "up"}},
            )
        ],
    ),
    (
        "a call is not its own parent",
        said("tool_call", toolCallId="t", _meta={"parentToolUseId": "t"}),
        [ToolCall(id="t", announced=True, meta={"parentToolUseId": "t"})],
    ),
    (
        "output of a terminal that is only shown",
        said(
            "tool_call_update",
            toolCallId="t",
            _meta={"terminal_output": {"terminal_id": "t", "data": "line\n"}},
        ),
        [
            ToolCall(id="t", meta={"terminal_output": {"terminal_id": "t", "data": "line\n"}}),
            ToolOutput(tool_call_id="t", text="line\n"),
        ],
    ),
    (
        "start and end of a terminal that is only shown",
        said(
            "tool_call_update",
            toolCallId="t",
            _meta={
                "terminal_info": {"terminal_id": "t"},
                "terminal_exit": {"terminal_id": "t", "exit_code": 3},
            },
        ),
        [
            ToolCall(
                id="t",
                meta={
                    "terminal_info": {"terminal_id": "t"},
                    "terminal_exit": {"terminal_id": "t", "exit_code": 3},
                },
            )
        ],
    ),
    (
        "a plan",
        said(
            "plan",
            entries=[
                {"content": "a", "priority": "high", "status": "done?", "x": 1},
                {"status": "pending"},
                "b",
                {"content": "c"},
            ],
        ),
        [
            Plan(
                entries=[
                    {"content": "a", "priority": "high", "status": "done?", "x": 1},
                    {"content": "c", "priority": "medium", "status": "pending"},
                ]
            )
        ],
    ),
    ("an emptied plan", said("plan", entries=[]), [Plan(entries=[])]),
    (
        "a plan by id",
        said("plan_update", plan={"type": "items", "planId": "p", "entries": [{"content": "a"}]}),
        [Plan(entries=[{"content": "a", "priority": "medium", "status": "pending"}], plan_id="p")],
    ),
    (
        "a Markdown plan",
        said("plan_update", plan={"type": "markdown", "planId": "p", "content": "# P"}),
        [Plan(entries=[], plan_id="p", content="# P")],
    ),
    (
        "a plan in a file",
        said("plan_update", plan={"type": "file", "planId": "p", "uri": "file:///w/p.md"}),
        [Plan(entries=[], plan_id="p", uri="file:///w/p.md")],
    ),
    ("a plan goes", said("plan_removed", planId="p"), [PlanRemoved(plan_id="p")]),
    (
        "commands",
        said(
            "available_commands_update",
            availableCommands=[
                {"name": "web", "description": "d", "input": {"hint": "h"}},
                {"description": "nameless"},
                {"name": "bare"},
            ],
        ),
        [
            Commands(
                commands=[
                    {"name": "web", "description": "d", "input": {"hint": "h"}},
                    {"name": "bare", "description": ""},
                ]
            )
        ],
    ),
    (
        "usage",
        said("usage_update", used=5, size=10.0, cost={"amount": 0.5, "currency": "USD"}),
        [Usage(used=5, size=10, cost={"amount": 0.5, "currency": "USD"})],
    ),
    ("usage with a bad cost", said("usage_update", used=5, size=0, cost=3), [Usage(used=5, size=0)]),
    (
        "a title cleared",
        said("session_info_update", title=None),
        [SessionInfo(title=None)],
    ),
    (
        "a title kept",
        said("session_info_update", updatedAt="2026-01-01T00:00:00Z", title=4),
        [SessionInfo(updated_at="2026-01-01T00:00:00Z")],
    ),
    (
        "a notice",
        said("notice", severity="grave", title="T", description="D"),
        [Notice(severity="grave", title="T", description="D")],
    ),
    (
        "compaction",
        said("compaction_update", compactionId="c", status="in_progress", error=None),
        [Compaction(compaction_id="c", status="in_progress", error=None)],
    ),
    (
        "compaction with a summary",
        said(
            "compaction_update",
            compactionId="c",
            status="completed",
            summary=[{"type": "text", "text": "a"}, IMAGE, {"type": "text", "text": "b"}],
        ),
        [Compaction(compaction_id="c", status="completed", summary="ab")],
    ),
    (
        "a piece of a summary",
        said("compaction_summary_chunk", compactionId="c", content={"type": "text", "text": "x"}),
        [Compaction(compaction_id="c", summary_append="x")],
    ),
]


@pytest.mark.parametrize(
    ("update", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_an_update_means(update: dict[str, Any], expected: list[Event]) -> None:
    assert events(update) == expected


@pytest.mark.parametrize(
    "update",
    [
        said("agent_message_chunk"),
        said("agent_message_chunk", content=7),
        said("agent_thought_chunk", content=IMAGE),
        said("tool_call", title="no id"),
        said("tool_call_update", toolCallId=4),
        said("plan", entries="none"),
        said("plan_update", plan={"type": "tree", "planId": "p"}),
        said("plan_update", plan={"type": "items"}),
        said("plan_removed"),
        said("available_commands_update"),
        said("current_mode_update"),
        said("config_option_update"),
        said("usage_update", used="5"),
        said("usage_update", used=True, size=-1),
        said("notice", title="t"),
        said("compaction_update", status="completed"),
        said("compaction_summary_chunk", compactionId="c", content=IMAGE),
        said("subagent_update", sessionId="child", title="helper"),
        {"no": "kind"},
        {"sessionUpdate": 5},
        "text",
        None,
        [1],
    ],
    ids=lambda update: json.dumps(update)[:60],
)
def test_what_cannot_be_read_is_kept_raw(update: Any) -> None:
    (event,) = events(update)
    assert isinstance(event, Unknown)
    assert event.raw == update


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
FIELDS = [
    "content",
    "messageId",
    "toolCallId",
    "title",
    "name",
    "kind",
    "status",
    "locations",
    "rawInput",
    "rawOutput",
    "entries",
    "plan",
    "planId",
    "availableCommands",
    "currentModeId",
    "configOptions",
    "updatedAt",
    "used",
    "size",
    "cost",
    "severity",
    "description",
    "compactionId",
    "summary",
    "error",
    "_meta",
]
typed_values = json_values | st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(("type", "text", "path", "planId", "id", "name", "options", "data"), json_values),
)


@settings(deadline=None)
@given(
    kind=st.sampled_from(sorted(KINDS)) | st.text(max_size=10),
    fields=st.dictionaries(
        st.sampled_from(FIELDS), typed_values | st.lists(typed_values, max_size=3), max_size=6
    ),
)
def test_no_update_whatever_breaks_the_reader(kind: str, fields: dict[str, Any]) -> None:
    for event in events({"sessionUpdate": kind, **fields}):
        assert isinstance(event, Event)


@settings(deadline=None)
@given(
    kind=st.text(max_size=12).filter(lambda kind: kind not in KINDS),
    fields=st.dictionaries(st.text(max_size=6), json_values, max_size=4),
)
def test_no_field_of_an_unknown_kind_is_lost(kind: str, fields: dict[str, Any]) -> None:
    update = {**fields, "sessionUpdate": kind}
    assert events(update) == [Unknown(kind=kind, raw=update, parent=events(update)[0].parent)]


def test_absent_and_null_differ_where_null_clears() -> None:
    (event,) = events(said("session_info_update"))
    assert isinstance(event, SessionInfo)
    assert (event.title, event.updated_at) == (UNSET, UNSET)
