"""The main job with real agents, over the editor's connection: what they say and do, what the user decides.

The model behind them is scripted (support/model_server.py), so that every word expected here is known; in
what the agents differ stands in subjects.py.
"""

from __future__ import annotations

import json
import time

import pytest

from real_agents.conftest import Workshop, prompt

pytestmark = [pytest.mark.real_agent, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(180)]

HELLO = "Hello from the fake model."


async def test_text(workshop: Workshop) -> None:
    session, project = await workshop.session()
    turn = await workshop.turn(session, project, "hello")
    assert HELLO in turn.text
    assert (turn.stop_reason, turn.tools, turn.errors) == ("end_turn", [], [])
    assert turn.entries[0]["kind"] == "user"


async def test_thoughts_are_kept_apart_from_text(workshop: Workshop) -> None:
    session, project = await workshop.session()
    turn = await workshop.turn(session, project, "think")
    assert "Thought done." in turn.text
    assert "Let me think" not in turn.text


async def test_a_file_is_written_once_allowed(workshop: Workshop) -> None:
    session, project = await workshop.session()
    turn = await workshop.turn(session, project, "write", on_permission="allow_once")
    assert len(turn.permissions) == 1
    assert "made.txt" in json.dumps(turn.permissions[0])
    assert (project / "made.txt").read_text().splitlines() == ["line one", "line two"]
    assert [tool["status"] for tool in turn.tools] == ["completed"]
    assert turn.permissions[0]["entryId"] == turn.tools[0]["id"]
    assert "I will write a file." in turn.text and "Written." in turn.text
    assert turn.stop_reason == "end_turn"


async def test_nothing_is_written_when_rejected(workshop: Workshop) -> None:
    session, project = await workshop.session()
    turn = await workshop.turn(session, project, "write", on_permission="reject_once")
    assert len(turn.permissions) == 1
    assert not (project / "made.txt").exists()
    assert [tool["status"] in ("failed", "cancelled") for tool in turn.tools] == [True]
    assert turn.stop_reason == workshop.subject.rejected_stop
    assert ("Written." in turn.text) == workshop.subject.goes_on
    again = await workshop.turn(session, project, "hello")
    assert HELLO in again.text
    assert again.stop_reason == "end_turn"


async def test_a_shell_command_runs_once_allowed(workshop: Workshop) -> None:
    session, project = await workshop.session()
    turn = await workshop.turn(session, project, "command", on_permission="allow_once")
    assert len(turn.permissions) == 1
    assert turn.permissions[0]["action"]["type"] == "shell"
    assert "touch made_by_shell.txt" in json.dumps(turn.permissions[0]["action"]["details"]["command"])
    assert (project / "made_by_shell.txt").exists()
    assert [tool["status"] for tool in turn.tools] == ["completed"]
    shown = json.dumps(turn.tools[0]).replace("echo out-2", "")
    assert ("out-2" in shown) == workshop.subject.shows_output
    assert "Ran it." in turn.text
    assert turn.stop_reason == "end_turn"


async def test_a_shell_command_does_not_run_when_the_user_cancels(workshop: Workshop) -> None:
    session, project = await workshop.session()
    turn = await workshop.turn(session, project, "command", on_permission=None)
    assert turn.stop_reason == "cancelled"
    assert not (project / "made_by_shell.txt").exists()
    assert "Ran it." not in turn.text
    assert all(tool["status"] in ("failed", "cancelled") for tool in turn.tools)


async def test_cancel_in_mid_stream_and_the_next_turn(workshop: Workshop) -> None:
    """The script would go on ticking for half a minute."""
    session, project = await workshop.session()
    client = workshop.client
    turn_id = await client.prompt(session, prompt(project, "slow"))

    def ticks() -> int:
        entries = client.threads[session].entries
        return sum(entry["text"].count("tick") for entry in entries if entry["kind"] == "agent")

    await client.wait_for(lambda: ticks() >= 3)
    asked = time.monotonic()
    assert await client.request("acp/session/cancel", {"sessionId": session}) == {"cancelled": True}
    stop = await client.wait_for(lambda: client.stop_of(session, turn_id), 15)
    assert stop["stopReason"] == "cancelled"
    assert time.monotonic() - asked < 15
    assert ticks() < 200
    turn = await workshop.turn(session, project, "hello")
    assert (HELLO in turn.text, turn.stop_reason) == (True, "end_turn")
    assert "tick" not in turn.text


async def test_a_second_turn_knows_the_first(workshop: Workshop) -> None:
    session, project = await workshop.session()
    for scenario in ("think", "hello"):
        turn = await workshop.turn(session, project, scenario)
        assert turn.stop_reason == "end_turn"
    assert HELLO in turn.text
    asked = [json.dumps(request.body) for request in workshop.model.requests if request.scenario == "hello"]
    assert "SCN:think" in next(body for body in reversed(asked) if str(project) in body)


async def test_an_edit_arrives_in_the_open_document_or_on_the_disk(workshop: Workshop) -> None:
    """Where the agent writes through the client, the editor's buffer has it by an undoable edit."""
    session, project = await workshop.session()
    documents = workshop.client.documents
    uri = documents.open(project / "README.md")
    edits = len(documents.edits)
    turn = await workshop.turn(session, project, "edit", on_permission="allow_once")
    assert turn.stop_reason == "end_turn"
    if workshop.subject.writes_through_client:
        assert documents.texts[uri].startswith("goodbye world\n")
        assert len(documents.edits) == edits + 1
    elif turn.tools:
        assert (project / "README.md").read_text().startswith("goodbye world\n")
        assert len(documents.edits) == edits
    documents.close(uri)
