"""Agents that start, end and are replaced while something waits for them: nothing hangs or is mixed up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from pytest import MonkeyPatch

from acp_bridge.agents.agent import AgentError
from acp_bridge.agents.events import (
    ConfigOptions,
    Log,
    MessageChunk,
    Notice,
    PermissionRequest,
    ReadFile,
    SessionInfo,
    ToolCall,
)
from acp_bridge.config.load import Configuration
from acp_bridge.config.settings import Settings
from acp_bridge.host.errors import HostError
from acp_bridge.host.host import Host
from acp_bridge.host.runner import EARLY_EVENTS, LOG_LINE

from .puppet import Puppet, Reply, Stage, stage


class Outcome:
    """What became of a call that runs in a task."""

    def __init__(self) -> None:
        self.value: Any = None
        self.error: HostError | None = None
        self.done = False

    async def of(self, function: Any, *args: Any) -> None:
        try:
            self.value = await function(*args)
        except HostError as error:
            self.error = error
        self.done = True


def texts(at: Stage) -> list[str]:
    return [line["text"] for line in at.host.agent_log("puppet")]


async def test_a_restart_gives_up_a_start_that_hangs(monkeypatch: MonkeyPatch, tmp_path: Path) -> None:
    def prepare(puppet: Puppet) -> None:
        if not at.puppets:
            puppet.hold("initialize")

    async with stage(monkeypatch, str(tmp_path), prepare) as at, anyio.create_task_group() as tasks:
        opening = Outcome()
        tasks.start_soon(opening.of, at.open)
        await at.until(lambda: at.puppets and at.puppet.asked("initialize"))
        with anyio.fail_after(30):
            await at.host.restart_agent("puppet")
        await at.until(lambda: opening.done)
        assert opening.error is not None
        assert opening.error.kind == "agentDied"
        assert at.puppets[0].closed
        assert (len(at.puppets), at.puppet.closed) == (2, False)
        assert at.host.list_agents()[0]["state"] == "running"
        session = await at.open()
        session.prompt("go")
        await at.until(lambda: at.puppet.asked("prompt"))


async def test_leaving_gives_up_a_start_and_starts_nothing_more(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    first, second = Outcome(), Outcome()
    async with anyio.create_task_group() as tasks:
        async with stage(monkeypatch, str(tmp_path), lambda puppet: puppet.hold("initialize") and None) as at:
            tasks.start_soon(first.of, at.open)
            tasks.start_soon(second.of, at.open)
            await at.until(lambda: at.puppets and at.puppet.asked("initialize"))
        with anyio.fail_after(30):
            await at.until(lambda: first.done and second.done)
    assert len(at.puppets) == 1
    assert at.puppet.closed
    kinds = sorted(outcome.error.kind for outcome in (first, second) if outcome.error is not None)
    assert kinds == ["agentDied", "agentUnavailable"]


async def test_a_cancelled_start_is_no_failure(monkeypatch: MonkeyPatch, tmp_path: Path) -> None:
    async with stage(monkeypatch, str(tmp_path), lambda puppet: puppet.hold("initialize") and None) as at:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(at.open)
                await at.until(lambda: at.puppets and at.puppet.asked("initialize"))
                scope.cancel()
        assert at.puppet.closed
        assert at.host.list_agents()[0]["state"] == "stopped"
        assert at.host.of_runner(at.host.runner("puppet")) == []


async def test_a_program_that_dies_as_its_handshake_ends_never_counts_as_running(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    class Dying(Puppet):
        async def initialize(self) -> None:
            if len(at.puppets) == 1:
                self.die(code=1)

    monkeypatch.setattr("tests.host.puppet.Puppet", Dying)
    async with stage(monkeypatch, str(tmp_path)) as at:
        with pytest.raises(HostError, match="ended as it started") as caught:
            await at.open()
        assert caught.value.kind == "agentDied"
        assert at.host.list_agents()[0]["state"] == "failed"
        session = await at.open()
        assert (len(at.puppets), session.state) == (2, "idle")


@pytest.mark.parametrize("again", [False, True], ids=["new", "attached again"])
async def test_a_program_that_dies_as_it_opens_a_session_leaves_nothing_of_it(
    monkeypatch: MonkeyPatch, tmp_path: Path, again: bool
) -> None:
    def prepare(puppet: Puppet) -> None:
        dies_in = 1 if again else 0
        if len(at.puppets) == dies_in:
            puppet.on_new = lambda: puppet.die(code=1)

    async with stage(monkeypatch, str(tmp_path), prepare) as at:
        if again:
            session = await at.open()
            at.puppet.die(code=1)
            session.prompt("go")
            last = await session.wait_idle()
            assert last is not None
            assert last["error"]["kind"] == "agentDied"
            assert session.state == "detached"
        else:
            with pytest.raises(HostError, match="ended as it opened"):
                await at.open()
            assert at.host.sessions == {}
        stranger = Reply()
        fresh = await at.open()
        assert fresh.native_id == "n1"
        at.puppet.say(MessageChunk(role="agent", text="mine"), ReadFile(id="1", reply=stranger, path="/x"))
        assert fresh.thread.entries()[0]["text"] == "mine"
        if again:
            assert "mine" not in [entry.get("text") for entry in session.thread.entries()]


async def test_the_id_of_a_dead_program_is_not_used_with_its_successor(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    def prepare(puppet: Puppet) -> None:
        puppet.capabilities.close = True
        puppet.on_new = lambda: puppet.say(ConfigOptions(options=[{"id": "mode"}]))

    async with stage(monkeypatch, str(tmp_path), prepare) as at:
        old = await at.open()
        at.puppet.die(code=1)
        new = await at.open()
        assert old.native_id == new.native_id == "n1"
        at.puppet.say(ToolCall(id="t", title="x"))
        with pytest.raises(HostError) as caught:
            await old.set_config_option("mode", "b")
        assert caught.value.kind == "agentDied"
        assert old.cancel() is False
        await at.host.close_session(old.id)
        assert at.puppet.asked("set") == at.puppet.asked("close") == at.puppet.asked("cancel") == []
        at.puppet.say(MessageChunk(role="agent", text="hello"))
        assert new.thread.entries()[-1]["text"] == "hello"


async def test_an_id_that_is_taken_is_refused_and_the_first_session_keeps_it(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        first, second = await at.open(), await at.open()
        at.puppet.say(SessionInfo(native_session_id="n1"), session="n2")
        at.puppet.say(MessageChunk(role="agent", text="one"), session="n1")
        at.puppet.say(MessageChunk(role="agent", text="two"), session="n2")
        assert [s.thread.entries()[0]["text"] for s in (first, second)] == ["one", "two"]
        at.puppet.sessions = 0
        with pytest.raises(HostError, match="the id of one that is open"):
            await at.open()
        at.puppet.say(SessionInfo(native_session_id="x2"), session="n2")
        at.puppet.say(MessageChunk(role="agent", text=" three"), session="x2")
        assert second.thread.entries()[0]["text"] == "two three"


async def test_what_a_restart_and_a_prompt_want_at_once_is_opened_once(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    def prepare(puppet: Puppet) -> None:
        if at.puppets:
            puppet.hold("new")

    async with stage(monkeypatch, str(tmp_path), prepare) as at, anyio.create_task_group() as tasks:
        session = await at.open()
        tasks.start_soon(at.host.restart_agent, "puppet")
        await at.until(lambda: len(at.puppets) == 2 and at.puppet.asked("new"))
        session.prompt("go")
        await at.settle()
        at.puppet.gates["new"].set()
        await at.until(lambda: at.puppet.asked("prompt"))
        await at.settle()
        assert len(at.puppet.asked("new")) == 1
        assert [entry["kind"] for entry in session.thread.entries()].count("notice") == 1
        at.puppet.end()


async def test_requests_for_a_session_that_is_not_made_are_answered(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    early = Reply()

    class Refusing(Puppet):
        async def new_session(self, params: Any) -> str:
            self.say(ReadFile(id="1", reply=early, path="/x"))
            raise AgentError("internal", "no", detail="the token hunter2")

    monkeypatch.setattr("tests.host.puppet.Puppet", Refusing)
    async with stage(monkeypatch, str(tmp_path), env={"API_TOKEN": "hunter2"}) as at:
        with pytest.raises(HostError, match="no") as caught:
            await at.open()
        assert "hunter2" not in caught.value.detail
        assert early.answers == [("error", -32602)]
        assert at.host.of_runner(at.host.runner("puppet")) == []


async def test_only_so_much_is_kept_for_sessions_nobody_knows_and_no_request_is_lost(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    last = Reply()

    def prepare(puppet: Puppet) -> None:
        def flood() -> None:
            for number in range(EARLY_EVENTS):
                puppet.client.event(f"s{number % 7}", MessageChunk(role="agent", text="x"))
            puppet.say(ReadFile(id="1", reply=last, path="/x"))
            assert last.answers == [("error", -32602)]

        puppet.on_new = flood

    async with stage(monkeypatch, str(tmp_path), prepare) as at:
        await at.open()


async def test_options_that_are_refused_leave_no_session_and_no_question(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    asked = Reply()

    def prepare(puppet: Puppet) -> None:
        puppet.capabilities.close = True
        puppet.refuse_set = AgentError("internal", "not that one")
        question = PermissionRequest(id="1", reply=asked, options=[], tool_call=ToolCall(id="t"))
        puppet.on_new = lambda: puppet.say(ConfigOptions(options=[{"id": "mode"}]), question)

    async with stage(monkeypatch, str(tmp_path), prepare) as at:
        with pytest.raises(HostError, match="not that one"):
            await at.open(config_options={"mode": "x"})
        assert asked.answers == [("result", {"outcome": "cancelled"})]
        await at.until(lambda: at.puppet.asked("close") == ["n1"])
        assert (at.host.sessions, at.host.pending_requests()) == ({}, [])
        assert at.ui.of("resolved") == at.ui.of("session") == []


async def test_closing_does_not_wait_for_ever_for_the_agent(monkeypatch: MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("acp_bridge.host.host.CLOSE_SECONDS", 0.01)

    def prepare(puppet: Puppet) -> None:
        puppet.capabilities.close = True
        puppet.hold("close")

    async with stage(monkeypatch, str(tmp_path), prepare) as at:
        session = await at.open()
        with anyio.fail_after(30):
            await at.host.close_session(session.id)
        assert at.puppet.asked("close") == ["n1"]


async def test_a_running_turn_is_interrupted_when_the_bridge_ends_and_what_waits_is_kept(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await at.open()
        turn = session.prompt("go")["turnId"]
        waiting = session.prompt("later")["turnId"]
        reply = Reply()
        await at.until(lambda: at.puppet.asked("prompt"))
        at.puppet.say(PermissionRequest(id="1", reply=reply, options=[], tool_call=ToolCall(id="t")))
    assert at.host.list_agents()[0]["state"] == "stopped"
    assert at.ui.threads[session.id][-1]["stopReason"] == "interrupted"
    assert at.ui.threads[session.id][-1]["turnId"] == turn
    assert [item["turnId"] for item in session.summary()["queue"]["items"]] == [waiting]
    assert reply.answers == [("result", {"outcome": "cancelled"})]
    assert at.puppet.asked("prompt") == ["go"]


async def test_an_event_that_cannot_be_applied_costs_neither_the_next_nor_the_request_in_it(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await at.open()
        reply = Reply()
        broken: Any = PermissionRequest(id="1", reply=reply, options=[{"name": "no id"}])
        at.puppet.say(
            Notice(severity="info", title="a", parent=None), broken, MessageChunk(role="agent", text="b")
        )
        assert reply.answers == [("error", -32603)]
        assert session.thread.entries()[-1]["text"] == "b"


async def test_the_log_keeps_what_sessions_log_without_secrets_and_never_whole_novels(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    async with stage(monkeypatch, str(tmp_path), env={"API_TOKEN": "hunter2"}) as at:
        session = await at.open()
        at.puppet.say(Log(level="info", text="using hunter2"))
        at.puppet.client.wire("noise", b"x" * 100_000)
        assert "hunter2" not in texts(at)[-2]
        assert texts(at)[-2].startswith("using ")
        assert len(texts(at)[-1]) < LOG_LINE + 100
        assert "100000" in texts(at)[-1]
        session.prompt("go")
        await at.until(lambda: at.puppet.asked("prompt"))
        at.puppet.die(code=1, stderr=["bad key hunter2"])
        error = session.thread.entries()[1]
        assert error["kind"] == "error"
        assert "bad key" in error["detail"]
        assert "hunter2" not in error["detail"]
        session.transcript.apply(MessageChunk(role="agent", text="I was given hunter2"))
        assert "hunter2" not in session.export("markdown") + session.export("json")


async def test_a_trace_sees_everything_and_one_that_cannot_be_written_costs_no_event(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    class Tracer:
        def __init__(self, full: bool) -> None:
            self.full = full
            self.seen: list[Any] = []

        def wire(self, agent_id: str, direction: str, raw: bytes) -> None:
            self._write((agent_id, direction, raw))

        def event(self, agent_id: str, event: Any) -> None:
            self._write((agent_id, event.text))

        def _write(self, row: Any) -> None:
            self.seen.append(row)
            if self.full:
                raise OSError("disk full")

    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await at.open()
        for full in (False, True):
            at.host.tracer = tracer = Tracer(full)
            at.puppet.client.wire("in", b"{}")
            at.puppet.say(MessageChunk(role="agent", text="told"))
            assert tracer.seen == [("puppet", "in", b"{}"), ("puppet", "told")]
        assert session.thread.entries()[0]["text"] == "toldtold"


async def test_a_request_that_waits_for_a_session_is_answered_when_the_program_ends(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    early = Reply()

    def prepare(puppet: Puppet) -> None:
        def speak() -> None:
            puppet.say(ReadFile(id="1", reply=early, path="/x"))
            puppet.die(code=1)
            assert early.answers == [("error", -32602)]

        puppet.on_new = speak

    async with stage(monkeypatch, str(tmp_path), prepare) as at:
        with pytest.raises(HostError, match="ended as it opened"):
            await at.open()


async def test_the_environment_is_looked_up_once(monkeypatch: MonkeyPatch, tmp_path: Path) -> None:
    found: list[int] = []

    def look_up() -> dict[str, str]:
        found.append(1)
        return {"API_TOKEN": "hunter2"}

    monkeypatch.setattr("acp_bridge.host.host.inherited", look_up)
    host = Host(Configuration({}, [], Settings()))
    assert await host.resolved_environ() == await host.resolved_environ() == {"API_TOKEN": "hunter2"}
    assert len(found) == 1
    assert "hunter2" not in host.mask("it is hunter2")
