"""Every `acp/*` request, each of its params missing or of a wrong type: -32602, and `data.param` names it.

Which params there are, and of what type, is written down here from docs/editor-protocol.md.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.lsp_client import LspClient, LspError, rich

Json = dict[str, Any]
SCRIPTED = str(Path(__file__).parents[2] / "support" / "scripted.py")

NEEDED: dict[str, Json] = {
    "acp/agents/list": {},
    "acp/agents/restart": {"agent": "scripted"},
    "acp/agents/authenticate": {"agent": "scripted"},
    "acp/agents/logout": {"agent": "scripted"},
    "acp/agents/install": {"agent": "scripted"},
    "acp/agents/log": {"agent": "scripted"},
    "acp/session/new": {"agent": "scripted"},
    "acp/session/list": {},
    "acp/session/open": {"sessionId": "$S"},
    "acp/session/fork": {"sessionId": "$S"},
    "acp/session/close": {"sessionId": "$S"},
    "acp/session/delete": {"sessionId": "$S"},
    "acp/session/rename": {"sessionId": "$S", "title": "a"},
    "acp/session/export": {"sessionId": "$S"},
    "acp/session/prompt": {"sessionId": "$S", "prompt": "hello"},
    "acp/session/cancel": {"sessionId": "$S"},
    "acp/session/queue": {"sessionId": "$S", "action": "list"},
    "acp/session/setConfigOption": {"sessionId": "$S", "configId": "mode", "value": "a"},
    "acp/thread/get": {"sessionId": "$S"},
    "acp/permission/answer": {"requestId": "req-1", "optionId": "a"},
    "acp/elicitation/answer": {"requestId": "req-1", "action": "cancel"},
    "acp/review/decide": {"decision": "accept"},
    "acp/review/text": {"uri": "file:///a"},
    "acp/checkpoint/list": {"sessionId": "$S"},
    "acp/checkpoint/restore": {"sessionId": "$S"},
    "acp/checkpoint/diff": {"sessionId": "$S"},
    "acp/terminal/output": {"terminalId": "t"},
    "acp/terminal/kill": {"terminalId": "t"},
}

WRONG: list[tuple[str, str, list[Any]]] = [
    *(
        (method, param, [7, ["x"], {"x": 1}, True])
        for method, needed in NEEDED.items()
        for param in needed
        if param not in ("value", "prompt")
    ),
    ("acp/session/prompt", "prompt", [7, {"type": "text", "text": "x"}, True, None, "", " ", [], ["x"]]),
    ("acp/session/prompt", "prompt", [[{"text": "x"}], [{"type": 1}], [{"type": "text"}]]),
    ("acp/session/prompt", "mode", ["fast", 1]),
    ("acp/session/prompt", "clientMessageId", [1, {}]),
    ("acp/session/setConfigOption", "value", [7, {}, None]),
    ("acp/session/setConfigOption", "configId", ["no such option"]),
    ("acp/session/new", "cwd", [7, "relative/folder", "/no/such/folder", "/etc/hostname", "~"]),
    ("acp/session/new", "profile", [7]),
    ("acp/session/new", "additionalDirectories", ["x", [7], ["relative"], ["/no/such/folder"]]),
    ("acp/session/new", "mcpServers", ["x", {}, [7]]),
    ("acp/session/new", "configOptions", ["x", [], {"mode": 7}, {"no such option": "x"}]),
    ("acp/session/list", "agent", [7]),
    ("acp/session/list", "cwd", [7, "relative/folder"]),
    ("acp/session/list", "query", [7]),
    ("acp/session/list", "cursor", [7, "no such cursor"]),
    ("acp/session/export", "format", ["pdf"]),
    ("acp/session/cancel", "turnId", [7]),
    ("acp/session/cancel", "reason", [7]),
    ("acp/session/queue", "action", ["dance"]),
    ("acp/session/queue", "turnId", [7]),
    ("acp/session/queue", "prompt", [7, [{}]]),
    ("acp/thread/get", "epoch", [7]),
    ("acp/thread/get", "sinceRev", ["1", 1.5, True]),
    ("acp/thread/get", "before", [7, "no such entry"]),
    ("acp/thread/get", "limit", ["1", 0, -1, True]),
    ("acp/agents/authenticate", "methodId", [7, "no such method"]),
    ("acp/agents/log", "tail", ["1", -1]),
    ("acp/agents/log", "follow", ["yes", 1]),
    ("acp/permission/answer", "remember", ["ever", True]),
    ("acp/elicitation/answer", "action", ["allow"]),
    ("acp/elicitation/answer", "content", ["x"]),
    ("acp/review/list", "uri", [7]),
    ("acp/review/decide", "hunkId", [7]),
]


def cases() -> Iterator[tuple[str, Json, str]]:
    for method, needed in NEEDED.items():
        for param in needed:
            if method != "acp/session/export":
                yield method, {key: value for key, value in needed.items() if key != param}, param
    for method, param, values in WRONG:
        for value in values:
            yield method, {**NEEDED.get(method, {}), param: value}, param


def scripted(scenario: Json) -> Json:
    return {"command": sys.executable, "args": [SCRIPTED, json.dumps(scenario)]}


async def test_a_param_that_is_missing_or_wrong_is_bad_param_and_named(
    environ: dict[str, str], workspace: Path
) -> None:
    servers = {"scripted": scripted({"auth": ["key"], "authAtPrompt": True})}
    async with LspClient.run(env=environ, acp=rich(servers), root=workspace) as client:
        session = await client.new_session("scripted")
        wrong = []
        for method, params, param in cases():
            params = {key: session if value == "$S" else value for key, value in params.items()}
            try:
                outcome: Any = await client.request(method, params)
            except LspError as error:
                outcome = (error.code, error.kind, error.data.get("param"))
                assert error.message and error.data["hint"], (method, params, error)
            if outcome != (-32602, "badParam", param):
                wrong.append((method, params, outcome))
        assert wrong == []
        assert (await client.request("acp/thread/get", {"sessionId": session}))["entries"] == []


async def test_a_value_that_the_agent_does_not_take_is_bad_param_too(
    environ: dict[str, str], workspace: Path
) -> None:
    async with LspClient.run(env=environ, acp=rich(), root=workspace) as client:
        session = await client.new_session("demo")
        params = {"sessionId": session, "configId": "mode", "value": "no such mode"}
        asked: list[tuple[str, Json, str]] = [
            ("acp/session/setConfigOption", params, "value"),
            ("acp/session/new", {"agent": "demo", "configOptions": {"mode": "none"}}, "configOptions"),
            ("acp/agents/authenticate", {"agent": "demo", "methodId": "no such method"}, "methodId"),
        ]
        for method, wrong, param in asked:
            with pytest.raises(LspError) as raised:
                await client.request(method, wrong)
            assert (raised.value.code, raised.value.data.get("param")) == (-32602, param), method
        assert len((await client.request("acp/session/list", {}))["sessions"]) == 1


@pytest.mark.parametrize("action", ["edit", "remove", "sendNow"])
async def test_a_queue_action_without_the_turn_it_needs_names_turn_id(
    environ: dict[str, str], workspace: Path, action: str
) -> None:
    async with LspClient.run(env=environ, acp=rich(), root=workspace) as client:
        session = await client.new_session("demo")
        with pytest.raises(LspError) as raised:
            await client.request("acp/session/queue", {"sessionId": session, "action": action})
        assert (raised.value.code, raised.value.data["param"]) == (-32602, "turnId")


async def test_an_unknown_session_request_or_agent_is_32002_and_a_method_32601(
    environ: dict[str, str], workspace: Path
) -> None:
    unknown = {"sessionId": "ses-none", "agent": "nobody", "requestId": "req-none"}
    kinds = {"sessionId": "unknownSession", "agent": "unknownAgent", "requestId": "unknownRequest"}
    async with LspClient.run(env=environ, acp=rich(), root=workspace) as client:
        for method, needed in NEEDED.items():
            about = next((name for name in needed if name in unknown), None)
            if about is None:
                continue
            with pytest.raises(LspError) as raised:
                await client.request(method, {**needed, **unknown})
            assert (raised.value.code, raised.value.kind) == (-32002, kinds[about]), method
        for method in ("acp/nothing", "acp/session/nothing", "acp/"):
            with pytest.raises(LspError) as raised:
                await client.request(method, {})
            assert raised.value.code == -32601 and raised.value.data["hint"]


async def test_what_is_not_built_yet_is_refused_as_unsupported_and_commands_too(
    environ: dict[str, str], workspace: Path
) -> None:
    later = ["acp/session/fork", "acp/agents/install", "acp/review/decide", "acp/review/text"]
    later += ["acp/checkpoint/list", "acp/checkpoint/restore", "acp/checkpoint/diff"]
    later += ["acp/terminal/output", "acp/terminal/kill"]
    commands = ["review.accept", "review.reject", "review.acceptAll", "review.rejectAll"]
    commands += ["checkpoint.list", "checkpoint.restore"]
    async with LspClient.run(env=environ, acp=rich(), root=workspace) as client:
        session = await client.new_session("demo")
        asked: list[tuple[str, Json]] = [("acp/review/list", {})]
        asked += [(method, {**NEEDED[method], "sessionId": session, "agent": "demo"}) for method in later]
        asked += [
            ("workspace/executeCommand", {"command": f"acpBridge.{name}", "arguments": [{}]})
            for name in commands
        ]
        declared = client.initialize_result["capabilities"]["executeCommandProvider"]["commands"]
        assert {f"acpBridge.{name}" for name in commands} <= set(declared)
        for method, params in asked:
            with pytest.raises(LspError) as raised:
                await client.request(method, params)
            assert (raised.value.code, raised.value.kind) == (-32803, "unsupported"), (method, params)
            assert raised.value.data["hint"]
