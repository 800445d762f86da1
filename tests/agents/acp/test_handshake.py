"""initialize: what we announce and what answers mean; errors and ends in words for the user."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Raw

from acp_bridge.agents.acp import faults, handshake
from acp_bridge.agents.acp.requests import Served
from acp_bridge.agents.agent import AgentError
from acp_bridge.config.server import AgentServer
from acp_bridge.jsonrpc.messages import Answer, ConnectionClosed, RpcError, dumps


def test_our_side() -> None:
    params = handshake.params({"name": "n", "version": "1"}, Served())
    assert params == {
        "protocolVersion": 1,
        "clientInfo": {"name": "n", "version": "1"},
        "clientCapabilities": {
            "fs": {"readTextFile": True, "writeTextFile": True},
            "terminal": False,
            "session": {"configOptions": {"boolean": {}}, "compaction": {}, "notices": {}},
            "plan": {},
        },
    }


def test_a_full_answer() -> None:
    info, can = handshake.read(
        {
            "protocolVersion": 1,
            "agentInfo": {"name": "a", "title": "A", "version": "2"},
            "authMethods": [
                {"id": "key", "name": "Key", "type": "agent"},
                {"name": "no id"},
                5,
                {"id": "bare"},
            ],
            "agentCapabilities": {
                "loadSession": True,
                "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True},
                "mcpCapabilities": {"http": True, "sse": "yes"},
                "sessionCapabilities": {"list": {}, "resume": None, "close": {"_meta": {}}, "delete": False},
                "auth": {"logout": {}},
            },
        }
    )
    assert (info.name, info.title, info.version, info.protocol_version) == ("a", "A", "2", "1")
    assert info.auth_methods == [
        {"id": "key", "name": "Key", "type": "agent"},
        {"id": "bare", "name": "bare"},
    ]
    assert (can.load, can.list, can.close, can.logout, can.image, can.embedded_context, can.mcp_http) == (
        True,
    ) * 7
    assert (can.resume, can.delete, can.audio, can.mcp_sse, can.fork, can.additional_directories) == (
        False,
    ) * 6
    assert can.raw["loadSession"] is True


@pytest.mark.parametrize("extra", [{}, {"agentInfo": None, "agentCapabilities": [], "authMethods": "none"}])
def test_a_bare_answer_can_nothing(extra: dict[str, Any]) -> None:
    info, can = handshake.read({"protocolVersion": "1", **extra})
    assert (info.name, info.auth_methods, can.load, can.image) == (None, [], False, False)


@pytest.mark.parametrize("version", [2, 7, 0, "2", "2024-11-05"])
def test_another_version_names_both(version: Any) -> None:
    with pytest.raises(handshake.OtherVersion, match=rf"version {version}, .* version 1"):
        handshake.read({"protocolVersion": version})


@pytest.mark.parametrize("answer", [None, [], "ok", {}, {"protocolVersion": None}, {"protocolVersion": True}])
def test_no_answer_of_an_acp_agent(answer: Any) -> None:
    with pytest.raises(handshake.NotAcp) as error:
        handshake.read(answer)
    assert not isinstance(error.value, handshake.OtherVersion)


def answer(result: Any) -> Answer:
    return Answer(result=Raw(dumps(result)))


@pytest.mark.parametrize(
    ("given", "cancelled", "reason"),
    [
        (answer({"stopReason": "end_turn"}), False, "end_turn"),
        (answer({"stopReason": "end_turn"}), True, "end_turn"),
        (answer({"stopReason": "exhausted"}), False, "exhausted"),
        (answer(None), False, "end_turn"),
        (answer({}), False, "end_turn"),
        (answer({"stopReason": 7}), False, "end_turn"),
        (answer({"stopReason": None}), True, "cancelled"),
        (answer(None), True, "cancelled"),
        (answer([1]), False, "end_turn"),
        (Answer(error=RpcError(-32800, "cancelled")), False, "cancelled"),
        (Answer(error=RpcError(-32603, "boom")), True, "cancelled"),
        (Answer(error=RpcError(-32603, "boom")), False, "error"),
        (Answer(error=RpcError(-32000, "log in")), False, "error"),
    ],
)
def test_every_answer_ends_the_turn(given: Answer, cancelled: bool, reason: str) -> None:
    state = faults.turn_end(given, cancelled=cancelled, methods=[])
    assert state is not None
    assert (state.state, state.stop_reason) == ("idle", reason)
    assert (state.error is not None) == (reason == "error")


def test_a_dead_agent_ends_no_turn() -> None:
    assert faults.turn_end(Answer(error=ConnectionClosed("gone")), cancelled=False, methods=[]) is None


def test_usage_of_a_turn() -> None:
    usage = {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3}
    state = faults.turn_end(answer({"stopReason": "end_turn", "usage": usage}), cancelled=False, methods=[])
    assert state is not None
    assert state.tokens == usage


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (RpcError(400, '{"type":"error"}'), '{"type":"error"}'),
        (RpcError(429, "slow down"), "slow down"),
        (
            RpcError(-32603, "Internal error", {"details": "Session not found"}),
            "Internal error: Session not found",
        ),
        (RpcError(-32603, "Internal error", "plain words"), "Internal error: plain words"),
        (RpcError(-32603, "Internal error: x", {"service": "session"}), "Internal error: x"),
        (RpcError(-32603, "", None), "error -32603"),
        (RpcError(-32603, "y", [{"code": "invalid"}]), "y"),
    ],
)
def test_an_error_says_all_the_agent_said(error: RpcError, message: str) -> None:
    said, detail = faults.describe(error)
    assert said == message
    assert str(error.code) in detail
    if error.data is not None:
        assert dumps(error.data).decode() in detail


def test_a_login_is_named() -> None:
    methods = [{"id": "key", "name": "API key"}]
    state = faults.turn_end(Answer(error=RpcError(-32000, "no")), cancelled=False, methods=methods)
    assert state is not None
    assert state.auth_required
    assert state.error is not None
    assert "API key (key)" in (state.error.hint or "")
    assert faults.of_call("A", "session/new", RpcError(-32000, "no"), methods).kind == "authRequired"
    assert faults.of_call("A", "session/set_model", RpcError(-32601, "?"), []).kind == "unsupported"


SERVER = AgentServer(id="a", display_name="Agent A", cmd=["agent a", "acp"])


@pytest.mark.parametrize("kind", [{}, {"type": None}, {"type": "agent"}, {"type": "env_var"}])
def test_agents_own_log_ins_are_called(kind: dict[str, Any]) -> None:
    faults.check_auth_method(SERVER, "key", [{"id": "key", "name": "Key", **kind}])
    faults.check_auth_method(SERVER, "unlisted", [])


def test_a_log_in_in_a_terminal_is_never_called_but_told() -> None:
    methods = [{"id": "login", "name": "Log in", "type": "terminal", "args": ["login", 5, "--now"]}]
    with pytest.raises(AgentError) as error:
        faults.check_auth_method(SERVER, "login", methods)
    assert error.value.kind == "unsupported"
    assert "'agent a' acp login --now" in error.value.hint


def test_a_log_in_of_an_unknown_type_is_not_called() -> None:
    with pytest.raises(AgentError) as error:
        faults.check_auth_method(SERVER, "x", [{"id": "x", "name": "X", "type": "retina"}])
    assert "retina" in error.value.message
