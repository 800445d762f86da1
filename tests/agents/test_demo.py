"""The demo agent, played through its public interface: every scenario, cancel, log-in, options."""

from __future__ import annotations

import asyncio
import os

import pytest

from acp_bridge.agents.agent import AgentError, SessionParams
from acp_bridge.agents.demo import DemoAgent
from acp_bridge.agents.demo.scenarios import COMMANDS, SCENARIOS, WHOLE_TURN, choose, number_in
from acp_bridge.agents.events import (
    Commands,
    ConfigOptions,
    ElicitationRequest,
    MessageChunk,
    PermissionRequest,
    Plan,
    ReadFile,
    ThoughtChunk,
    ToolCall,
    ToolOutput,
    TurnState,
    Unknown,
    Usage,
    WriteFile,
)
from agents.recorder import Recorder


def words(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}]


async def open_session(client: Recorder, cwd: str = "/w", **options: bool) -> tuple[DemoAgent, str]:
    agent = DemoAgent(client, delay=0, **options)
    await agent.start()
    await agent.initialize()
    return agent, await agent.new_session(SessionParams(cwd=cwd))


async def test_the_whole_turn_in_its_order() -> None:
    client = Recorder()
    client.files["/w/demo-notes.md"] = "# Notes\n"
    agent, session = await open_session(client)
    await agent.prompt(session, words("show me"))
    end = await client.idle()

    assert (end.stop_reason, end.error) == ("end_turn", None)
    assert client.files["/w/demo-notes.md"] == "# Notes\n- The demo agent was here.\n"
    assert "a whole turn" in client.text()
    assert client.of(ThoughtChunk)
    assert [len(plan.entries) for plan in client.of(Plan)] == [3, 3, 3, 3]
    assert {entry["status"] for entry in client.of(Plan)[-1].entries} == {"completed"}
    assert client.of(Usage)[-1].size == 200_000
    kinds = [type(event) for _, event in client.events]
    assert kinds.index(ReadFile) < kinds.index(PermissionRequest) < kinds.index(WriteFile)
    assert kinds[-1] is TurnState


async def test_an_edit_is_shown_as_a_diff_before_it_is_asked() -> None:
    client = Recorder(permission=None)
    agent, session = await open_session(client)
    await agent.prompt(session, words("show me"))
    await client.until(lambda: client.of(PermissionRequest))

    request = client.of(PermissionRequest)[0]
    assert request.tool_call is not None
    shown = next(tool for tool in client.of(ToolCall) if tool.id == request.tool_call.id)
    assert shown.content == [
        {
            "type": "diff",
            "path": "/w/demo-notes.md",
            "oldText": None,
            "newText": "- The demo agent was here.\n",
        }
    ]
    assert [option["kind"] for option in request.options] == ["allow_once", "allow_always", "reject_once"]
    assert not client.of(WriteFile)
    await agent.close()


async def test_a_rejected_edit_is_not_written() -> None:
    client = Recorder(permission="reject")
    agent, session = await open_session(client)
    await agent.prompt(session, words("show me"))

    assert (await client.idle()).stop_reason == "end_turn"
    assert client.files == {}
    assert [t.status for t in client.of(ToolCall)][-1] == "failed"


async def test_allow_always_asks_once() -> None:
    client = Recorder(permission="always")
    agent, session = await open_session(client)
    await agent.prompt(session, words("two permissions"))
    await client.idle()

    assert len(client.of(PermissionRequest)) == 1
    assert sorted(client.files) == ["/w/demo-more.md", "/w/demo-notes.md"]


async def test_two_permissions() -> None:
    client = Recorder()
    agent, session = await open_session(client)
    await agent.prompt(session, words("please two permissions"))
    await client.idle()
    assert len(client.of(PermissionRequest)) == 2


async def test_a_cancelled_permission_cancels_the_turn() -> None:
    client = Recorder(permission="cancelled")
    agent, session = await open_session(client)
    await agent.prompt(session, words("ask"))
    assert (await client.idle()).stop_reason == "cancelled"


@pytest.mark.parametrize("when", ["at once", "later"])
async def test_cancel_ends_the_turn_once_and_the_next_prompt_works(when: str) -> None:
    client = Recorder()
    agent, session = await open_session(client)
    await agent.prompt(session, words("slow"))
    if when == "later":
        await client.until(lambda: len(client.of(MessageChunk)) > 2)
    agent.cancel(session, "test")
    assert (await client.idle()).stop_reason == "cancelled"

    await agent.prompt(session, words("plain"))
    assert (await client.idle(2)).stop_reason == "end_turn"
    assert [s.state for s in client.of(TurnState)] == ["running", "idle", "running", "idle"]


async def test_cancel_while_a_permission_is_open() -> None:
    client = Recorder(permission=None)
    agent, session = await open_session(client)
    await agent.prompt(session, words("ask"))
    await client.until(lambda: client.open_requests)
    agent.cancel(session, "test")
    assert client.open_requests[0].reply.answer({"outcome": "cancelled"})
    assert not client.open_requests[0].reply.answer({"outcome": "cancelled"})
    assert (await client.idle()).stop_reason == "cancelled"


async def test_a_write_that_fails_is_told_and_the_turn_goes_on() -> None:
    client = Recorder()

    def refuse(event: object) -> None:
        if isinstance(event, WriteFile):
            event.reply.fail(-32603, "the disk is full")

    client.on_event = refuse
    agent, session = await open_session(client)
    await agent.prompt(session, words("show me"))
    assert (await client.idle()).stop_reason == "end_turn"
    assert "the disk is full" in client.text()


@pytest.mark.parametrize(
    ("prompt", "stop_reason"),
    [
        ("refuse", "refusal"),
        ("limit", "max_tokens"),
        ("odd", "end_turn"),
        ("plain", "end_turn"),
        ("fail", "error"),
    ],
)
async def test_stop_reasons(prompt: str, stop_reason: str) -> None:
    client = Recorder()
    agent, session = await open_session(client)
    await agent.prompt(session, words(prompt))
    end = await client.idle()
    assert end.stop_reason == stop_reason
    assert (end.error is not None) == (stop_reason == "error")


async def test_odd_things_hold_an_unknown_kind() -> None:
    client = Recorder()
    agent, session = await open_session(client)
    await agent.prompt(session, words("odd"))
    await client.idle()
    assert client.of(Unknown)[0].raw == {"sessionUpdate": "_demo/weather", "sky": "clear"}


async def test_big_streams_exactly_the_lines_asked_for() -> None:
    client = Recorder()
    agent, session = await open_session(client)
    await agent.prompt(session, words("big 123"))
    await client.idle()
    assert client.text() == "".join(f"line {i}\n" for i in range(1, 124))


async def test_shell_prints_after_the_permission() -> None:
    client = Recorder()
    agent, session = await open_session(client)
    await agent.prompt(session, words("ask"))
    await client.idle()
    assert [output.text for output in client.of(ToolOutput)] == ["hello\n"]


async def test_a_question_takes_the_answer() -> None:
    client = Recorder()
    agent, session = await open_session(client)
    await agent.prompt(session, words("question"))
    await client.until(lambda: client.open_requests)
    request = client.open_requests[0]
    assert isinstance(request, ElicitationRequest)
    request.reply.answer({"action": "accept", "content": {"colour": "red"}})
    await client.idle()
    assert "accept {'colour': 'red'}" in client.text()


async def test_a_question_nobody_can_answer() -> None:
    client = Recorder()
    agent, session = await open_session(client)
    await agent.prompt(session, words("question"))
    await client.until(lambda: client.open_requests)
    client.open_requests[0].reply.fail(-32601, "not supported")
    assert (await client.idle()).stop_reason == "end_turn"


async def test_auth_scenario_until_logged_in() -> None:
    client = Recorder()
    agent, session = await open_session(client)
    await agent.prompt(session, words("auth"))
    end = await client.idle()
    assert (end.stop_reason, end.auth_required) == ("error", True)

    with pytest.raises(AgentError) as wrong:
        await agent.authenticate("nonsense")
    assert "demo-login" in wrong.value.hint
    await agent.authenticate(agent.info.auth_methods[0]["id"])
    await agent.prompt(session, words("auth"))
    assert (await client.idle(2)).stop_reason == "end_turn"
    await agent.logout()
    await agent.prompt(session, words("auth"))
    assert (await client.idle(3)).auth_required


async def test_require_auth_refuses_a_session_until_logged_in() -> None:
    client = Recorder()
    agent = DemoAgent(client, delay=0, require_auth=True)
    await agent.initialize()
    with pytest.raises(AgentError) as refused:
        await agent.new_session(SessionParams(cwd="/w"))
    assert refused.value.kind == "authRequired"
    await agent.authenticate("demo-login")
    assert await agent.new_session(SessionParams(cwd="/w"))


async def test_die_is_an_exit_and_no_turn_state() -> None:
    client = Recorder()
    agent, session = await open_session(client)
    await agent.prompt(session, words("die"))
    await client.until(lambda: client.exit)
    await asyncio.sleep(0)
    assert client.exit is not None
    assert (client.exit.code, client.exit.stderr) == (3, ["demo agent: dying on purpose"])
    assert [s.state for s in client.of(TurnState)] == ["running"]
    with pytest.raises(AgentError) as dead:
        await agent.prompt(session, words("plain"))
    assert dead.value.kind == "agentDied"


async def test_options_and_commands_come_with_the_session_and_can_be_set() -> None:
    client = Recorder()
    agent, session = await open_session(client)
    assert client.of(Commands)[0].commands == list(COMMANDS)
    await agent.set_config_option(session, "mode", "auto")
    await agent.set_config_option(session, "thoughts", False)
    last = client.of(ConfigOptions)[-1].options
    assert {option["id"]: option["currentValue"] for option in last} == {"mode": "auto", "thoughts": False}

    await agent.prompt(session, words("show me"))
    await client.idle()
    assert not client.of(PermissionRequest)
    assert not client.of(ThoughtChunk)
    assert client.files

    with pytest.raises(AgentError):
        await agent.set_config_option(session, "mode", "yolo")
    with pytest.raises(AgentError):
        await agent.set_config_option(session, "thoughts", "yes")


async def test_one_turn_at_a_time_and_unknown_sessions() -> None:
    client = Recorder()
    agent, session = await open_session(client)
    await agent.prompt(session, words("slow"))
    with pytest.raises(AgentError):
        await agent.prompt(session, words("plain"))
    with pytest.raises(AgentError):
        await agent.prompt("nobody", words("plain"))
    await agent.close_session(session)
    with pytest.raises(AgentError):
        await agent.prompt(session, words("plain"))


async def test_close_ends_running_turns_silently() -> None:
    client = Recorder()
    agent, session = await open_session(client)
    await agent.prompt(session, words("slow"))
    await client.until(lambda: client.of(MessageChunk))
    await agent.close()
    before = len(client.events)
    await asyncio.sleep(0.05)
    assert len(client.events) == before
    assert [s.state for s in client.of(TurnState)] == ["running"]


async def test_two_sessions_run_side_by_side() -> None:
    client = Recorder()
    agent, one = await open_session(client, "/one")
    two = await agent.new_session(SessionParams(cwd="/two"))
    await agent.prompt(one, words("show me"))
    await agent.prompt(two, words("show me"))
    await client.idle(2)
    assert sorted(client.files) == ["/one/demo-notes.md", "/two/demo-notes.md"]


def test_words_choose_scenarios() -> None:
    assert choose("hello there") is WHOLE_TURN
    assert choose("a failing test") is WHOLE_TURN
    assert choose("/plain") is SCENARIOS["plain"]
    assert choose("please be SLOW.") is SCENARIOS["slow"]
    assert choose("two permissions, ask") is SCENARIOS["two permissions"]
    assert number_in("big 200 or 300", 5) == 200
    assert number_in("big", 5) == 5


def test_the_delay_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    from acp_bridge.agents.demo.agent import _delay_from_environment

    for value, expected in {"0": 0.0, "0.5": 0.5, "-3": 0.0, "soon": 0.02}.items():
        monkeypatch.setitem(os.environ, "ACP_BRIDGE_DEMO_DELAY", value)
        assert _delay_from_environment() == expected
