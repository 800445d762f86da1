"""The rules that the founding documents make, each by its number: a thin test that the rule as a whole holds.

Other tests try each part of a rule in depth; these are for whoever asks where a rule is kept.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from acp_bridge.agents import events
from acp_bridge.agents.acp.prepare import prepare
from acp_bridge.config.availability import check
from acp_bridge.config.server import AgentServer
from acp_bridge.host.errors import CODES
from support.cli import Cli
from support.lsp_client import LspClient, LspError, rich

Json = dict[str, Any]
ROOT = Path(__file__).resolve().parent.parent
SCRIPTED = str(Path(__file__).parent / "support" / "scripted.py")
KOOG = ROOT / "tests" / "config" / "data" / "koog-acp.json"


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)


def it(*steps: Json) -> dict[str, Json]:
    return {"it": {"command": sys.executable, "args": [SCRIPTED, json.dumps({"prompts": [list(steps)]})]}}


def test_rule_01_prepare_is_pure_and_gives_argv_environment_files_and_mounts(tmp_path: Path) -> None:
    server = AgentServer(id="x", cmd=["agent", "--acp"], model_flag="--model {model}", env={"A": "1"})
    specs = [
        prepare(server, cwd=str(tmp_path), mcp_servers=[], model="m", resume_token="t", settings={})
        for _ in range(2)
    ]
    assert specs[0] == specs[1] and list(tmp_path.iterdir()) == []
    assert (list(specs[0].argv), specs[0].env) == (["agent", "--acp", "--model", "m"], {"A": "1"})
    assert not specs[0].files and not specs[0].mounts


def test_rule_03_available_is_enabled_and_found_and_every_no_has_its_reason(tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    on_path = {"PATH": str(tmp_path), "HOME": str(tmp_path)}
    for command in (str(tool), "~/tool", "tool"):
        assert check(AgentServer(id="x", cmd=[command]), on_path).available
    missing = check(AgentServer(id="x", cmd=["absent"], source="user", file="/c/agents.json"), on_path)
    assert not missing.available and "absent" in missing.reason and "/c/agents.json" in missing.reason
    off = check(AgentServer(id="x", cmd=["tool"], enabled=False, file="/c/agents.json"), on_path)
    assert not off.available and "enabled" in off.reason and "/c/agents.json" in off.reason


def test_rule_13_there_are_error_progress_log_and_native_ids_and_the_table_names_every_event() -> None:
    assert {"message", "details", "terminal"} <= set(events.Error.__struct_fields__)
    assert {"percent", "message"} <= set(events.Progress.__struct_fields__)
    assert {"level", "text"} <= set(events.Log.__struct_fields__)
    assert "native_session_id" in events.SessionInfo.__struct_fields__
    table = (ROOT / "docs" / "events.md").read_text("utf-8")
    kinds = [
        name
        for name, value in vars(events).items()
        if isinstance(value, type)
        and issubclass(value, msgspec.Struct)
        and value.__module__ == events.__name__
        and name not in ("Event", "Request")
    ]
    assert len(kinds) > 20 and [name for name in kinds if f"| `{name}` |" not in table] == []
    columns = ["ACP v1", "ACP v2", "Claude Code", "Codex", "Kandev", "legacy"]
    assert [column for column in columns if f"| {column} |" not in table] == []
    words = ["message_chunk", "reasoning", "tool_call", "tool_update", "complete", "error"]
    words += ["permission_request", "session_status", "context_window"]
    assert [word for word in words if f"`{word}`" not in table] == []


async def test_rule_14_a_tool_has_a_name_beside_its_title_made_where_it_has_none(
    environ: dict[str, str], workspace: Path
) -> None:
    async with LspClient.run(env=environ, acp=rich(), root=workspace) as client:
        session = await client.new_session("demo")
        turn = await client.turn(session, "hello", on_permission="allow_once")
        named = {tool["name"]: tool["title"] for tool in turn.tools}
        assert named == {"read_file": "Read demo-notes.md", "edit_file": "Edit demo-notes.md"}
    bare = {"sessionUpdate": "tool_call", "toolCallId": "t", "status": "completed"}
    steps = [{"update": {**bare, "title": "", "rawInput": {"command": "make all"}}}]
    async with LspClient.run(env=environ, acp=rich(it(*steps)), root=workspace) as client:
        turn = await client.turn(await client.new_session("it"), "hello")
        assert "make all" in turn.tools[0]["title"]


async def test_rule_15_a_permission_request_its_fields_and_its_one_answer(
    environ: dict[str, str], workspace: Path
) -> None:
    options = [{"optionId": "o", "name": "Whatever", "kind": "from_the_future"}]
    step = {"permission": {"toolCall": {"toolCallId": "t", "title": "Do it"}, "options": options}}
    async with LspClient.run(env=environ, acp=rich(it(step)), root=workspace) as client:
        session = await client.new_session("it")
        turn = await client.turn(session, "hello", on_permission=lambda request: "o")
        [request] = turn.permissions
        needed = {"requestId", "sessionId", "entryId", "title", "options", "action", "rememberScopes"}
        assert needed <= set(request) and set(request["action"]) == {"type", "details"}
        again = {"requestId": request["requestId"], "optionId": "o"}
        outcome = {"outcome": "selected", "optionId": "o"}
        late = await client.request("acp/permission/answer", again)
        assert late == {"accepted": False, "outcome": outcome, "by": "user"}


def test_rule_15_an_option_of_an_unknown_kind_is_never_chosen_automatically(cli: Cli) -> None:
    options = [
        {"optionId": "o", "name": "Allow", "kind": "from_the_future"},
        {"optionId": "p", "name": "Yes"},
    ]
    step = {"permission": {"toolCall": {"toolCallId": "t"}, "options": options}, "then": {"cancelled": []}}
    agent = cli.scripted({"prompts": [[step, {"stop": "cancelled"}]]})
    done = cli.run("run", "--json", "--permission", "allow", "--agent-command", agent, "hello")
    assert done.of("permission")[0]["outcome"] == {"outcome": "cancelled"}
    assert done.status == 130


async def test_rule_16_usage_15000_of_200000_leaves_185000_and_is_7_5_percent(
    environ: dict[str, str], workspace: Path
) -> None:
    used = {"update": {"sessionUpdate": "usage_update", "used": 15000, "size": 200000}}
    nothing = {"update": {"sessionUpdate": "usage_update", "used": 5, "size": 0}}
    for step, usage in (
        (used, {"used": 15000, "size": 200000, "remaining": 185000, "percent": 7.5}),
        (nothing, {"used": 5, "size": 0, "remaining": 0, "percent": None}),
    ):
        async with LspClient.run(env=environ, acp=rich(it(step)), root=workspace) as client:
            session = await client.new_session("it")
            await client.turn(session, "hello")
            await client.wait_for(lambda: client.sessions[session]["state"] == "idle")  # noqa: B023
            assert client.sessions[session]["usage"] == usage


async def test_rule_17_only_the_end_of_a_turn_gives_review(environ: dict[str, str], workspace: Path) -> None:
    scenario = {"newSessionSteps": [{"text": "ready"}], "prompts": [[{"text": "1"}, {"wait": "cancel"}]]}
    servers = {"it": {"command": sys.executable, "args": [SCRIPTED, json.dumps(scenario)]}}
    async with LspClient.run(env=environ, acp=rich(servers), root=workspace) as client:
        session = await client.new_session("it")
        turn = await client.prompt(session, "hello")
        await client.wait_for(lambda: any("1" in e.get("text", "") for e in client.threads[session].entries))
        states = [m["session"]["taskState"] for m in client.received("acp/session/changed")]
        assert set(states) == {"IN_PROGRESS"}
        await client.request("acp/session/cancel", {"sessionId": session})
        await client.wait_for(lambda: client.stop_of(session, turn))
        await client.wait_for(lambda: client.sessions[session]["taskState"] == "REVIEW")


@pytest.mark.parametrize("reason", [None, "The user is tired"])
async def test_rule_21_cancel_takes_a_reason_or_none(
    environ: dict[str, str], workspace: Path, reason: str | None
) -> None:
    async with LspClient.run(
        env=environ, acp=rich(it({"text": "1"}, {"wait": "cancel"})), root=workspace
    ) as client:
        session = await client.new_session("it")
        turn = await client.prompt(session, "hello")
        await client.wait_for(lambda: any(e["kind"] == "agent" for e in client.threads[session].entries))
        asked = {"sessionId": session, **({"reason": reason} if reason else {})}
        assert await client.request("acp/session/cancel", asked) == {"cancelled": True}
        stop = await client.wait_for(lambda: client.stop_of(session, turn))
        assert stop["stopReason"] == "cancelled"


async def test_rule_26_the_codes_of_the_editors_side_are_those_of_one_table(
    environ: dict[str, str], workspace: Path
) -> None:
    kinds = {"badParam": -32602, "unknownSession": -32002, "unknownAgent": -32002, "notFound": -32002}
    kinds |= {"authRequired": -32000, "internal": -32603, "agentDied": -32803, "stale": -32801}
    assert {kind: CODES[kind] for kind in kinds} == kinds
    async with LspClient.run(env=environ, acp=rich(), root=workspace) as client:
        asked: list[tuple[str, Json, int]] = [
            ("acp/nothing", {}, -32601),
            ("acp/session/open", {}, -32602),
            ("acp/session/open", {"sessionId": "none"}, -32002),
            ("acp/session/new", {"agent": "none"}, -32002),
            ("initialize", {}, -32600),
        ]
        for method, params, code in asked:
            with pytest.raises(LspError) as raised:
                await client.request(method, params)
            assert raised.value.code == code, method
        with pytest.raises(LspError) as raised:
            await client.request("acp/session/open", {"sessionId": 7})
        assert raised.value.data["param"] == "sessionId"


def test_rule_27_koogs_example_loads_verbatim_and_its_name_with_a_space_is_an_agents(cli: Cli) -> None:
    (cli.config / "acp.json").write_bytes(KOOG.read_bytes())
    listed = json.loads(cli.run("agents", "list", "--json").stdout)["agents"]
    [koog] = [agent for agent in listed if agent["id"] == "Koog Agent"]
    assert (koog["displayName"], koog["protocol"], koog["available"]) == ("Koog Agent", "acp", False)
    assert str(cli.config / "acp.json") in koog["reason"]
    done = cli.run("run", "Koog Agent", "--json", "hello")
    assert done.status == 2 and done.events[-1]["error"]["code"] == "agentUnavailable"


def test_rule_29_a_trace_shows_raw_line_events_and_ops_side_by_side_with_secrets_masked(cli: Cli) -> None:
    agent = cli.scripted({"prompts": [[{"text": "hi"}]]})
    secret = "k3y-that-nobody-may-read"
    words = ["run", "--trace", "trace.jsonl", "--agent-command", agent, f"my key is {secret}"]
    assert cli.run(*words, env={"SOME_API_KEY": secret}).status == 0
    text = (cli.cwd / "trace.jsonl").read_text("utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    assert all(set(line) == {"t", "dir", "raw", "events", "ops"} for line in lines)
    [chunk] = [line for line in lines if line["dir"] == "in" and '"hi"' in line["raw"]]
    assert [event["event"] for event in chunk["events"]] == ["MessageChunk"]
    assert [op["entry"]["text"] for op in chunk["ops"] if op["op"] == "put"] == ["hi"]
    assert secret not in text
