"""Turns: one at a time, each ended exactly once, whatever the agent, the user and death do to them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pytest import MonkeyPatch

from acp_bridge.agents.agent import AgentError
from acp_bridge.agents.events import Error, MessageChunk, PermissionRequest, ToolCall, TurnState
from acp_bridge.host.errors import HostError

from .puppet import Puppet, Reply, Stage, stage


def stops(at: Stage, session: Any) -> list[tuple[str, str]]:
    return [(e["turnId"], e["stopReason"]) for e in at.ui.threads[session.id] if e["kind"] == "stop"]


async def test_a_turn_from_prompt_to_stop(monkeypatch: MonkeyPatch, tmp_path: Path) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await at.open()
        assert at.ui.of("session") == []
        accepted = session.prompt("hello", client_message_id="c1")
        assert session.thread.entries() == []
        await at.until(lambda: at.puppet.asked("prompt"))
        assert session.summary()["turnId"] == accepted["turnId"]
        await at.settle()
        assert at.ui.of("session")[-1]["title"] == "hello"
        at.puppet.say(MessageChunk(role="agent", text="hi"))
        at.puppet.end()
        last = await session.wait_idle()
        await at.settle()
        assert last == {"turnId": accepted["turnId"], "stopReason": "end_turn"}
        assert at.ui.kinds(session) == ["user", "agent", "stop"]
        assert at.ui.threads[session.id][0]["clientMessageId"] == "c1"
        assert at.ui.seen[-2][0] == "thread"
        assert at.ui.seen[-1][0] == "session"
        assert at.ui.seen[-1][1]["state"] == "idle"


async def test_cancel_waits_for_the_agent_and_later_updates_still_count(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await at.open()
        session.prompt("go")
        await at.until(lambda: at.puppet.asked("prompt"))
        at.puppet.say(ToolCall(id="t", title="run", status="in_progress", announced=True))
        assert session.cancel(reason="because") is True
        assert session.cancel() is True
        assert at.puppet.asked("cancel") == ["because"]
        assert session.state == "cancelling"
        at.puppet.say(MessageChunk(role="agent", text="stopping"))
        at.puppet.say(ToolCall(id="t", status="in_progress"))
        at.puppet.say(TurnState(state="idle", error=Error(message="aborted")))
        assert await session.wait_idle() == {
            "turnId": session.thread.entries()[0]["turnId"],
            "stopReason": "cancelled",
            "cancelled": True,
        }
        kinds = [entry["kind"] for entry in session.thread.entries()]
        assert kinds == ["user", "tool", "agent", "stop"]
        assert session.thread.entries()[1]["status"] == "cancelled"
        assert session.cancel() is False


async def test_the_agents_death_ends_the_turn_and_the_next_prompt_starts_it_again(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await at.open()
        session.prompt("go")
        await at.until(lambda: at.puppet.asked("prompt"))
        at.puppet.die(code=3, stderr=["boom"])
        last = await session.wait_idle()
        assert last is not None
        assert last["error"]["kind"] == "agentDied"
        assert "status 3" in last["error"]["message"]
        assert last["error"]["detail"] == "boom"
        await at.settle()
        assert session.state == "detached"
        session.prompt("again")
        await at.until(lambda: len(at.puppets) == 2 and at.puppet.asked("prompt") == ["again"])
        at.puppet.end()
        assert (await session.wait_idle() or {})["stopReason"] == "end_turn"
        assert [e["kind"] for e in session.thread.entries()] == [
            "user",
            "error",
            "stop",
            "user",
            "notice",
            "stop",
        ]


async def test_a_stale_word_of_the_end_changes_nothing(monkeypatch: MonkeyPatch, tmp_path: Path) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await at.open()
        at.puppet.end()
        await at.settle()
        assert session.summary()["taskState"] == "IN_PROGRESS"
        assert session.thread.entries() == []
        session.prompt("go")
        await at.until(lambda: at.puppet.asked("prompt"))
        at.puppet.end()
        at.puppet.end()
        await at.settle()
        assert len(stops(at, session)) == 1
        assert session.summary()["taskState"] == "REVIEW"


async def test_a_login_that_is_not_offered_is_named(monkeypatch: MonkeyPatch, tmp_path: Path) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        with pytest.raises(HostError) as caught:
            await at.host.authenticate("puppet", "nonsense")
        assert (caught.value.kind, caught.value.param) == ("badParam", "methodId")
        assert "key" in caught.value.hint


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("", "badParam"),
        (" \n", "badParam"),
        ([], "badParam"),
        (7, "badParam"),
        ([{"type": "text"}], "badParam"),
        ([{"type": "resource"}], "badParam"),
        ([{"type": "resource", "resource": "file:///a"}], "badParam"),
        ([{"type": "image", "data": "", "mimeType": "image/png"}], "unsupported"),
    ],
)
async def test_bad_prompts_are_refused_before_anything_is_sent(
    monkeypatch: MonkeyPatch, tmp_path: Path, prompt: Any, kind: str
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await at.open()
        with pytest.raises(HostError) as caught:
            session.prompt(prompt)
        assert (caught.value.kind, caught.value.param) == (kind, "prompt")
        assert at.puppet.asked("prompt") == []
        assert session.state == "idle"


async def test_steering_is_refused_and_nothing_is_queued(monkeypatch: MonkeyPatch, tmp_path: Path) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await at.open()
        with pytest.raises(HostError) as caught:
            session.prompt("left!", mode="steer")
        assert caught.value.kind == "unsupported"
        assert session.summary()["queue"]["items"] == []


async def test_a_refusal_shows_the_agents_last_words(monkeypatch: MonkeyPatch, tmp_path: Path) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await at.open()
        session.prompt("go")
        await at.until(lambda: at.puppet.asked("prompt"))
        at.puppet.say(MessageChunk(role="agent", text="max iterations exceeded"))
        at.puppet.end("refusal")
        await session.wait_idle()
        error = next(e for e in session.thread.entries() if e["kind"] == "error")
        assert "refused or failed" in error["message"]
        assert error["detail"] == "max iterations exceeded"


async def test_closing_ends_the_turn_and_forgets_the_session(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    async with stage(monkeypatch, str(tmp_path), lambda p: setattr(p.capabilities, "close", True)) as at:
        session = await at.open()
        session.prompt("go")
        await at.until(lambda: at.puppet.asked("prompt"))
        await at.host.close_session(session.id)
        assert stops(at, session) == [(session.thread.entries()[0]["turnId"], "cancelled")]
        assert at.puppet.asked("close") == ["n1"]
        with pytest.raises(HostError) as caught:
            at.host.session(session.id)
        assert caught.value.kind == "unknownSession"


async def test_closing_before_a_turn_has_begun_still_shows_it_whole(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await at.open()
        session.prompt("first")
        await at.until(lambda: at.puppet.asked("prompt"))
        at.puppet.end()
        await session.wait_idle()
        turn = session.prompt("go")["turnId"]
        await at.host.close_session(session.id)
        await at.settle()
        told = [(e["kind"], e["turnId"]) for e in session.thread.entries()[2:]]
        assert told == [("user", turn), ("stop", turn)]
        assert at.puppet.asked("prompt") == ["first"]


async def test_a_cancel_that_comes_before_the_agent_has_started_ends_the_turn(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    def prepare(puppet: Puppet) -> None:
        if at.puppets:
            puppet.hold("initialize")

    async with stage(monkeypatch, str(tmp_path), prepare) as at:
        session = await at.open()
        at.puppet.die(code=1)
        for when in ("at once", "while it starts"):
            turn = session.prompt("go")["turnId"]
            if when != "at once":
                await at.until(lambda: at.puppet.asked("initialize") and len(at.puppets) == 2)
            assert session.cancel() is True
            last = await session.wait_idle()
            assert last == {"turnId": turn, "stopReason": "cancelled", "cancelled": True}
        assert at.puppet.closed
        assert [e["kind"] for e in session.thread.entries()] == ["user", "stop"] * 2


async def test_a_turn_that_is_cancelled_as_it_fails_was_cancelled(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await at.open()

        async def fail(session_id: str, blocks: Any) -> None:
            session.cancel()
            raise AgentError("authRequired", "who are you?")

        at.puppet.prompt = fail  # type: ignore[method-assign]
        session.prompt("go")
        assert (await session.wait_idle() or {})["stopReason"] == "cancelled"
        assert session.summary()["queue"]["items"] == []


@pytest.mark.parametrize("open_", ["request", "tool", "both", "nothing"])
async def test_a_cancel_between_turns_ends_whatever_is_open(
    monkeypatch: MonkeyPatch, tmp_path: Path, open_: str
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await at.open()
        reply = Reply()
        if open_ in ("tool", "both"):
            at.puppet.say(ToolCall(id="t", title="x"))
        if open_ in ("request", "both"):
            at.puppet.say(PermissionRequest(id="1", reply=reply, options=[], title="May I?"))
        assert session.cancel(reason="because") is (open_ != "nothing")
        assert at.puppet.asked("cancel") == ([] if open_ == "nothing" else ["because"])
        assert reply.answers == (
            [("result", {"outcome": "cancelled"})] if open_ in ("request", "both") else []
        )


@pytest.mark.parametrize("state", ["running", "requires_action"])
async def test_only_idle_ends_a_turn(monkeypatch: MonkeyPatch, tmp_path: Path, state: Any) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await at.open()
        session.prompt("go")
        await at.until(lambda: at.puppet.asked("prompt"))
        at.puppet.say(TurnState(state=state))
        assert session.state == "running"
        assert len(session.thread.entries()) == 1
        at.puppet.end()
        assert (await session.wait_idle() or {})["stopReason"] == "end_turn"


async def test_an_end_that_comes_before_the_prompt_is_sent_ends_nothing(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    def prepare(puppet: Puppet) -> None:
        if at.puppets:
            puppet.on_new = lambda: puppet.end("end_turn")

    async with stage(monkeypatch, str(tmp_path), prepare) as at:
        session = await at.open()
        at.puppet.die(code=1)
        session.prompt("go")
        await at.until(lambda: len(at.puppets) == 2 and at.puppet.asked("prompt"))
        assert session.state == "running"
        at.puppet.end()
        await session.wait_idle()


async def test_a_prompt_that_cannot_be_sent_ends_its_turn(monkeypatch: MonkeyPatch, tmp_path: Path) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await at.open()

        async def fail(session_id: str, blocks: Any) -> None:
            raise ValueError("a fault of ours")

        at.puppet.prompt = fail  # type: ignore[method-assign]
        session.prompt("go")
        assert (await session.wait_idle() or {})["error"]["kind"] == "internal"


async def test_a_change_that_no_agent_made_is_told_by_itself(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await at.open()
        await at.settle()
        for title in ("one", "two"):
            session.rename(title)
            await at.settle()
            assert at.ui.of("session")[-1]["title"] == title
