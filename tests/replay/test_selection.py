"""The rule that selects recordings, on cases written by hand, and that every one kept obeys it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from replay.conversation import TRACES, presumed_sessions, with_handshake
from replay.selection import Step, compact, expand, read, shorten, why_not


def ask(call_id: int, method: str, **params: Any) -> Step:
    return "->", {"id": call_id, "method": method, "params": params}


def answer(call_id: int, **result: Any) -> Step:
    return "<-", {"id": call_id, "result": result}


def test_a_plain_turn_is_playable() -> None:
    assert why_not([ask(1, "session/prompt", sessionId="s"), answer(1, stopReason="end_turn")]) == ""


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ([], "the client speaks of no session"),
        ([ask(1, "initialize"), answer(1)], "the client speaks of no session"),
        ([ask(1, "session/load"), answer(1)], "-> session/load"),
        ([ask(1, "session/new"), ("<-", {"id": 0, "method": "terminal/create"})], "<- terminal/create"),
        ([ask(1, "session/prompt"), ask(2, "session/prompt"), answer(1), answer(2)], "two prompts at once"),
        (
            [ask(1, "session/prompt"), ("<-", {"id": 1, "method": "fs/read_text_file"})],
            "a prompt is never answered",
        ),
    ],
)
def test_what_is_not_playable(steps: list[Step], reason: str) -> None:
    assert why_not(steps) == reason


@pytest.mark.parametrize("path", sorted(TRACES.glob("*.jsonl")), ids=lambda path: path.stem)
def test_every_recording_kept_obeys_the_rule_and_is_compact(path: Path) -> None:
    steps = read(path)
    assert why_not(steps) == ""
    assert path.read_text("utf-8") == compact(steps)


def test_all_agents_recorded_are_there() -> None:
    agents = {path.stem.rpartition("-")[0] for path in TRACES.glob("*.jsonl")}
    assert agents >= {"opencode", "claude-agent-acp", "claude-agent-acp-zed", "codex-acp-zed", "gemini"}
    assert agents >= {"fastagent", "fastagent-passthrough", "acp-sdk-agent", "kimi"}
    assert sum(path.stat().st_size for path in TRACES.iterdir()) < 1_000_000


def test_long_repetitions_are_shortened_and_restored() -> None:
    value = {"a": ["xy" * 5000, "short", {"b": "not one piece " + "z" * 5000}]}
    assert shorten(value)["a"][0] == {"$text": "xy", "$times": 5000}
    assert expand(shorten(value)) == value


def test_a_cut_recording_gets_the_handshake_and_the_sessions_it_presumes() -> None:
    init = [ask(1, "initialize"), answer(1), ask(2, "session/new", cwd="/"), answer(2, sessionId="first")]
    cut = [ask(9, "session/prompt", sessionId="old"), answer(9, stopReason="end_turn")]
    assert presumed_sessions(cut) == ["old"]
    steps = with_handshake(cut, init)
    methods = [message.get("method") for _, message in steps]
    assert methods == ["initialize", None, "session/new", None, "session/prompt", None]
    assert steps[3][1]["result"] == {"sessionId": "old"}
    assert steps[3][1]["id"] == steps[2][1]["id"]
