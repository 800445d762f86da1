"""Every `acp/*` request over the wire with the demo agent: results, order, errors, documented shapes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from acp_bridge.faces.lsp.protocol.tables import NOTIFICATIONS, REQUESTS
from support.lsp_client import BRIDGE, LspClient, LspError, rich
from support.thread_model import ThreadModel

Json = dict[str, Any]
SCRIPTED = str(Path(__file__).parents[2] / "support" / "scripted.py")


@pytest.fixture
async def client(environ: dict[str, str], workspace: Path) -> AsyncIterator[LspClient]:
    async with LspClient.run(env=environ, acp=rich(), root=workspace) as client:
        yield client
        check_shapes(client)


def check_shapes(client: LspClient) -> None:
    """Every result and notification has the documented fields, all that are required and no others."""
    asked: dict[int, str] = {}
    for way, message in client.messages:
        method = message.get("method", "")
        if way == "out" and "id" in message:
            asked[message["id"]] = method
        elif way == "in" and method in NOTIFICATIONS:
            same(NOTIFICATIONS[method], message["params"], method)
        elif way == "in" and asked.get(message.get("id", -1)) in REQUESTS and "result" in message:
            name = asked[message["id"]]
            same(REQUESTS[name][1], message["result"], name)


def same(shape: Any, value: Json, name: str) -> None:
    assert shape.model_validate(value).model_dump(by_alias=True, exclude_unset=True) == value, name


def index(client: LspClient, method: str, **params: Any) -> int:
    """Where in the recorded messages the first such notification stands."""
    for number, (way, message) in enumerate(client.messages):
        if way == "in" and message.get("method") == method:
            got = message["params"]
            if all(got.get(key, got.get("session", {}).get(key)) == value for key, value in params.items()):
                return number
    raise AssertionError(f"no {method} {params}")


def answer_index(client: LspClient, method: str) -> int:
    """Where the answer to the last request of that method stands."""
    number = next(
        m["id"] for way, m in reversed(client.messages) if way == "out" and m.get("method") == method
    )
    return next(i for i, (way, m) in enumerate(client.messages) if way == "in" and m.get("id") == number)


async def test_a_whole_turn_in_the_order_that_is_promised(client: LspClient, workspace: Path) -> None:
    session = await client.new_session("demo")
    await client.wait_for(lambda: client.received("acp/session/changed"))
    assert client.sessions[session]["cwd"] == str(workspace)
    created = answer_index(client, "acp/session/new")
    assert created < index(client, "acp/session/changed", sessionId=session)
    assert all(session not in str(message) for way, message in client.messages[:created] if way == "in")
    turn = await client.turn(session, "hello", on_permission="allow_once")
    assert answer_index(client, "acp/session/prompt") < index(client, "acp/thread/changed", sessionId=session)
    [asked] = turn.permissions
    assert turn.stop_reason == "end_turn"
    assert [e["kind"] for e in turn.entries].count("stop") == 1 and turn.entries[-1]["kind"] == "stop"
    tool = next(e for e in turn.tools if e["id"] == asked["entryId"])
    assert tool["status"] == "completed"
    assert (workspace / "demo-notes.md").read_text().count("The demo agent was here.") >= 1
    stop = next(
        number
        for number, (way, m) in enumerate(client.messages)
        if way == "in" and m.get("method") == "acp/thread/changed" and "end_turn" in str(m)
    )
    await client.wait_for(
        lambda: any(
            m.get("method") == "acp/session/changed" and m["params"]["session"]["state"] == "idle"
            for way, m in client.messages[stop:]
        )
    )


async def test_a_permission_is_told_after_its_tool_call_and_resolved_once(client: LspClient) -> None:
    session = await client.new_session("demo")
    turn = await client.turn(session, "ask", on_permission="allow_once")
    request = turn.permissions[0]
    told = index(client, "acp/permission/requested")
    put = next(
        number
        for number, (way, m) in enumerate(client.messages)
        if way == "in" and m.get("method") == "acp/thread/changed" and request["entryId"] in str(m)
    )
    assert put < told
    assert request["action"]["details"]["command"] == "echo hello"
    [resolved] = client.received("acp/permission/resolved")
    allowed = {"outcome": "selected", "optionId": "allow"}
    assert resolved == {"requestId": request["requestId"], "outcome": allowed, "by": "user"}
    again = {"requestId": request["requestId"], "optionId": "reject"}
    late = await client.request("acp/permission/answer", again)
    assert late == {"accepted": False, "outcome": allowed, "by": "user"}


async def test_null_as_the_answer_to_a_permission_cancels_the_turn(client: LspClient) -> None:
    session = await client.new_session("demo")
    turn = await client.turn(session, "two permissions", on_permission=None)
    assert turn.stop_reason == "cancelled"
    assert {r["outcome"]["outcome"] for r in client.received("acp/permission/resolved")} == {"cancelled"}


async def test_cancel_in_the_middle_of_a_stream(client: LspClient) -> None:
    session = await client.new_session("demo")
    turn_id = await client.prompt(session, "slow")
    await client.wait_for(lambda: any(e["kind"] == "agent" for e in client.threads[session].entries))
    assert await client.request("acp/session/cancel", {"sessionId": session}) == {"cancelled": True}
    stop = await client.wait_for(lambda: client.stop_of(session, turn_id))
    assert stop["stopReason"] == "cancelled"
    assert await client.request("acp/session/cancel", {"sessionId": session}) == {"cancelled": False}


async def test_prompts_queue_and_the_queue_can_be_changed(client: LspClient) -> None:
    session = await client.new_session("demo")
    await client.prompt(session, "slow")
    second = await client.prompt(session, "plain")
    third = await client.prompt(session, "plain three")
    listed = await client.request("acp/session/queue", {"sessionId": session, "action": "list"})
    assert [item["turnId"] for item in listed["queue"]["items"]] == [second, third]
    left = await client.request(
        "acp/session/queue", {"sessionId": session, "action": "remove", "turnId": second}
    )
    assert [item["turnId"] for item in left["queue"]["items"]] == [third]
    await client.request(
        "acp/session/queue",
        {
            "sessionId": session,
            "action": "edit",
            "turnId": third,
            "prompt": [{"type": "text", "text": "plain"}],
        },
    )
    await client.request("acp/session/queue", {"sessionId": session, "action": "sendNow", "turnId": third})
    stop = await client.wait_for(lambda: client.stop_of(session, third))
    assert stop["stopReason"] == "end_turn"
    users = [e["blocks"][0]["text"] for e in client.threads[session].entries if e["kind"] == "user"]
    assert users == ["slow", "plain"]


async def test_thread_get_never_runs_ahead_of_what_was_told(client: LspClient) -> None:
    session = await client.new_session("demo")
    turn_id = await client.prompt(session, "big 2000")
    for _ in range(10):
        page = await client.request("acp/thread/get", {"sessionId": session})
        told = max((m["rev"] for m in client.received("acp/thread/changed")), default=0)
        at = answer_index(client, "acp/thread/get")
        before = [
            m["params"]["rev"]
            for way, m in client.messages[:at]
            if way == "in" and m.get("method") == "acp/thread/changed"
        ]
        assert max(before, default=0) == page["rev"] <= told
    await client.wait_for(lambda: client.stop_of(session, turn_id))
    whole = await client.request("acp/thread/get", {"sessionId": session})
    assert ThreadModel.of(whole).entries == client.threads[session].entries
    text = "".join(e["text"] for e in whole["entries"] if e["kind"] == "agent")
    assert text == "".join(f"line {n}\n" for n in range(1, 2001))


async def test_thread_get_gives_ops_since_a_revision_and_pages(client: LspClient) -> None:
    session = await client.new_session("demo")
    await client.turn(session, "plain")
    whole = await client.request("acp/thread/get", {"sessionId": session})
    since = {"sessionId": session, "epoch": whole["epoch"], "sinceRev": whole["rev"]}
    assert (await client.request("acp/thread/get", since))["ops"] == []
    page = await client.request("acp/thread/get", {"sessionId": session, "limit": 1})
    assert page["entries"] == whole["entries"][-1:]
    earlier = {"sessionId": session, "before": page["prevCursor"]}
    assert (await client.request("acp/thread/get", earlier))["entries"] == whole["entries"][:-1]


async def test_a_session_is_opened_again_renamed_listed_exported_and_closed(client: LspClient) -> None:
    session = await client.new_session("demo")
    await client.turn(session, "plain")
    opened = await client.request("acp/session/open", {"sessionId": session})
    assert opened["thread"]["entries"] == client.threads[session].entries
    assert await client.request("acp/session/rename", {"sessionId": session, "title": "Mine"}) == {}
    await client.wait_for(lambda: client.sessions[session]["title"] == "Mine")
    listed = await client.request("acp/session/list", {"query": "mine"})
    assert [s["sessionId"] for s in listed["sessions"]] == [session]
    text = (await client.request("acp/session/export", {"sessionId": session, "format": "markdown"}))["text"]
    assert "only text" in text
    assert await client.request("acp/session/close", {"sessionId": session}) == {}
    with pytest.raises(LspError) as raised:
        await client.request("acp/session/open", {"sessionId": session})
    assert (raised.value.code, raised.value.kind) == (-32002, "unknownSession")


async def test_a_config_option_is_set(client: LspClient) -> None:
    session = await client.new_session("demo")
    params = {"sessionId": session, "configId": "mode", "value": "auto"}
    options = (await client.request("acp/session/setConfigOption", params))["configOptions"]
    assert next(o for o in options if o["id"] == "mode")["currentValue"] == "auto"
    assert (await client.turn(session, "hello")).permissions == []


async def test_agents_are_listed_restarted_and_their_log_followed(client: LspClient, workspace: Path) -> None:
    agents = (await client.request("acp/agents/list", {}))["agents"]
    demo = next(a for a in agents if a["id"] == "demo")
    assert (demo["available"], demo["state"], demo["protocol"]) == (True, "stopped", "demo")
    await client.new_session("demo")
    await client.wait_for(lambda: client.agents.get("demo", {}).get("state") == "running")
    assert isinstance((await client.request("acp/agents/log", {"agent": "demo", "tail": 5}))["lines"], list)
    assert await client.request("acp/agents/restart", {"agent": "demo"}) == {}


async def test_acp_log_flows_only_while_it_is_followed(
    environ: dict[str, str], tmp_path: Path, workspace: Path
) -> None:
    scenario = '{"prompts": [[{"stderr": "one"}], [{"stderr": "two"}], [{"stderr": "three"}, {"text": "x"}]]}'
    servers = {"scripted": {"command": sys.executable, "args": [SCRIPTED, scenario]}}
    async with LspClient.run(env=environ, acp=rich(servers), root=workspace) as client:
        session = await client.new_session("scripted")
        await client.turn(session, "1")
        await client.request("acp/agents/log", {"agent": "scripted", "follow": True})
        await client.turn(session, "2")
        await client.wait_for(lambda: client.received("acp/log"))
        await client.request("acp/agents/log", {"agent": "scripted", "follow": False})
        await client.turn(session, "3")
        lines = (await client.request("acp/agents/log", {"agent": "scripted"}))["lines"]
        assert [line["text"] for line in lines if line["stream"] == "stderr"][:2] == ["one", "two"]
        followed = [m["message"] for m in client.received("acp/log") if m["direction"] == "stderr"]
        assert followed == ["two"]


async def test_odd_things_of_an_agent_have_documented_shapes_too(client: LspClient) -> None:
    session = await client.new_session("demo")
    turn = await client.turn(session, "odd")
    assert turn.stop_reason == "end_turn"
    assert {"unknown", "notice", "compaction"} <= {e["kind"] for e in turn.entries}


BAD = [
    ("acp/session/new", {}, -32602, "badParam", "agent"),
    ("acp/session/new", {"agent": 3}, -32602, "badParam", "agent"),
    ("acp/session/new", None, -32602, "badParam", "agent"),
    ("acp/session/new", [], -32602, "badParam", "params"),
    ("acp/session/new", {"agent": "demo", "cwd": "relative/path"}, -32602, "badParam", "cwd"),
    ("acp/session/new", {"agent": "demo", "cwd": "/no/such/folder"}, -32602, "badParam", "cwd"),
    ("acp/session/new", {"agent": "demo", "additionalDirectories": ["x"]}, -32602, "badParam", None),
    ("acp/session/new", {"agent": "nobody"}, -32002, "unknownAgent", None),
    ("acp/session/prompt", {"sessionId": "ses-none", "prompt": "x"}, -32002, "unknownSession", None),
    ("acp/session/prompt", {"sessionId": "$S"}, -32602, "badParam", "prompt"),
    ("acp/session/prompt", {"sessionId": "$S", "prompt": ""}, -32602, "badParam", "prompt"),
    ("acp/session/prompt", {"sessionId": "$S", "prompt": [{"text": "x"}]}, -32602, "badParam", None),
    ("acp/session/prompt", {"sessionId": "$S", "prompt": "x", "mode": "fast"}, -32602, "badParam", "mode"),
    (
        "acp/session/prompt",
        {"sessionId": "$S", "prompt": "x", "mode": "steer"},
        -32803,
        "unsupported",
        "mode",
    ),
    ("acp/session/queue", {"sessionId": "$S", "action": "dance"}, -32602, "badParam", "action"),
    ("acp/session/queue", {"sessionId": "$S", "action": "remove", "turnId": "t"}, -32002, "notFound", None),
    (
        "acp/session/setConfigOption",
        {"sessionId": "$S", "configId": "x", "value": 1},
        -32602,
        "badParam",
        None,
    ),
    ("acp/session/export", {"sessionId": "$S", "format": "pdf"}, -32602, "badParam", "format"),
    ("acp/session/fork", {"sessionId": "$S"}, -32803, "unsupported", None),
    ("acp/thread/get", {"sessionId": "$S", "limit": 0}, -32602, "badParam", "limit"),
    ("acp/thread/get", {"sessionId": "$S", "before": "ent-none"}, -32602, "badParam", "before"),
    ("acp/permission/answer", {"requestId": "req-none", "optionId": "x"}, -32002, "unknownRequest", None),
    ("acp/permission/answer", {"requestId": "req-none"}, -32602, "badParam", "optionId"),
    ("acp/elicitation/answer", {"requestId": "r", "action": "accept"}, -32002, "unknownRequest", None),
    ("acp/agents/log", {"agent": "demo", "tail": -1}, -32602, "badParam", "tail"),
    ("acp/agents/restart", {"agent": "nobody"}, -32002, "unknownAgent", None),
    ("acp/agents/install", {"agent": "demo"}, -32803, "unsupported", None),
    ("acp/review/list", {}, -32803, "unsupported", None),
    ("acp/checkpoint/list", {"sessionId": "$S"}, -32803, "unsupported", None),
    ("acp/terminal/output", {"terminalId": "t"}, -32803, "unsupported", None),
]


async def test_bad_input_names_the_thing_and_what_to_try(client: LspClient) -> None:
    session = await client.new_session("demo")
    for method, params, code, kind, param in BAD:
        if isinstance(params, dict):
            params = {key: session if value == "$S" else value for key, value in params.items()}
        with pytest.raises(LspError) as raised:
            await client.request(method, params)
        error = raised.value
        assert (error.code, error.kind) == (code, kind), (method, params, error)
        assert error.message and error.data["hint"], (method, params, error)
        if param is not None:
            assert error.data["param"] == param, (method, params, error)
    assert (await client.turn(session, "plain")).stop_reason == "end_turn"


async def test_every_documented_request_is_served_and_no_other(client: LspClient) -> None:
    for method in REQUESTS:
        try:
            await client.request(method, {"sessionId": "none", "agent": "none", "requestId": "none"})
        except LspError as error:
            assert error.code != -32601 and error.code != -32603, method
    for method in ("acp/nothing", "acp/session/", "acp", "textDocument/nothing"):
        with pytest.raises(LspError) as raised:
            await client.request(method, {})
        assert raised.value.code == -32601


async def test_bad_params_of_a_standard_request_are_answered(client: LspClient) -> None:
    for params in (None, [], {"textDocument": 3}):
        with pytest.raises(LspError) as raised:
            await client.request("textDocument/codeAction", params)
        assert raised.value.code == -32602


async def test_unknown_params_are_ignored(client: LspClient) -> None:
    session = await client.new_session("demo", _meta={"class": 1}, tomorrow=[1])
    assert (await client.turn(session, "plain", tomorrow=True)).stop_reason == "end_turn"


async def test_a_log_in_that_is_needed_is_told_with_its_methods(
    environ: dict[str, str], tmp_path: Path, workspace: Path
) -> None:
    config = tmp_path / "agents.json"
    config.write_text(
        '[{"id": "login", "name": "Login", "enabled": true, "protocol": "demo", "cmd": [],'
        ' "protocol_config": {"require_auth": true}}]'
    )
    async with LspClient.run(
        [*BRIDGE, "--config", str(config)], env=environ, acp=rich(), root=workspace
    ) as client:
        with pytest.raises(LspError) as raised:
            await client.new_session("login")
        assert (raised.value.code, raised.value.kind) == (-32000, "authRequired")
        assert [m["id"] for m in raised.value.data["authMethods"]] == ["demo-login"]
        assert (
            await client.request("acp/agents/authenticate", {"agent": "login", "methodId": "demo-login"})
            == {}
        )
        session = await client.new_session("login")
        assert (await client.turn(session, "plain")).stop_reason == "end_turn"
        assert await client.request("acp/agents/logout", {"agent": "login"}) == {}


async def test_a_request_that_the_editor_cancels_is_answered_so(
    environ: dict[str, str], workspace: Path
) -> None:
    servers = {"slow": {"command": sys.executable, "args": [SCRIPTED, '{"initialize": "hang"}']}}
    async with LspClient.run(env=environ, acp=rich(servers), root=workspace) as client:
        waiting = client.start_request("acp/session/new", {"agent": "slow"})
        number = client.messages[-1][1]["id"]
        await client.wait_for(lambda: client.agents.get("slow", {}).get("state") == "starting")
        client.notify("$/cancelRequest", {"id": number})
        with pytest.raises(LspError) as raised:
            await asyncio.wait_for(waiting, 60)
        assert raised.value.code == -32800
        assert await client.request("acp/agents/list", {})


async def test_only_what_was_announced_is_sent(environ: dict[str, str], workspace: Path) -> None:
    ui = {"thread": False, "permission": True, "elicitation": False}
    async with LspClient.run(env=environ, acp=rich(ui=ui), root=workspace) as client:
        session = (await client.request("acp/session/new", {"agent": "demo"}))["sessionId"]
        client.handlers["window/showMessageRequest"] = lambda _: pytest.fail("the editor draws permissions")
        await client.request("acp/session/prompt", {"sessionId": session, "prompt": "ask"})
        [asked] = await client.wait_for(lambda: client.received("acp/permission/requested"))
        choice = {"requestId": asked["request"]["requestId"], "optionId": "allow"}
        await client.request("acp/permission/answer", choice)
        await client.wait_for(
            lambda: any(value["value"]["kind"] == "end" for value in client.received("$/progress"))
        )
        sent = {m["method"] for way, m in client.messages if way == "in" and "method" in m}
        told = {"acp/permission/requested", "acp/permission/resolved"}
        assert {method for method in sent if method.startswith("acp/")} == told


async def test_a_permission_left_open_is_in_the_session_and_still_answerable(client: LspClient) -> None:
    session = await client.new_session("demo")
    await client.prompt(session, "ask")
    await client.wait_for(lambda: client.sessions.get(session, {}).get("state") == "requires_action")
    opened = await client.request("acp/session/open", {"sessionId": session})
    [pending] = opened["session"]["pending"]
    assert pending["kind"] == "permission"
    await client.answer_permission(pending["request"], "reject_once")
    await client.wait_for(lambda: client.sessions[session]["state"] == "idle")
