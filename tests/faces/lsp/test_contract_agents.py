"""Agents over the wire: what is told of them, log-in, restart, log; each test names the sentence it holds."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from support.lsp_client import LspClient, LspError, rich

Json = dict[str, Any]
SCRIPTED = str(Path(__file__).parents[2] / "support" / "scripted.py")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


def scripted(scenario: Json, **env: str) -> Json:
    return {"command": sys.executable, "args": [SCRIPTED, json.dumps(scenario)], "env": env}


async def test_agents_list_has_every_field_and_a_reason_where_it_is_not_available(
    environ: dict[str, str], workspace: Path
) -> None:
    servers = {"My agent": scripted({"auth": ["key"]}), "gone": {"command": "/no/such/program"}}
    async with LspClient.run(env=environ, acp=rich(servers), root=workspace) as client:

        async def listed() -> dict[str, Json]:
            agents = (await client.request("acp/agents/list", {}))["agents"]
            return {agent["id"]: agent for agent in agents}

        before = await listed()
        always = {"id", "name", "displayName", "description", "protocol", "source", "enabled", "available"}
        always |= {"state", "profiles"}
        assert set(before["My agent"]) == always
        assert set(before["gone"]) == always | {"reason"} and "/no/such/program" in before["gone"]["reason"]
        assert (before["gone"]["available"], before["gone"]["enabled"]) == (False, True)
        assert before["My agent"]["displayName"] == "My agent"
        with pytest.raises(LspError) as raised:
            await client.new_session("My agent")
        assert (raised.value.code, raised.value.kind) == (-32000, "authRequired")
        assert raised.value.data["authMethods"] == [{"id": "key", "name": "Key"}]
        wants = (await listed())["My agent"]
        assert set(wants) == always | {"version", "authMethods"}
        assert (wants["state"], wants["version"]) == ("authRequired", "1.0")
        states = [m["agent"]["state"] for m in client.received("acp/agent/changed")]
        assert states == ["starting", "running", "authRequired"]


async def test_a_new_session_is_repeated_after_a_log_in_whose_only_method_need_not_be_named(
    environ: dict[str, str], workspace: Path
) -> None:
    servers = {"locked": scripted({"auth": ["key"], "prompts": [[{"text": "in"}]]})}
    async with LspClient.run(env=environ, acp=rich(servers), root=workspace) as client:
        with pytest.raises(LspError):
            await client.new_session("locked")
        assert await client.request("acp/agents/authenticate", {"agent": "locked"}) == {}
        session = await client.new_session("locked")
        assert (await client.turn(session, "hello")).text == "in"
        assert client.agents["locked"]["state"] == "running"


async def test_a_prompt_that_wants_a_log_in_is_kept_as_head_of_a_held_queue_and_sent_after_it(
    environ: dict[str, str], workspace: Path
) -> None:
    answers = [[{"text": "one"}], [{"text": "two"}]]
    servers = {"locked": scripted({"auth": ["key"], "authAtPrompt": True, "prompts": answers})}
    async with LspClient.run(env=environ, acp=rich(servers), root=workspace) as client:
        session = await client.new_session("locked")
        first = await client.prompt(session, "first", clientMessageId="m1")
        second = await client.prompt(session, "second")
        await client.wait_for(lambda: len(client.sessions[session]["queue"]["items"]) == 2)
        await client.wait_for(lambda: client.sessions[session]["state"] == "idle")
        queue = client.sessions[session]["queue"]
        assert queue["held"] is True
        assert [item["turnId"] for item in queue["items"]] == [first, second]
        assert queue["items"][0]["clientMessageId"] == "m1"
        assert client.sessions[session]["taskState"] == "IN_PROGRESS"
        assert not [e for e in client.threads[session].entries if e["kind"] == "stop"]
        await client.request("acp/agents/authenticate", {"agent": "locked", "methodId": "key"})
        await client.wait_for(lambda: client.stop_of(session, second))
        stops = [e["turnId"] for e in client.threads[session].entries if e["kind"] == "stop"]
        assert stops == [first, second]
        users = [e["turnId"] for e in client.threads[session].entries if e["kind"] == "user"]
        assert users == [first, second]


@pytest.mark.parametrize("how", ["cancel", "remove"])
async def test_a_turn_that_waits_for_a_log_in_and_is_taken_out_ends_with_one_stop(
    environ: dict[str, str], workspace: Path, how: str
) -> None:
    servers = {"locked": scripted({"auth": ["key"], "authAtPrompt": True})}
    async with LspClient.run(env=environ, acp=rich(servers), root=workspace) as client:
        session = await client.new_session("locked")
        turn = await client.prompt(session, "first")
        await client.wait_for(lambda: client.sessions[session]["queue"]["held"])
        if how == "cancel":
            asked = {"sessionId": session, "turnId": turn}
            assert await client.request("acp/session/cancel", asked) == {"cancelled": True}
        else:
            asked = {"sessionId": session, "turnId": turn, "action": "remove"}
            left = await client.request("acp/session/queue", asked)
            assert left == {"queue": {"held": False, "items": []}}
        stop = await client.wait_for(lambda: client.stop_of(session, turn))
        assert stop["stopReason"] == "cancelled"
        await client.wait_for(lambda: client.sessions[session]["taskState"] == "REVIEW")
        await client.request("acp/agents/authenticate", {"agent": "locked"})
        assert [e["kind"] for e in client.threads[session].entries] == ["user", "error", "stop"]


async def test_a_prompt_edited_while_it_waits_for_a_log_in_is_sent_and_shown_as_edited(
    environ: dict[str, str], workspace: Path
) -> None:
    servers = {"locked": scripted({"auth": ["key"], "authAtPrompt": True})}
    async with LspClient.run(env=environ, acp=rich(servers), root=workspace) as client:
        session = await client.new_session("locked")
        turn = await client.prompt(session, "first")
        await client.wait_for(lambda: client.sessions[session]["queue"]["held"])
        edit = {"sessionId": session, "action": "edit", "turnId": turn, "prompt": "better"}
        await client.request("acp/session/queue", edit)
        await client.request("acp/agents/authenticate", {"agent": "locked"})
        await client.wait_for(lambda: client.stop_of(session, turn))
        [user] = [e for e in client.threads[session].entries if e["kind"] == "user"]
        assert user["blocks"] == [{"type": "text", "text": "better"}]


async def test_acp_log_tells_the_wire_and_stderr_only_between_follow_true_and_false_and_no_secret(
    environ: dict[str, str], workspace: Path
) -> None:
    steps = [{"stderr": "the key is s3cr3t-value"}, {"text": "hello"}]
    servers = {"talks": scripted({"prompts": [steps]}, MY_API_KEY="s3cr3t-value")}
    async with LspClient.run(env=environ, acp=rich(servers), root=workspace) as client:
        session = await client.new_session("talks")
        await client.turn(session, "zero s3cr3t-value")
        assert client.received("acp/log") == []
        await client.request("acp/agents/log", {"agent": "talks", "follow": True})
        await client.turn(session, "one s3cr3t-value")
        await client.wait_for(
            lambda: {"in", "out", "stderr"} <= {m["direction"] for m in client.received("acp/log")}
        )
        await client.request("acp/agents/log", {"agent": "talks", "follow": False})
        logged = client.received("acp/log")
        await client.turn(session, "two")
        assert client.received("acp/log") == logged
        assert all(set(m) == {"agent", "direction", "message"} and m["agent"] == "talks" for m in logged)
        out = [json.loads(m["message"]) for m in logged if m["direction"] == "out"]
        assert [message["method"] for message in out] == ["session/prompt"]
        came = [json.loads(m["message"]) for m in logged if m["direction"] == "in"]
        assert [message.get("method") for message in came] == ["session/update", None]
        lines = (await client.request("acp/agents/log", {"agent": "talks", "tail": 2}))["lines"]
        assert [(line["stream"], TIME.fullmatch(line["time"]) is not None) for line in lines] == [
            ("stderr", True),
            ("stderr", True),
        ]
        assert "s3cr3t-value" not in json.dumps([logged, lines])


async def test_restart_is_one_action_the_thread_stays_and_an_agent_without_session_starts(
    environ: dict[str, str], workspace: Path
) -> None:
    servers = {"dies": scripted({"prompts": [[{"stderr": "boom"}, {"exit": 3}]]})}
    async with LspClient.run(env=environ, acp=rich(servers), root=workspace) as client:
        session = await client.new_session("dies")
        turn = await client.turn(session, "hello")
        assert turn.stop_reason == "error"
        assert "3" in turn.errors[0]["message"] and "boom" in turn.errors[0]["detail"]
        await client.wait_for(lambda: client.sessions[session]["state"] == "detached")
        await client.wait_for(lambda: client.agents["dies"]["state"] == "failed")
        assert await client.request("acp/agents/restart", {"agent": "dies"}) == {}
        await client.wait_for(lambda: client.sessions[session]["state"] == "idle")
        kept = [e["kind"] for e in client.threads[session].entries]
        assert kept == ["user", "error", "stop", "notice"] and client.agents["dies"]["state"] == "running"
        await client.request("acp/session/close", {"sessionId": session})
        assert await client.request("acp/agents/restart", {"agent": "demo"}) == {}
        await client.wait_for(lambda: client.agents.get("demo", {}).get("state") == "running")


@pytest.mark.parametrize(
    ("entry", "kind"),
    [
        ({"command": "/no/such/program"}, "agentUnavailable"),
        (scripted({"atStart": [{"stderr": "boom"}, {"exit": 3}]}), "agentDied"),
        ({"command": sys.executable, "args": ["-c", "print('hello')"]}, "agentSpeaksNoAcp"),
    ],
)
async def test_an_agent_that_does_not_start_is_32803_and_named(
    environ: dict[str, str], workspace: Path, entry: Json, kind: str
) -> None:
    async with LspClient.run(env=environ, acp=rich({"it": entry}), root=workspace) as client:
        with pytest.raises(LspError) as raised:
            await client.new_session("it")
        assert (raised.value.code, raised.value.kind) == (-32803, kind)
        assert "it" in raised.value.message and raised.value.data["hint"]
        assert (await client.request("acp/session/list", {}))["sessions"] == []


async def test_a_session_is_not_listed_before_it_is_answered(
    environ: dict[str, str], workspace: Path
) -> None:
    servers = {"slow": scripted({"initialize": "hang"})}
    async with LspClient.run(env=environ, acp=rich(servers), root=workspace) as client:
        client.start_request("acp/session/new", {"agent": "slow"})
        await client.wait_for(lambda: client.agents.get("slow", {}).get("state") == "starting")
        assert await client.request("acp/session/list", {}) == {"sessions": []}


async def test_without_a_workspace_folder_a_session_works_where_the_editor_started_the_bridge(
    environ: dict[str, str], tmp_path: Path
) -> None:
    async with LspClient.run(env=environ, acp=rich(), cwd=tmp_path) as client:
        opened = await client.request("acp/session/new", {"agent": "demo"})
    assert opened["session"]["cwd"] == str(tmp_path)
