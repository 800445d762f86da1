"""The host as faces see it: early events, laggards and back-pressure, agents and their states, bad input."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from pytest import MonkeyPatch

from acp_bridge.agents.agent import AgentError
from acp_bridge.agents.events import (
    Commands,
    ConfigOptions,
    ExtensionRequest,
    MessageChunk,
    PermissionRequest,
    ReadFile,
    SessionInfo,
    ToolCall,
    Usage,
)
from acp_bridge.config.load import Configuration
from acp_bridge.config.server import AgentServer
from acp_bridge.config.settings import Settings
from acp_bridge.host.audience import PAUSE_ABOVE
from acp_bridge.host.errors import HostError
from acp_bridge.host.host import Host

from .puppet import Puppet, Reply, Ui, stage


async def test_what_comes_before_the_answer_to_session_new_is_kept(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    early = Reply()
    stray = Reply()

    def prepare(puppet: Puppet) -> None:
        def speak() -> None:
            puppet.say(Commands(commands=[{"name": "init"}]), MessageChunk(role="agent", text="early"))
            puppet.say(PermissionRequest(id="1", reply=early, options=[], tool_call=ToolCall(id="t")))
            puppet.say(ReadFile(id="2", reply=stray, path="/x"), session="nobody")

        puppet.on_new = speak

    async with stage(monkeypatch, str(tmp_path), prepare) as at:
        session = await at.open()
        assert at.ui.seen[-1] == ("agent", "running")
        assert session.summary()["commands"] == [{"name": "init"}]
        assert [entry["kind"] for entry in session.thread.entries()] == ["agent", "tool"]
        assert stray.answers == [("error", -32602)]
        await at.settle()
        assert [kind for kind, _ in at.ui.seen if kind in ("session", "requested")][:2] == [
            "session",
            "requested",
        ]
        assert early.answers == []


async def test_requests_for_a_session_nobody_knows_are_answered(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        await at.open()
        unknown, extension, free = Reply(), Reply(), Reply()
        at.puppet.client.event(None, ExtensionRequest(id="3", reply=free, method="authenticate", params={}))
        assert free.answers == [("error", -32601)]
        at.puppet.say(ReadFile(id="1", reply=unknown, path="/x"), session="other")
        at.puppet.say(ExtensionRequest(id="2", reply=extension, method="_x/y", params={}))
        assert unknown.answers == [("error", -32602)]
        assert extension.answers == [("error", -32601)]


async def test_a_ui_that_does_not_read_gets_one_merged_change_and_loses_nothing(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await at.open()
        await at.settle()
        at.ui.congested = True
        before = len(at.ui.seen)
        session.prompt("go")
        await at.until(lambda: at.puppet.asked("prompt"))
        for number in range(100):
            at.puppet.say(MessageChunk(role="agent", text=f"{number} "))
        at.puppet.say(PermissionRequest(id="1", reply=Reply(), options=[], tool_call=ToolCall(id="t")))
        await at.settle()
        assert len(at.ui.seen) == before
        at.ui.congested = False
        at.host.drained(at.ui)
        assert [kind for kind, _ in at.ui.seen[before:]] == ["thread", "session", "requested"]
        assert at.ui.threads[session.id] == session.thread.entries()


async def test_an_agent_is_paused_only_while_no_ui_keeps_up(monkeypatch: MonkeyPatch, tmp_path: Path) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        slow = Ui()
        at.host.attach(slow)
        session = await at.open()
        slow.congested = True
        flood = MessageChunk(role="agent", text="x" * (PAUSE_ABOVE + 1))
        at.puppet.say(flood)
        assert not at.puppet.paused
        at.ui.congested = True
        at.puppet.say(flood)
        assert at.puppet.paused
        at.ui.congested = False
        at.host.drained(at.ui)
        assert not at.puppet.paused
        at.host.detach(at.ui)
        slow.congested = False
        at.host.drained(slow)
        assert slow.threads[session.id] == session.thread.entries()


async def test_the_session_tells_usage_options_and_titles(monkeypatch: MonkeyPatch, tmp_path: Path) -> None:
    option = {"id": "mode", "name": "Mode", "type": "select", "currentValue": "a", "options": []}
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await at.open()
        at.puppet.say(Usage(used=15000, size=200000), ConfigOptions(options=[option]))
        summary = session.summary()
        assert summary["usage"] == {"used": 15000, "size": 200000, "remaining": 185000, "percent": 7.5}
        assert summary["configOptions"] == [option]
        at.puppet.say(Usage(used=1, size=0))
        assert session.summary()["usage"]["percent"] is None
        at.puppet.say(SessionInfo(title="Theirs"))
        assert session.title == "Theirs"
        session.rename("Mine")
        at.puppet.say(SessionInfo(title="Theirs again"))
        assert session.title == "Mine"
        with pytest.raises(HostError, match="unknown option"):
            await session.set_config_option("nope", 1)
        await session.set_config_option("mode", "b")
        assert at.puppet.asked("set") == [("mode", "b")]


async def test_defaults_of_the_entry_and_options_of_the_caller_are_set(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    def prepare(puppet: Puppet) -> None:
        options = [{"id": "mode", "type": "select"}, {"id": "model", "type": "select"}]
        puppet.on_new = lambda: puppet.say(ConfigOptions(options=options))

    async with stage(monkeypatch, str(tmp_path), prepare, default_mode="plan", default_model="big") as at:
        await at.open(config_options={"model": "small"})
        assert at.puppet.asked("set") == [("mode", "plan"), ("model", "small")]
        with pytest.raises(HostError, match="unknown option 'x'") as caught:
            await at.open(config_options={"x": 1})
        assert (caught.value.param, caught.value.kind) == ("configOptions", "badParam")
        assert caught.value.hint == "known: none"


async def test_a_session_that_wants_a_login_names_the_methods_and_leaves_nothing(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    def prepare(puppet: Puppet) -> None:
        puppet.refuse_new = AgentError("authRequired", "log in first", code=-32000)

    async with stage(monkeypatch, str(tmp_path), prepare) as at:
        with pytest.raises(HostError) as caught:
            await at.open()
        error = caught.value.as_rpc()
        assert error.code == -32000
        assert error.data["authMethods"] == [{"id": "key", "name": "Key"}]
        assert at.host.sessions == {}
        assert at.host.list_agents()[0]["state"] == "authRequired"
        await at.host.authenticate("puppet", "key")
        session = await at.open()
        assert session.native_id == "n1"
        assert at.host.list_agents()[0]["state"] == "running"


async def test_restart_takes_the_sessions_along(monkeypatch: MonkeyPatch, tmp_path: Path) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await at.open()
        await at.host.restart_agent("puppet")
        assert at.puppets[0].closed
        assert (len(at.puppets), session.state) == (2, "idle")
        session.prompt("still here?")
        await at.until(lambda: at.puppet.asked("prompt"))


async def test_leaving_stops_the_agent_and_a_cut_link_says_nothing_more(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await at.open()
        puppet = at.puppet
    assert puppet.closed
    late = Reply()
    puppet.say(MessageChunk(role="agent", text="late"), ReadFile(id="1", reply=late, path="/x"))
    assert session.thread.entries() == []
    assert late.answers == [("error", -32602)]


@pytest.mark.parametrize(
    ("params", "kind", "param"),
    [
        ({"agent": "nobody"}, "unknownAgent", "agent"),
        ({"cwd": "relative"}, "badParam", "cwd"),
        ({"cwd": "/does/not/exist"}, "badParam", "cwd"),
        ({"cwd": __file__}, "badParam", "cwd"),
        ({"additional_directories": ["x"]}, "badParam", "additionalDirectories"),
        ({"profile": "p"}, "notFound", "profile"),
    ],
)
async def test_bad_sessions_name_the_parameter_and_start_nothing(
    monkeypatch: MonkeyPatch, tmp_path: Path, params: dict[str, Any], kind: str, param: str
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        with pytest.raises(HostError) as caught:
            await at.host.new_session(**{"agent": "puppet", "cwd": str(tmp_path), **params})
        assert (caught.value.kind, caught.value.param) == (kind, param)
        assert caught.value.hint
        assert at.puppets == []


async def test_an_agent_that_is_switched_off_is_not_started(monkeypatch: MonkeyPatch, tmp_path: Path) -> None:
    async with stage(monkeypatch, str(tmp_path), enabled=False, file="/etc/agents.json") as at:
        with pytest.raises(HostError) as caught:
            await at.open()
        assert caught.value.kind == "agentUnavailable"
        assert "/etc/agents.json" in caught.value.message


async def test_two_sessions_at_once_share_one_program(monkeypatch: MonkeyPatch, tmp_path: Path) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        async with anyio.create_task_group() as both:
            both.start_soon(at.open)
            both.start_soon(at.open)
        assert len(at.puppets) == 1
        assert {s.native_id for s in at.host.sessions.values()} == {"n1", "n2"}
        assert len(at.host.list_sessions()["sessions"]) == 2
        assert at.host.list_sessions(cwd="/elsewhere")["sessions"] == []


def test_the_agent_of_who_names_none_is_the_only_real_one() -> None:
    def host(*servers: AgentServer, **settings: Any) -> Host:
        found = {server.id: server for server in servers}
        return Host(Configuration(found, [], Settings(**settings)), environ={})

    demo, other = (AgentServer(id=name, protocol="demo") for name in ("demo", "other"))
    real, second = (AgentServer(id=name, cmd=[sys.executable]) for name in ("real", "second"))
    missing = AgentServer(id="missing", cmd=["/does/not/exist"])
    assert host(demo, real, missing).default_agent() == "real"
    assert host(demo, missing).default_agent() == "demo"
    assert host(demo, real, defaultAgent="demo").default_agent() == "demo"
    for several in (host(demo, real, second), host(demo, other)):
        with pytest.raises(HostError, match="no single choice") as caught:
            several.default_agent()
        assert "demo" in caught.value.hint
        assert "defaultAgent" in caught.value.hint
    with pytest.raises(HostError, match="unknown agent 'gone'"):
        host(demo, defaultAgent="gone").default_agent()
