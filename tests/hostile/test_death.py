"""An agent that dies, never lives, or answers nonsense: the turn ends, the error says why."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hostile.stage import Scene, bridge, hostile, program
from support.lsp_client import LspError, Turn


def only_error(turn: Turn) -> dict[str, str]:
    assert turn.stop_reason == "error"
    assert len(turn.errors) == 1
    assert [entry["kind"] for entry in turn.entries][-2:] == ["error", "stop"]
    return turn.errors[0]


@pytest.mark.parametrize(("how", "word"), [("exit3", "3"), ("kill", "SIGKILL"), ("exit0", "0")])
async def test_death_in_mid_turn(how: str, word: str, tmp_path: Path) -> None:
    async with hostile(tmp_path, "dies", how) as scene:
        session = await scene.session()
        turn = await scene.client.turn(session, "go", timeout=20)
        error = only_error(turn)
        assert turn.text == "so far "
        assert word in error["message"] and "hostile" in error["message"]
        assert "fatal: the disk of the agent is on fire" in error["detail"]
        assert "\x1b" not in error["detail"]
        assert error["hint"]
        again = await scene.client.turn(session, "go", timeout=20)
        assert (again.text, again.stop_reason) == ("so far ", "error")


async def test_a_last_answer_without_a_line_end(tmp_path: Path) -> None:
    async with hostile(tmp_path, "half_line") as scene:
        turn = await scene.turn()
    assert (turn.text, turn.stop_reason, turn.errors) == ("complete", "end_turn", [])


async def test_death_in_the_middle_of_a_line(tmp_path: Path) -> None:
    async with hostile(tmp_path, "cut_line") as scene:
        turn = await scene.turn()
    assert "exited with status 1" in only_error(turn)["message"]
    assert turn.text == "complete"


async def refused(scene: Scene) -> LspError:
    with pytest.raises(LspError) as caught:
        await scene.session()
    error = caught.value
    assert "hostile" in error.message
    assert error.data["hint"]
    return error


async def test_a_program_that_speaks_no_acp(tmp_path: Path) -> None:
    async with hostile(tmp_path, "no_acp") as scene:
        error = await refused(scene)
    assert (error.code, error.kind) == (-32803, "agentSpeaksNoAcp")
    assert "this program has moved, see the manual" in error.message + error.data["detail"]


async def test_a_version_nobody_speaks(tmp_path: Path) -> None:
    async with hostile(tmp_path, "wrong_version") as scene:
        error = await refused(scene)
    assert error.code == -32803
    assert "7" in error.message


async def test_an_error_in_place_of_the_handshake(tmp_path: Path) -> None:
    async with hostile(tmp_path, "wrong_version", "error") as scene:
        error = await refused(scene)
    assert "no licence file" in error.message + str(error.data.get("detail"))


async def test_a_command_that_does_not_exist(tmp_path: Path) -> None:
    missing = str(tmp_path / "no such program")
    async with bridge(tmp_path, {"hostile": {"command": missing, "args": [], "env": {}}}) as scene:
        error = await refused(scene)
    assert (error.code, error.kind) == (-32803, "agentUnavailable")
    assert missing in error.message


async def test_no_answer_to_initialize(tmp_path: Path) -> None:
    """It shows as starting, others are not held up, and giving up ends it."""
    servers = {"hostile": program("silent"), "other": program("koog_whole_messages")}
    async with bridge(tmp_path, servers) as scene:
        client = scene.client
        asked = client.start_request("acp/session/new", {"agent": "hostile", "cwd": str(scene.project)})
        await client.wait_for(lambda: client.agents.get("hostile", {}).get("state") == "starting")
        other = await client.new_session("other", scene.project)
        assert (await client.turn(other, "go")).stop_reason == "end_turn"
        assert not asked.done()
        client.cancel_request(asked)
        with pytest.raises(LspError) as caught:
            await asyncio.wait_for(asked, 20)
        assert caught.value.code == -32800


async def test_no_answer_to_initialize_and_the_editor_leaves(tmp_path: Path) -> None:
    async with hostile(tmp_path, "silent") as scene:
        client = scene.client
        client.start_request("acp/session/new", {"agent": "hostile", "cwd": str(scene.project)})
        await client.wait_for(lambda: client.agents.get("hostile", {}).get("state") == "starting")


async def test_stdout_closed_and_alive(tmp_path: Path) -> None:
    async with hostile(tmp_path, "closes_stdout") as scene:
        turn = await scene.turn(timeout=30)
    assert turn.text == "so far "
    assert "hostile" in only_error(turn)["message"]


async def test_stdin_closed_and_alive(tmp_path: Path) -> None:
    """Nothing the editor does hangs: the turn either fails or can be cancelled."""
    async with hostile(tmp_path, "deaf") as scene:
        session = await scene.session()
        turn_id = await scene.client.prompt(session, "x" * (1 << 20))
        await scene.client.wait_for(lambda: scene.client.threads[session].entries)
        await scene.client.request("acp/session/cancel", {"sessionId": session})
        await scene.client.request("acp/agents/restart", {"agent": "hostile"}, timeout=20)
        await scene.client.wait_for(lambda: scene.client.stop_of(session, turn_id), 20)


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("unknown", "quantum_leap"),
        ("null", "end_turn"),
        ("empty", "end_turn"),
        ("string", "end_turn"),
        ("number", "end_turn"),
        ("error_text", "error"),
        ("error_null", "end_turn"),
        ("neither", "end_turn"),
    ],
)
async def test_an_end_nobody_expects(how: str, reason: str, tmp_path: Path) -> None:
    """Any answer ends the turn; one without a word on how it ended says no more than that."""
    async with hostile(tmp_path, "odd_answers", how) as scene:
        session = await scene.session()
        turn = await scene.client.turn(session, "go", timeout=20)
        assert (turn.text, turn.stop_reason) == ("hello", reason)
        assert len(turn.errors) == (reason == "error")
        assert (await scene.client.turn(session, "again", timeout=20)).stop_reason == reason


async def test_an_http_status_as_error_code(tmp_path: Path) -> None:
    async with hostile(tmp_path, "http_error") as scene:
        turn = await scene.turn()
    error = only_error(turn)
    assert "rate limit of the model" in error["message"]
    assert "429" in error["message"] + error["detail"]
