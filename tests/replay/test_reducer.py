"""The judge itself, on conversations written by hand, one rule a test."""

from __future__ import annotations

from typing import Any

from replay.reducer import Session, reduce

Json = dict[str, Any]


def chunk(text: str, message_id: str | None = None, kind: str = "agent_message_chunk") -> Json:
    named = {"messageId": message_id} if message_id else {}
    return {"sessionUpdate": kind, "content": {"type": "text", "text": text}, **named}


def thought(text: str, message_id: str | None = None) -> Json:
    return chunk(text, message_id, "agent_thought_chunk")


def call(tool_id: str, **fields: Any) -> Json:
    return {"sessionUpdate": "tool_call", "toolCallId": tool_id, **fields}


def shown(*said: Json | str, stop: Json | None = None) -> list[list[Any]]:
    """The entries after a prompt "go", these updates ("cancel" is the user's) and the answer."""
    steps: list[tuple[str, Json]] = [
        ("->", {"id": 1, "method": "session/new", "params": {}}),
        ("<-", {"id": 1, "result": {"sessionId": "s"}}),
        (
            "->",
            {"id": 2, "method": "session/prompt", "params": {"sessionId": "s", "prompt": [{"text": "go"}]}},
        ),
    ]
    for item in said:
        if item == "cancel":
            steps.append(("->", {"method": "session/cancel", "params": {"sessionId": "s"}}))
        elif isinstance(item, dict) and "options" in item:
            params = {"sessionId": "s", **item}
            steps.append(("<-", {"id": 0, "method": "session/request_permission", "params": params}))
        else:
            steps.append(("<-", {"method": "session/update", "params": {"sessionId": "s", "update": item}}))
    if stop is not None:
        steps.append(("<-", {"id": 2, **stop}))
    entries = reduce(steps)["s"].entries
    assert entries[0] == ["user", "go"]
    return entries[1:]


END = {"result": {"stopReason": "end_turn"}}


def test_messages_group_by_id_then_by_run() -> None:
    said = [chunk("a", "1"), chunk("b", "1"), chunk("c", "2"), chunk("d"), chunk("e"), call("t"), chunk("f")]
    texts = [entry[1] for entry in shown(*said) if entry[0] == "agent"]
    assert texts == ["ab", "c", "de", "f"]


def test_thoughts_and_messages_of_one_id_are_kept_apart() -> None:
    entries = shown(thought("x", "1"), chunk("a", "1"), thought("y", "1"), chunk("b", "1"))
    assert entries == [["thought", "xy"], ["agent", "ab"]]


def test_another_kind_ends_a_run_and_state_updates_do_not() -> None:
    usage = {"sessionUpdate": "usage_update", "used": 1, "size": 2}
    assert shown(chunk("a"), usage, chunk("b"), thought("x"), chunk("c")) == [
        ["agent", "ab"],
        ["thought", "x"],
        ["agent", "c"],
    ]


def test_an_empty_chunk_adds_nothing() -> None:
    assert shown(chunk(""), thought(""), chunk("a")) == [["agent", "a"]]


def test_tool_calls_are_upserts() -> None:
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "t"}
    assert shown(call("t", title="x"), {**update, "status": None, "title": None}) == [
        ["tool", "x", "pending"]
    ]
    assert shown(update, call("t", title="x", status="in_progress")) == [["tool", "x", "in_progress"]]


def test_an_update_of_a_known_call_ends_no_run() -> None:
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed"}
    assert shown(call("t", title="x"), chunk("a"), update, chunk("b"))[1:] == [["agent", "ab"]]


def test_a_permission_makes_its_call_and_updates_it() -> None:
    asked = {"toolCall": {"toolCallId": "t", "title": "run it"}, "options": []}
    assert shown(asked) == [["tool", "run it", "pending"]]
    assert shown(call("t", title="bash", status="in_progress"), asked) == [["tool", "run it", "in_progress"]]


def test_the_end_of_a_turn_closes_what_is_open() -> None:
    assert shown(call("t", title="x", status="in_progress"), stop=END) == [
        ["tool", "x", "cancelled"],
        ["stop", "end_turn"],
    ]


def test_a_late_word_does_not_reopen_a_finished_call() -> None:
    late = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "in_progress"}
    assert shown(call("t", title="x", status="completed"), late) == [["tool", "x", "completed"]]


def test_after_a_cancel_the_agents_last_word_counts() -> None:
    done = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed"}
    stop = {"result": {"stopReason": "cancelled"}}
    assert shown(call("t", title="x"), "cancel", stop=stop) == [
        ["tool", "x", "cancelled"],
        ["stop", "cancelled"],
    ]
    assert shown(call("t", title="x"), "cancel", done, stop=stop)[0] == ["tool", "x", "completed"]


def test_an_error_is_shown_unless_the_user_cancelled() -> None:
    error = {"error": {"code": 400, "message": "no"}}
    assert shown(stop=error) == [["error"], ["stop", "error"]]
    assert shown("cancel", stop=error) == [["stop", "cancelled"]]


def test_a_refusal_is_an_error_too() -> None:
    assert shown(stop={"result": {"stopReason": "refusal"}}) == [["error"], ["stop", "refusal"]]


def test_a_cancel_between_turns_closes_what_came_late() -> None:
    steps = [
        ("->", {"id": 2, "method": "session/prompt", "params": {"sessionId": "s", "prompt": []}}),
        ("<-", {"id": 2, **END}),
        ("<-", {"method": "session/update", "params": {"sessionId": "s", "update": call("t", title="late")}}),
        ("->", {"method": "session/cancel", "params": {"sessionId": "s"}}),
    ]
    assert reduce(steps)["s"].entries[2:] == [["tool", "late", "cancelled"]]


def test_a_plan_replaces_the_plan() -> None:
    first, second = [{"content": "a"}], [{"content": "a"}, {"content": "b"}]
    plans = [{"sessionUpdate": "plan", "entries": entries} for entries in (first, second)]
    assert shown(*plans) == [["plan", second]]


def test_an_echo_and_unknown_kinds_change_nothing() -> None:
    assert shown(chunk("go", kind="user_message_chunk"), {"sessionUpdate": "commands_or_so"}) == []


def test_a_session_is_there_from_its_answer_on() -> None:
    steps = [
        ("->", {"id": "1", "method": "session/new", "params": {}}),
        ("<-", {"id": "1", "result": {"sessionId": "s"}}),
    ]
    assert reduce(steps) == {"s": Session()}
