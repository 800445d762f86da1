"""The small parts: secrets, diffs, exit statuses, the trace."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest

from acp_bridge.agents.events import MessageChunk, ReadFile, ToolCall
from acp_bridge.faces.terminal.diff import MOST_LINES, diff_lines
from acp_bridge.faces.terminal.status import Ended, Failed
from acp_bridge.faces.terminal.trace import Trace, event_json
from acp_bridge.host.secrets import Masker


def test_secrets_are_masked_wherever_they_stand() -> None:
    environ = {"OPENAI_API_KEY": "sk-12345", "MY_TOKEN": 'tok"en', "EDITOR": "vim-with-a-long-name"}
    mask = Masker(
        environ, [{"CUSTOM_HEADER": "header-value", "DEBUG": "true", "LEVEL": "9", "API_KEY": "abcd"}]
    )
    text = 'sk-12345 tok\\"en header-value abcd true 9 vim-with-a-long-name'
    assert mask(text) == "••• ••• ••• ••• true 9 vim-with-a-long-name"


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer hush-hush",
        'authorization="Basic hush-hush"',
        '{"name":"Authorization","value":"Bearer hush-hush"}',
        "Bearer hush-hush-1234",
    ],
)
def test_headers_are_masked(text: str) -> None:
    assert "hush" not in Masker({})(text)


def test_json_is_masked_in_depth() -> None:
    value = {"a": ["sk-12345", {"Authorization": "anything", "n": 3}], "b": None}
    assert Masker({"X_KEY": "sk-12345"}).json(value) == {
        "a": ["•••", {"Authorization": "•••", "n": 3}],
        "b": None,
    }


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        (None, "a\nb\n", ["+a", "+b"]),
        ("a\n", "", ["-a"]),
        ("a\nb\nc\n", "a\nX\nc\n", [" a", "-b", "+X", " c"]),
        ("same\n", "same\n", []),
    ],
)
def test_diffs(old: str | None, new: str, lines: list[str]) -> None:
    assert [line for _, line in diff_lines(old, new)] == lines


def test_a_patch_is_shown_as_it_is() -> None:
    assert diff_lines(None, "", patch="@@ -1 +1 @@\n-a\n+b") == [
        ("cyan", "@@ -1 +1 @@"),
        ("red", "-a"),
        ("green", "+b"),
    ]


def test_huge_texts_cost_little() -> None:
    old = "".join(f"line {number}\n" for number in range(30_000))
    new = "".join(f"row {number}\n" for number in range(30_000))
    began = time.process_time()
    lines = diff_lines(old, new)
    assert time.process_time() - began < 2
    assert len(lines) == MOST_LINES + 1


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        (Ended("end_turn"), 0),
        (Ended("refusal"), 3),
        (Ended("max_tokens"), 3),
        (Ended("max_turn_requests"), 3),
        (Ended("cancelled"), 130),
        (Ended("interrupted"), 1),
        (Ended("a new word"), 1),
        (Failed("agentDied", ""), 1),
        (Failed("agentSpeaksNoAcp", ""), 1),
        (Failed("internal", ""), 1),
        (Failed("a new kind", ""), 1),
        (Failed("authRequired", ""), 4),
        (Failed("badParam", ""), 2),
        (Failed("config", ""), 2),
        (Failed("unknownAgent", ""), 2),
        (Failed("agentUnavailable", ""), 2),
    ],
)
def test_exit_statuses(outcome: Ended | Failed, status: int) -> None:
    assert outcome.status == status


class _Reply:
    def answer(self, result: Any) -> bool:
        return True

    def fail(self, code: int, message: str, data: Any = None) -> bool:
        return True

    def on_cancel(self, callback: Any) -> None:
        pass


def test_events_as_json_say_only_what_was_said() -> None:
    assert event_json(ToolCall(id="1", title="T", raw_input={"a": 1})) == {
        "event": "ToolCall",
        "id": "1",
        "title": "T",
        "raw_input": {"a": 1},
    }
    assert event_json(ReadFile(id="7", reply=_Reply(), path="/a")) == {
        "event": "ReadFile",
        "id": "7",
        "path": "/a",
    }


async def test_a_traced_line_stands_with_its_events_and_ops() -> None:
    lines: list[bytes] = []
    trace = Trace(lines.append, Masker({"A_KEY": "s3cr3t"}))
    trace.wire("x", "out", b'{"say":"s3cr3t"}\n')
    trace.ops({"ops": [{"op": "put"}]})
    trace.wire("x", "in", b"one\n")
    trace.event("x", MessageChunk(role="agent", text="hi"))
    trace.ops({"ops": [{"op": "append"}]})
    trace.wire("x", "in", b"two\n")
    await asyncio.sleep(0)
    records = [json.loads(line) for line in lines]
    assert [(r["dir"], r["raw"], len(r["events"]), r["ops"]) for r in records] == [
        ("out", '{"say":"•••"}', 0, []),
        ("host", None, 0, [{"op": "put"}]),
        ("in", "one", 1, [{"op": "append"}]),
        ("in", "two", 0, []),
    ]
    assert all(r["t"].endswith("Z") for r in records)
