"""AcpAgent with real programs: a whole turn, log-in, cancel, odd answers, every way to die."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from acp_bridge.agents.acp.agent import AcpAgent
from acp_bridge.agents.agent import AgentError, SessionParams
from acp_bridge.agents.events import (
    ConfigOptions,
    MessageChunk,
    Notice,
    PermissionRequest,
    ReadFile,
    ToolCall,
    TurnState,
)
from acp_bridge.config.server import AgentServer
from agents.recorder import PATIENCE, Recorder

SCRIPTED = Path(__file__).parents[2] / "support" / "scripted.py"
HELLO = [{"type": "text", "text": "hello"}]
OPTIONS = [{"optionId": "allow", "name": "Allow", "kind": "allow_once"}]
Make = Callable[..., tuple[AcpAgent, Recorder]]


@pytest.fixture
async def make(tmp_path: Path) -> AsyncIterator[Make]:
    """Agents from a scenario of support/scripted.py or from Python source; all closed at the end."""
    made: list[AcpAgent] = []

    def agent(
        program: dict[str, Any] | str, *words: str, slow_start: float = 30.0, **entry: Any
    ) -> tuple[AcpAgent, Recorder]:
        client = Recorder(tracing=True)
        how = ["-c", program, *words] if isinstance(program, str) else [str(SCRIPTED), json.dumps(program)]
        server = AgentServer(id="scripted", cmd=[sys.executable, *how], **entry)
        info = {"name": "test", "version": "0"}
        made.append(AcpAgent(server, client, cwd=str(tmp_path), client_info=info, slow_start=slow_start))
        return made[-1], client

    yield agent
    for one in made:
        await one.close()


async def ready(agent: AcpAgent, cwd: Path) -> str:
    await agent.start()
    await agent.initialize()
    return await agent.new_session(SessionParams(cwd=str(cwd)))


def sent(client: Recorder, method: str) -> list[dict[str, Any]]:
    """The params of our calls of one method."""
    messages = [json.loads(raw) for way, raw in client.traced if way == "out"]
    return [message["params"] for message in messages if message.get("method") == method]


async def test_a_whole_turn(make: Make, tmp_path: Path) -> None:
    permission = {"toolCall": {"toolCallId": "t"}, "options": OPTIONS}
    agent, client = make(
        {
            "prompts": [
                [
                    {"text": "one "},
                    {"text": "two"},
                    {"update": {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "T"}},
                    {"permission": permission, "then": {"allow": [{"text": "allowed"}]}},
                    {"call": "fs/read_text_file", "params": {"sessionId": "$SESSION", "path": "$CWD/a"}},
                    {"text": " $ANSWER"},
                ]
            ]
        }
    )
    client.files[str(tmp_path / "a")] = "content"
    session = await ready(agent, tmp_path)
    await agent.prompt(session, HELLO)
    end = await client.idle()

    assert end == TurnState(state="idle", stop_reason="end_turn")
    assert client.text(session) == 'one twoallowed {"content": "content"}'
    kinds = [type(event) for _, event in client.events if not isinstance(event, MessageChunk)]
    assert kinds == [TurnState, ToolCall, PermissionRequest, ReadFile, TurnState]
    assert sent(client, "session/prompt") == [{"sessionId": session, "prompt": HELLO}]
    assert sent(client, "session/new") == [{"cwd": str(tmp_path), "mcpServers": []}]
    assert agent.info.name == "scripted"


async def test_client_fs_false_withholds_both_file_capabilities(make: Make, tmp_path: Path) -> None:
    agent, client = make({}, protocol_config={"client_fs": False})
    await ready(agent, tmp_path)
    capabilities = sent(client, "initialize")[0]["clientCapabilities"]
    assert capabilities["fs"] == {"readTextFile": False, "writeTextFile": False}


async def test_an_mcp_server_the_agent_cannot_reach_is_left_out_aloud(make: Make, tmp_path: Path) -> None:
    agent, client = make({})
    await agent.start()
    await agent.initialize()
    remote = {"name": "docs", "type": "http", "url": "https://m.example", "headers": []}
    await agent.new_session(SessionParams(cwd=str(tmp_path), mcp_servers=[remote]))
    assert sent(client, "session/new")[0]["mcpServers"] == []
    assert "docs" in client.of(Notice)[0].title


async def test_log_in_and_try_again(make: Make, tmp_path: Path) -> None:
    agent, _client = make({"auth": ["key", "browser"]})
    with pytest.raises(AgentError) as refused:
        await ready(agent, tmp_path)
    assert (refused.value.kind, refused.value.code) == ("authRequired", -32000)
    assert [method["id"] for method in agent.info.auth_methods] == ["key", "browser"]
    with pytest.raises(AgentError) as wrong:
        await agent.authenticate("nonsense")
    assert "nonsense" in wrong.value.message
    await agent.authenticate("key")
    assert await agent.new_session(SessionParams(cwd=str(tmp_path)))


async def test_log_in_wanted_at_the_prompt(make: Make, tmp_path: Path) -> None:
    agent, client = make({"auth": ["key"], "authAtPrompt": True})
    session = await ready(agent, tmp_path)
    await agent.prompt(session, HELLO)
    end = await client.idle()
    assert (end.stop_reason, end.auth_required) == ("error", True)


async def test_the_error_of_a_session_may_tell_the_methods(make: Make, tmp_path: Path) -> None:
    methods = [{"id": "login", "name": "Log in", "type": "terminal", "args": ["login"]}]
    error = {"code": -32000, "message": "Authentication required", "data": {"authMethods": methods}}
    agent, _client = make({"newSession": {"error": error}})
    with pytest.raises(AgentError):
        await ready(agent, tmp_path)
    assert agent.info.auth_methods == methods


async def test_updates_around_the_session_answer_keep_their_order(make: Make, tmp_path: Path) -> None:
    mode = {"sessionUpdate": "current_mode_update", "currentModeId": "b"}
    agent, client = make(
        {
            "newSession": {
                "modes": {
                    "currentModeId": "a",
                    "availableModes": [{"id": "a", "name": "A"}, {"id": "b", "name": "B"}],
                }
            },
            "newSessionSteps": [{"update": mode}],
        }
    )
    session = await ready(agent, tmp_path)
    await client.until(lambda: len(client.of(ConfigOptions, session)) == 2)
    assert [o.options[0]["currentValue"] for o in client.of(ConfigOptions, session)] == ["a", "b"]


async def test_cancel_ends_the_turn_and_the_next_one_works(make: Make, tmp_path: Path) -> None:
    agent, client = make({"prompts": [[{"text": "x"}, {"wait": "cancel"}], [{"text": "again"}]]})
    session = await ready(agent, tmp_path)
    await agent.prompt(session, HELLO)
    await client.until(client.text)
    agent.cancel(session, "test")
    assert (await client.idle()).stop_reason == "cancelled"
    assert len(sent(client, "session/cancel")) == 1
    await agent.prompt(session, HELLO)
    assert (await client.idle(2)).stop_reason == "end_turn"


async def test_a_cancel_between_turns_reaches_the_agent(make: Make, tmp_path: Path) -> None:
    agent, client = make({"prompts": [[{"text": "x"}]]})
    session = await ready(agent, tmp_path)
    agent.cancel(session, "it began something of its own")
    assert sent(client, "session/cancel") == [{"sessionId": session}]
    await agent.prompt(session, HELLO)
    assert (await client.idle()).stop_reason == "end_turn"


async def test_a_stale_answer_ends_no_newer_turn(make: Make, tmp_path: Path) -> None:
    """The agent answers the cancelled prompt only after the next one has been sent."""
    program = SPEAKER + (
        "first = None\n"
        "for message in messages():\n"
        "    if greet(message): continue\n"
        "    if message.get('method') == 'session/prompt' and first is None: first = message['id']\n"
        "    elif message.get('method') == 'session/prompt':\n"
        "        send(id=first, error={'code': -32603, 'message': 'aborted'})\n"
        "        say('second')\n"
        "        send(id=message['id'], result={'stopReason': 'end_turn'})\n"
    )
    agent, client = make(program)
    session = await ready(agent, tmp_path)
    await agent.prompt(session, HELLO)
    agent.cancel(session, "test")
    await agent.prompt(session, HELLO)
    assert (await client.idle()).stop_reason == "end_turn"
    assert client.text() == "second"
    assert [state.state for state in client.of(TurnState)] == ["running", "running", "idle"]


@pytest.mark.parametrize(
    ("steps", "reason", "says"),
    [
        ([{"stop": "refusal"}], "refusal", None),
        ([{"stop": "novel_reason"}], "novel_reason", None),
        ([{"error": {"code": 400, "message": "model said no"}}], "error", "model said no"),
        (
            [{"error": {"code": -32603, "message": "Internal error", "data": {"details": "why"}}}],
            "error",
            "why",
        ),
    ],
)
async def test_how_turns_end(
    make: Make, tmp_path: Path, steps: list[dict[str, Any]], reason: str, says: str | None
) -> None:
    agent, client = make({"prompts": [steps]})
    session = await ready(agent, tmp_path)
    await agent.prompt(session, HELLO)
    end = await client.idle()
    assert end.stop_reason == reason
    if says is not None:
        assert end.error is not None
        assert says in end.error.message


async def test_options_are_set_and_told_before_the_call_returns(make: Make, tmp_path: Path) -> None:
    option = {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": False}
    program = SPEAKER + (
        "options = json.loads(sys.argv[1])\n"
        "for message in messages():\n"
        "    if greet(message, configOptions=options): continue\n"
        "    if message.get('method') == 'session/set_config_option':\n"
        "        options[0]['currentValue'] = message['params']['value']\n"
        "        send(id=message['id'], result={'configOptions': options})\n"
    )
    agent, client = make(program, json.dumps([option]))
    session = await ready(agent, tmp_path)
    await agent.set_config_option(session, "fast", True)
    assert [o.options for o in client.of(ConfigOptions)] == [[option], [{**option, "currentValue": True}]]
    assert sent(client, "session/set_config_option")[0]["type"] == "boolean"


async def test_a_call_the_agent_does_not_know_is_unsupported(make: Make, tmp_path: Path) -> None:
    agent, _client = make({"newSession": {"modes": {"currentModeId": "a", "availableModes": [{"id": "a"}]}}})
    session = await ready(agent, tmp_path)
    with pytest.raises(AgentError) as error:
        await agent.set_config_option(session, "mode", "a")
    assert (error.value.kind, error.value.code) == ("unsupported", -32601)
    assert "session/set_mode" in error.value.message


async def test_what_was_not_offered_is_not_called(make: Make, tmp_path: Path) -> None:
    agent, client = make({})
    session = await ready(agent, tmp_path)
    before = len(client.traced)
    params = SessionParams(cwd=str(tmp_path))
    for call in (
        agent.load_session(session, params),
        agent.resume_session(session, params),
        agent.fork_session(session, params),
        agent.list_sessions(None, None),
        agent.close_session(session),
        agent.delete_session(session),
        agent.logout(),
        agent.steer(session, HELLO),
    ):
        with pytest.raises(AgentError) as error:
            await call
        assert error.value.kind == "unsupported"
    assert len(client.traced) == before


async def test_a_load_returns_after_its_replay(make: Make, tmp_path: Path) -> None:
    program = SPEAKER + (
        "for message in messages():\n"
        "    if greet(message, can={'loadSession': True}): continue\n"
        "    if message.get('method') == 'session/load':\n"
        "        for number in range(500): say(f'{number} ')\n"
        "        send(id=message['id'], result=None)\n"
    )
    agent, client = make(program)
    await agent.start()
    await agent.initialize()
    await agent.load_session("s", SessionParams(cwd=str(tmp_path)))
    assert client.text("s") == "".join(f"{number} " for number in range(500))


async def test_a_string_id_still_finds_its_call(make: Make, tmp_path: Path) -> None:
    program = SPEAKER + (
        "for message in messages():\n"
        "    message['id'] = str(message['id'])\n"
        "    if greet(message): continue\n"
        "    send(id=message['id'], result={'stopReason': 'end_turn'})\n"
    )
    agent, client = make(program)
    session = await ready(agent, tmp_path)
    await agent.prompt(session, HELLO)
    assert (await client.idle()).stop_reason == "end_turn"


async def test_a_session_without_an_id_is_an_error(make: Make, tmp_path: Path) -> None:
    agent, _client = make({"newSession": {"sessionId": None}})
    with pytest.raises(AgentError) as error:
        await ready(agent, tmp_path)
    assert "sessionId" in error.value.message


@pytest.mark.parametrize("version", [2, 7])
async def test_another_version_is_closed_with_a_word(make: Make, tmp_path: Path, version: int) -> None:
    agent, client = make({"initialize": {"protocolVersion": version}})
    await agent.start()
    with pytest.raises(AgentError) as error:
        await agent.initialize()
    assert error.value.kind == "agentSpeaksNoAcp"
    assert f"version {version}" in error.value.message
    assert "version 1" in error.value.message
    assert client.exit is None


@pytest.mark.parametrize(
    ("program", "kind", "told"),
    [
        ("print('Usage: tool [options]')", "agentSpeaksNoAcp", "Usage: tool [options]"),
        ("import sys; sys.stderr.write('no key\\n'); sys.exit(3)", "agentDied", "no key"),
        ("import os; os.kill(os.getpid(), 9)", "agentDied", ""),
        ("print('{\"hello\": 1}'); import sys; sys.exit(5)", "agentSpeaksNoAcp", "hello"),
    ],
)
async def test_an_end_before_initialize_is_answered(make: Make, program: str, kind: str, told: str) -> None:
    agent, client = make(program)
    await agent.start()
    with pytest.raises(AgentError) as error:
        await agent.initialize()
    assert error.value.kind == kind
    assert told in error.value.detail
    assert error.value.hint
    if "exit(" in program:
        assert "exited with status" in error.value.message
    await client.until(lambda: client.exit)


async def test_a_program_that_echoes_is_no_agent(make: Make) -> None:
    agent, _client = make("import sys\nfor line in sys.stdin: print(line, end='', flush=True)")
    await agent.start()
    with pytest.raises(AgentError) as error:
        await agent.initialize()
    assert error.value.kind == "agentSpeaksNoAcp"


async def test_a_silent_start_is_told_and_can_be_ended(make: Make) -> None:
    agent, client = make({"initialize": "hang", "atStart": [{"raw": "loading models"}]}, slow_start=0.2)
    await agent.start()
    waiting = asyncio.create_task(agent.initialize())
    await client.until(lambda: client.of(Notice))
    notice = client.of(Notice)[0]
    assert "still starting" in notice.title
    assert "loading models" in (notice.description or "")
    assert not waiting.done()
    await agent.close()
    with pytest.raises(AgentError):
        await waiting


async def test_a_command_that_is_not_there(tmp_path: Path) -> None:
    server = AgentServer(id="x", display_name="X agent", cmd=["no-such-program-anywhere"])
    agent = AcpAgent(server, Recorder(), cwd=str(tmp_path), client_info={"name": "t", "version": "0"})
    with pytest.raises(AgentError) as error:
        await agent.start()
    assert error.value.kind == "agentUnavailable"
    assert "X agent" in error.value.message
    assert "no-such-program-anywhere" in error.value.message
    await agent.close()


async def test_death_in_mid_turn(make: Make, tmp_path: Path) -> None:
    agent, client = make({"prompts": [[{"text": "x"}, {"stderr": "out of memory"}, {"exit": 3}]]})
    session = await ready(agent, tmp_path)
    await agent.prompt(session, HELLO)
    await client.until(lambda: client.exit)
    assert client.exit is not None
    assert (client.exit.code, client.exit.stderr) == (3, ["out of memory"])
    assert [state.state for state in client.of(TurnState)] == ["running"]
    assert client.text() == "x"
    assert ("stderr", b"out of memory") in client.traced
    for call in (
        agent.prompt(session, HELLO),
        agent.authenticate("x"),
        agent.new_session(SessionParams(cwd="/")),
    ):
        with pytest.raises(AgentError) as error:
            await call
        assert error.value.kind == "agentDied"
        assert "status 3" in error.value.message
        assert "out of memory" in error.value.detail


async def test_a_pending_call_fails_when_the_agent_dies(make: Make) -> None:
    program = SPEAKER + (
        "for message in messages():\n"
        "    if message.get('method') == 'session/new': sys.stderr.write('bye\\n'); sys.exit(4)\n"
        "    greet(message)\n"
    )
    agent, _client = make(program)
    await agent.start()
    await agent.initialize()
    with pytest.raises(AgentError) as error:
        await agent.new_session(SessionParams(cwd="/"))
    assert (error.value.kind, error.value.detail) == ("agentDied", "bye")
    assert "status 4" in error.value.message


async def test_an_agent_that_hangs_up_is_ended(make: Make, tmp_path: Path) -> None:
    program = SPEAKER + (
        "import os, time\n"
        "for message in messages():\n"
        "    if message.get('method') == 'session/prompt': os.close(1); time.sleep(600)\n"
        "    greet(message)\n"
    )
    agent, client = make(program)
    session = await ready(agent, tmp_path)
    await agent.prompt(session, HELLO)
    await client.until(lambda: client.exit)
    assert client.exit is not None
    assert "closed its output" in client.exit.describe()


async def test_close_cancels_and_tells_no_exit(make: Make, tmp_path: Path) -> None:
    agent, client = make({"prompts": [[{"text": "x"}, {"wait": "cancel"}]]})
    session = await ready(agent, tmp_path)
    await agent.prompt(session, HELLO)
    await client.until(client.text)
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(agent.close(), agent.close())
    assert sent(client, "session/cancel") == [{"sessionId": session}]
    assert client.exit is None
    with pytest.raises(AgentError):
        await agent.prompt(session, HELLO)


async def test_a_call_that_nobody_waits_for_any_more_is_taken_back(make: Make) -> None:
    program = SPEAKER + (
        "for message in messages():\n"
        "    if message.get('method') == 'session/new': continue\n"
        "    if message.get('method') == '$/cancel_request': say('taken back')\n"
        "    greet(message)\n"
    )
    agent, client = make(program)
    await agent.start()
    await agent.initialize()
    call = asyncio.create_task(agent.new_session(SessionParams(cwd="/")))
    await asyncio.sleep(0)
    assert sent(client, "session/new")
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await client.until(client.text)
    assert len(sent(client, "$/cancel_request")) == 1


async def test_noise_costs_nothing_but_itself(make: Make, tmp_path: Path) -> None:
    noise = [{"raw": text} for text in ("Debug: hi", "", "42", "null", "[1]", "{", '"x"')]
    agent, client = make({"prompts": [[{"text": "a"}, *noise, {"text": "b"}]]})
    session = await ready(agent, tmp_path)
    await agent.prompt(session, HELLO)
    assert (await client.idle()).stop_reason == "end_turn"
    assert client.text() == "ab"
    assert ("noise", b"Debug: hi") in client.traced


SPEAKER = """
import json, sys
def send(**members):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **members}) + chr(10)); sys.stdout.flush()
def messages():
    for line in sys.stdin: yield json.loads(line)
def say(text):
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    send(method="session/update", params={"sessionId": "s", "update": update})
def greet(message, can=None, **session):
    hello = {"protocolVersion": 1, "agentCapabilities": can}
    answers = {"initialize": hello, "session/new": {"sessionId": "s", **session}}
    if message.get("method") not in answers: return False
    send(id=message["id"], result=answers[message["method"]])
    return True
"""
