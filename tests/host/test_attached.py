"""Attached UIs: what a laggard is told, that a failing one harms nobody, and when an agent is paused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from pytest import MonkeyPatch

from acp_bridge.agents.events import Log, MessageChunk, PermissionRequest, Progress, ToolCall
from acp_bridge.host.audience import PAUSE_ABOVE

from .puppet import Puppet, Reply, Ui, stage

FLOOD = MessageChunk(role="agent", text="x" * (PAUSE_ABOVE + 1))


class Broken(Ui):
    """Raises at whatever it is told."""

    def __getattribute__(self, name: str) -> Any:
        if name in ("congested", "seen") or name.startswith("__"):
            return super().__getattribute__(name)

        def fail(*_: Any) -> None:
            raise RuntimeError(name)

        return fail


async def test_a_ui_that_raises_harms_neither_the_turn_nor_the_others(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        at.host.detach(at.ui)
        at.host.attach(Broken())
        at.host.attach(at.ui)
        session = await at.open()
        session.prompt("go")
        await at.until(lambda: at.puppet.asked("prompt"))
        reply = Reply()
        at.puppet.say(
            MessageChunk(role="agent", text="a"),
            Progress(message="half"),
            Log(level="info", text="line"),
            PermissionRequest(id="1", reply=reply, options=[{"optionId": "y"}], tool_call=ToolCall(id="t")),
        )
        (request,) = at.ui.of("requested")
        at.host.answer_permission(request["requestId"], "y")
        at.puppet.end()
        with anyio.fail_after(30):
            await session.wait_idle()
        await at.settle()
        assert at.ui.kinds(session) == ["user", "agent", "tool", "stop"]
        assert (at.ui.of("progress"), at.ui.of("log")) == (["half"], ["line"])
        assert at.ui.of("resolved")
        assert at.ui.of("agent")[-1] == "running"


async def test_a_full_connection_gets_the_last_state_of_an_agent_and_no_stale_progress(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        await at.open()
        await at.settle()
        at.ui.congested = True
        before = len(at.ui.seen)
        for _ in range(3):
            await at.host.restart_agent("puppet")
        at.puppet.say(Progress(message="lost"), Log(level="info", text="lost"))
        assert len(at.ui.seen) == before
        at.ui.congested = False
        at.host.drained(at.ui)
        told = [value for kind, value in at.ui.seen[before:] if kind == "agent"]
        assert told == ["running"]
        assert at.ui.of("progress") == at.ui.of("log") == []


@pytest.mark.parametrize("how", ["closed", "attached", "detached"])
async def test_a_paused_agent_goes_on_once_nobody_is_behind(
    monkeypatch: MonkeyPatch, tmp_path: Path, how: str
) -> None:
    def prepare(puppet: Puppet) -> None:
        puppet.capabilities.close = True

    async with stage(monkeypatch, str(tmp_path), prepare) as at:
        session = await at.open()
        at.ui.congested = True
        at.puppet.say(FLOOD)
        assert at.puppet.paused
        if how == "closed":
            await at.host.close_session(session.id)
        elif how == "attached":
            at.host.attach(Ui())
        else:
            at.host.detach(at.ui)
        assert not at.puppet.paused


async def test_an_agent_that_dies_while_paused_comes_back_unpaused(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await at.open()
        at.ui.congested = True
        at.puppet.say(FLOOD)
        at.puppet.die(code=1)
        at.ui.congested = False
        at.host.drained(at.ui)
        await at.host.restart_agent("puppet")
        at.ui.congested = True
        at.puppet.say(FLOOD)
        assert at.puppet.paused
        assert len(session.thread.entries()) == 3


async def test_one_that_attaches_while_a_session_opens_hears_nothing_before_its_answer(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    late = Ui()

    def prepare(puppet: Puppet) -> None:
        puppet.hold("new")

    async with stage(monkeypatch, str(tmp_path), prepare) as at, anyio.create_task_group() as tasks:
        tasks.start_soon(at.open)
        await at.until(lambda: at.puppets and at.puppet.asked("new"))
        at.host.attach(late)
        at.puppet.say(MessageChunk(role="agent", text="early"), Progress(message="early"))
        at.puppet.gates["new"].set()
        assert at.host.list_sessions()["sessions"] == []
        await at.until(lambda: at.host.sessions)
        await at.settle()
        (session,) = at.host.sessions.values()
        assert [kind for kind, _ in late.seen] == ["session"]
        late.threads[session.id] = session.thread.entries()
        at.puppet.say(MessageChunk(role="agent", text=" later"))
        assert late.seen[-1][1]["ops"] == [
            {"op": "append", "id": session.thread.order[0], "field": "text", "text": " later"}
        ]


async def test_a_ui_attached_twice_is_told_once_and_one_detached_leaves_nothing(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await at.open()
        await at.settle()
        at.host.attach(at.ui)
        at.puppet.say(MessageChunk(role="agent", text="a"))
        assert len(at.ui.of("thread")) == 1
        assert len(session.thread._watchers) == 1
        at.host.detach(at.ui)
        assert session.thread._watchers == []


async def test_a_closed_session_is_not_told_of_again(monkeypatch: MonkeyPatch, tmp_path: Path) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await at.open()
        session.prompt("go")
        await at.until(lambda: at.puppet.asked("prompt"))
        await at.host.close_session(session.id)
        assert at.ui.threads[session.id][-1]["kind"] == "stop"
        before = len(at.ui.seen)
        session.rename("Ghost")
        await at.settle()
        assert len(at.ui.seen) == before
        assert session.thread._watchers == []
