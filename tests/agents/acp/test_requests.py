"""What an agent asks: read from the wire, checked, answered in the method's own shape."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_bridge.agents.acp.requests import METHODS, Served
from acp_bridge.agents.events import (
    ExtensionRequest,
    PermissionRequest,
    ReadFile,
    Request,
    ToolCall,
    WriteFile,
)
from agents.acp.stream import agent_and_client, chunk_line, events_of
from agents.recorder import Recorder

OPTIONS = [{"optionId": "o", "name": "O", "kind": "allow_once"}]


def ask(method: str, params: Any, **config: Any) -> tuple[list[Request], list[dict[str, Any]]]:
    """(requests the client saw, answers on the wire so far)."""
    agent, client = agent_and_client(tracing=True, **config)
    client.permission = None
    agent.data_received(call_line(method, params))
    return client.of(Request), answers_of(client)


def call_line(method: str, params: Any, call_id: Any = 1) -> bytes:
    call = {"jsonrpc": "2.0", "id": call_id, "method": method, "params": params}
    return json.dumps(call).encode() + b"\n"


def answers_of(client: Recorder) -> list[dict[str, Any]]:
    return [json.loads(raw) for way, raw in client.traced if way == "out"]


def test_a_permission_request() -> None:
    tool = {"toolCallId": "t", "title": "T", "content": [{"type": "text", "text": "bare"}]}
    (request,), answers = ask(
        "session/request_permission", {"sessionId": "s", "toolCall": tool, "options": OPTIONS}
    )
    assert isinstance(request, PermissionRequest)
    assert request.options == OPTIONS
    assert request.tool_call == ToolCall(
        id="t", title="T", content=[{"type": "content", "content": {"type": "text", "text": "bare"}}]
    )
    assert answers == []


def test_odd_options_are_kept_and_bad_ones_dropped() -> None:
    options = [
        {"optionId": "a", "kind": "allow_for_session"},
        {"name": "no id"},
        3,
        {"optionId": "b", "kind": 4},
    ]
    (request,), _ = ask(
        "session/request_permission", {"sessionId": "s", "toolCall": None, "options": options}
    )
    assert isinstance(request, PermissionRequest)
    assert request.options == [
        {"optionId": "a", "name": "a", "kind": "allow_for_session"},
        {"optionId": "b", "name": "b"},
    ]
    assert request.tool_call is None


def test_a_permission_whose_call_has_no_id_gets_one() -> None:
    params = {"sessionId": "s", "toolCall": {"title": "rm", "rawInput": {"x": 1}}, "options": OPTIONS}
    (request,), _ = ask("session/request_permission", params)
    assert isinstance(request, PermissionRequest)
    assert request.tool_call is not None
    assert request.tool_call.id
    assert (request.title, request.tool_call.raw_input) == ("rm", {"x": 1})


@pytest.mark.parametrize("outcome", [{"outcome": "selected", "optionId": "o"}, {"outcome": "cancelled"}])
def test_the_outcome_of_a_permission_on_the_wire(outcome: dict[str, Any]) -> None:
    agent, client = agent_and_client(tracing=True)
    client.permission = None
    params = {"sessionId": "s", "toolCall": {"toolCallId": "t"}, "options": OPTIONS}
    agent.data_received(call_line("session/request_permission", params, "abc"))
    (request,) = client.of(Request)
    assert request.reply.answer(outcome)
    assert not request.reply.fail(-1, "late")
    assert answers_of(client) == [{"jsonrpc": "2.0", "id": "abc", "result": {"outcome": outcome}}]


def test_a_withdrawn_permission_tells_whoever_waits() -> None:
    agent, client = agent_and_client(tracing=True)
    client.permission = None
    params = {"sessionId": "s", "toolCall": {"toolCallId": "t"}, "options": OPTIONS}
    agent.data_received(call_line("session/request_permission", params, 0))
    (request,) = client.of(Request)
    told: list[str] = []
    request.reply.on_cancel(lambda: told.append("withdrawn"))
    cancel = {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 0}}
    agent.data_received(json.dumps(cancel).encode() + b"\n")
    assert told == ["withdrawn"]
    assert request.reply.answer({"outcome": "cancelled"})


def test_files_are_read_and_written_in_their_shapes() -> None:
    agent, client = agent_and_client(tracing=True)
    client.files["/w/a"] = "text"
    for call_id, method, params in (
        (0, "fs/read_text_file", {"sessionId": "s", "path": "/w/a", "line": 0, "limit": 2}),
        (None, "fs/write_text_file", {"sessionId": "s", "path": "/w/b", "content": ""}),
        ("x", "fs/read_text_file", {"sessionId": "s", "path": "/w/c", "line": None}),
    ):
        agent.data_received(call_line(method, params, call_id))
    read, write, missing = client.of(Request)
    assert isinstance(read, ReadFile)
    assert (read.path, read.line, read.limit) == ("/w/a", 1, 2)
    assert isinstance(write, WriteFile)
    assert client.files["/w/b"] == ""
    assert isinstance(missing, ReadFile)
    assert missing.line is None
    first, second, third = answers_of(client)
    assert first == {"jsonrpc": "2.0", "id": 0, "result": {"content": "text"}}
    assert second == {"jsonrpc": "2.0", "id": None, "result": {}}
    assert (third["id"], third["error"]["code"]) == ("x", -32002)


@pytest.mark.parametrize(
    ("method", "params", "named"),
    [
        ("fs/read_text_file", {"path": "/w/a"}, "sessionId"),
        ("fs/read_text_file", {"sessionId": 5, "path": "/w/a"}, "sessionId"),
        ("fs/read_text_file", {"sessionId": "s"}, "path"),
        ("fs/read_text_file", {"sessionId": "s", "path": ""}, "path"),
        ("fs/read_text_file", {"sessionId": "s", "path": "../x"}, "path"),
        ("fs/read_text_file", {"sessionId": "s", "path": "~/x"}, "path"),
        ("fs/read_text_file", {"sessionId": "s", "path": "file:///x"}, "path"),
        ("fs/read_text_file", {"sessionId": "s", "path": "/w/\0a"}, "path"),
        ("fs/read_text_file", {"sessionId": "s", "path": "/w/a", "line": -1}, "line"),
        ("fs/read_text_file", {"sessionId": "s", "path": "/w/a", "line": True}, "line"),
        ("fs/read_text_file", {"sessionId": "s", "path": "/w/a", "limit": "2"}, "limit"),
        ("fs/write_text_file", {"sessionId": "s", "path": "~/x", "content": ""}, "path"),
        ("fs/write_text_file", {"sessionId": "s", "path": "/w/a"}, "content"),
        ("fs/write_text_file", {"sessionId": "s", "path": "/w/a", "content": 5}, "content"),
        ("session/request_permission", {"toolCall": {"toolCallId": "t"}, "options": OPTIONS}, "sessionId"),
        ("session/request_permission", {"sessionId": "s"}, "options"),
        ("session/request_permission", {"sessionId": "s", "options": []}, "options"),
        ("session/request_permission", {"sessionId": "s", "options": [{"name": "x"}]}, "options"),
        ("fs/read_text_file", [1], "params"),
        ("fs/read_text_file", "text", "params"),
        ("fs/read_text_file", None, "params"),
    ],
)
def test_bad_parameters_are_named_and_nobody_is_bothered(method: str, params: Any, named: str) -> None:
    seen, (answer,) = ask(method, params)
    assert seen == []
    assert answer["error"]["code"] == -32602
    assert answer["error"]["data"] == {"param": named}
    assert named in answer["error"]["message"]


@pytest.mark.parametrize("path", ["/w/a", "C:\\w\\a", "C:/w/a"])
def test_absolute_paths_pass(path: str) -> None:
    (request,), _ = ask("fs/read_text_file", {"sessionId": "s", "path": path})
    assert isinstance(request, ReadFile)
    assert request.path == path


def test_meta_never_overrides_a_parameter() -> None:
    params = {"sessionId": "s", "path": "/w/a", "_meta": {"path": "/etc/shadow", "sessionId": "other"}}
    agent, client = agent_and_client(tracing=True)
    agent.data_received(call_line("fs/read_text_file", params))
    assert [(session, event.path) for session, event in client.events] == [("s", "/w/a")]


@pytest.mark.parametrize(
    ("method", "config"),
    [
        ("terminal/create", {}),
        ("terminal/output", {}),
        ("terminal/wait_for_exit", {}),
        ("terminal/kill", {}),
        ("terminal/release", {}),
        ("elicitation/create", {}),
        ("fs/read_text_file", {"client_fs": False}),
        ("fs/write_text_file", {"client_fs": False}),
    ],
)
def test_what_was_not_announced_is_not_served(method: str, config: dict[str, Any]) -> None:
    seen, (answer,) = ask(method, {"sessionId": "s", "path": "/w/a", "content": "x"}, **config)
    assert seen == []
    assert answer["error"]["code"] == -32601


@pytest.mark.parametrize("params", [{"sessionId": "s", "x": 1}, {"x": 1}, [1], None])
def test_other_methods_are_extensions(params: Any) -> None:
    (request,), answers = ask("_vendor/thing", params)
    assert isinstance(request, ExtensionRequest)
    assert (request.method, request.params) == ("_vendor/thing", params)
    assert answers == []


def test_a_request_keeps_its_place_among_the_updates() -> None:
    call = call_line("fs/read_text_file", {"sessionId": "s", "path": "/a"})
    events = events_of(chunk_line("a") + chunk_line("b") + call + chunk_line("c"))
    assert [getattr(event, "text", "request") for _, event in events] == ["ab", "request", "c"]


def test_an_update_sent_as_a_request_is_applied_and_answered() -> None:
    agent, client = agent_and_client(tracing=True)
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}}
    agent.data_received(call_line("session/update", {"sessionId": "s", "update": update}, 9))
    assert client.text() == "x"
    assert answers_of(client) == [{"jsonrpc": "2.0", "id": 9, "result": {}}]


def test_what_is_announced() -> None:
    everything = Served(terminal=True, elicitation=frozenset({"form", "url"})).as_json()
    assert everything["terminal"] is True
    assert everything["elicitation"] == {"form": {}, "url": {}}
    withheld = Served(read=False, write=False).as_json()
    assert withheld["fs"] == {"readTextFile": False, "writeTextFile": False}
    assert withheld["terminal"] is False
    assert "elicitation" not in withheld


values = st.none() | st.booleans() | st.integers() | st.text(max_size=6) | st.lists(st.integers(), max_size=2)


@settings(deadline=None)
@given(
    method=st.sampled_from(sorted(METHODS)),
    params=st.dictionaries(
        st.sampled_from(["sessionId", "path", "content", "line", "limit", "options", "toolCall"]),
        values,
        max_size=6,
    )
    | values,
)
def test_every_request_is_passed_on_or_answered_with_an_error(method: str, params: Any) -> None:
    seen, answers = ask(method, params)
    assert len(seen) + len([a for a in answers if "error" in a and not seen]) == 1
