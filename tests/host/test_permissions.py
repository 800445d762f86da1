"""Permissions: one answer each, exactly the chosen option, nothing by itself, nothing left open."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pytest import MonkeyPatch

from acp_bridge.agents.events import PermissionRequest, ToolCall
from acp_bridge.host.errors import HostError

from .puppet import Reply, Stage, stage

Json = dict[str, Any]
OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "odd", "name": "For ever\u202e", "kind": "_x"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]
CANCELLED = {"outcome": "cancelled"}


def asks(reply: Reply, call: ToolCall | None = None, **more: Any) -> PermissionRequest:
    return PermissionRequest(id="1", reply=reply, options=OPTIONS, tool_call=call, **more)


async def running(at: Stage) -> Any:
    session = await at.open()
    session.prompt("go")
    await at.until(lambda: at.puppet.asked("prompt"))
    return session


async def test_the_chosen_option_goes_out_verbatim_and_a_second_answer_is_told(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await running(at)
        reply = Reply()
        at.puppet.say(
            asks(reply, ToolCall(id="t", title="Run it", kind="execute", raw_input={"command": "ls \u202e"}))
        )
        (request,) = at.ui.of("requested")
        assert at.ui.kinds(session) == ["user", "tool"]
        assert [kind for kind, _ in at.ui.seen[-3:]] == ["thread", "session", "requested"]
        assert request["title"] == "Run it"
        assert request["action"] == {
            "type": "shell",
            "details": {"command": "ls <U+202E>", "cwd": str(tmp_path)},
        }
        assert [option["optionId"] for option in request["options"]] == ["yes", "odd", "no"]
        assert request["options"][1] == {"optionId": "odd", "name": "For ever<U+202E>", "kind": "_x"}
        assert session.state == "requires_action"
        assert session.thread.entry(request["entryId"]).as_json()["requestId"] == request["requestId"]
        assert at.host.pending_requests() == [{"kind": "permission", "request": request}]
        with pytest.raises(HostError) as caught:
            at.host.answer_permission(request["requestId"], "nonsense")
        assert (caught.value.kind, caught.value.param) == ("badParam", "optionId")
        chosen = {"outcome": "selected", "optionId": "odd"}
        first = at.host.answer_permission(request["requestId"], "odd")
        assert first == {"accepted": True, "outcome": chosen, "by": "user"}
        second = at.host.answer_permission(request["requestId"], "no")
        assert second == {"accepted": False, "outcome": chosen, "by": "user"}
        assert reply.answers == [("result", chosen)]
        assert at.ui.of("resolved") == [(request["requestId"], chosen, "user")]
        assert session.state == "running"


@pytest.mark.parametrize("how", ["null", "cancel", "withdrawn", "died", "ended"])
async def test_whatever_ends_it_a_request_is_closed_once(
    monkeypatch: MonkeyPatch, tmp_path: Path, how: str
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await running(at)
        replies = [Reply(), Reply()]
        at.puppet.say(asks(replies[0], ToolCall(id="a")), asks(replies[1], ToolCall(id="b")))
        first = at.ui.of("requested")[0]["requestId"]
        if how == "null":
            answered = at.host.answer_permission(first, None)
            assert answered == {"accepted": True, "outcome": CANCELLED, "by": "cancel"}
            assert at.puppet.asked("cancel")
        elif how == "cancel":
            session.cancel()
        elif how == "withdrawn":
            for reply in replies:
                assert reply.cancel is not None
                reply.cancel()
        elif how == "died":
            at.puppet.die(signal="SIGKILL")
        else:
            at.puppet.end()
        assert [reply.answers for reply in replies] == [[("result", CANCELLED)]] * 2
        by = {"null": "cancel", "cancel": "cancel", "withdrawn": "agent", "died": "exit", "ended": "cancel"}[
            how
        ]
        assert [resolved[2] for resolved in at.ui.of("resolved")] == [by, by]
        assert at.host.pending_requests() == []
        late = at.host.answer_permission(first, "yes")
        assert (late["accepted"], late["by"]) == (False, by)


async def test_after_a_cancel_a_new_request_is_cancelled_at_once(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await running(at)
        session.cancel()
        reply = Reply()
        at.puppet.say(asks(reply, ToolCall(id="t")))
        assert reply.answers == [("result", CANCELLED)]
        assert at.ui.of("requested") == []


async def test_a_request_without_a_tool_call_has_an_entry_of_its_own(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await running(at)
        reply = Reply()
        at.puppet.say(asks(reply, title="May I?"))
        (request,) = at.ui.of("requested")
        assert at.ui.kinds(session) == ["user", "permission"]
        at.host.answer_permission(request["requestId"], "yes")
        entry = session.thread.entries()[-1]
        assert (entry["title"], entry["outcome"]) == ("May I?", {"outcome": "selected", "optionId": "yes"})


async def test_an_edit_shows_its_files_and_whether_they_leave_the_workspace(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        await running(at)
        outside = {"type": "diff", "path": "/elsewhere/a", "oldText": "x", "newText": "y"}
        at.puppet.say(asks(Reply(), ToolCall(id="t", kind="edit", content=[outside])))
        (request,) = at.ui.of("requested")
        assert request["outsideRoots"] is True
        assert request["action"] == {
            "type": "edit",
            "details": {
                "paths": [{"uri": "file:///elsewhere/a", "path": "/elsewhere/a"}],
                "oldText": "x",
                "newText": "y",
            },
        }


async def test_unknown_requests_and_scopes_are_named(monkeypatch: MonkeyPatch, tmp_path: Path) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        await running(at)
        with pytest.raises(HostError) as caught:
            at.host.answer_permission("req-none", "yes")
        assert caught.value.kind == "unknownRequest"
        at.puppet.say(asks(Reply(), ToolCall(id="t")))
        (request,) = at.ui.of("requested")
        with pytest.raises(HostError) as caught:
            at.host.answer_permission(request["requestId"], "yes", "workspace")
        assert (caught.value.kind, caught.value.param) == ("unsupported", "remember")
        assert len(at.host.pending_requests()) == 1


@pytest.mark.parametrize(
    ("call", "type", "details"),
    [
        (
            {"kind": "execute", "raw_input": {"command": "bash", "args": ["-c", "rm x; y"]}},
            "shell",
            {"command": "bash -c 'rm x; y'"},
        ),
        ({"kind": "read", "raw_input": {"command": ["cat", "a b"]}}, "shell", {"command": "cat 'a b'"}),
        ({"kind": "fetch", "raw_input": {"cmd": "curl x"}}, "shell", {"command": "curl x"}),
        ({"kind": "execute", "title": "make"}, "shell", {"command": "make"}),
        (
            {"kind": "edit", "raw_input": {"command": "create", "path": "/elsewhere/\u202ea"}},
            "edit",
            {"paths": [{"uri": "file:///elsewhere/%E2%80%AEa", "path": "/elsewhere/<U+202E>a"}]},
        ),
        (
            {"kind": "delete", "locations": [{"path": "/elsewhere/a"}], "raw_input": {"file_path": "b"}},
            "delete",
            {"paths": [{"uri": "file:///elsewhere/a", "path": "/elsewhere/a"}]},
        ),
        (
            {"kind": "fetch", "raw_input": {"url\u200b": ["a\u202e"]}},
            "fetch",
            {"rawInput": {"url<U+200B>": ["a<U+202E>"]}},
        ),
        ({"kind": "_new", "raw_input": None}, "other", {"rawInput": None}),
    ],
)
async def test_the_action_shows_exactly_what_would_be_done(
    monkeypatch: MonkeyPatch, tmp_path: Path, call: Json, type: str, details: Json
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        await running(at)
        at.puppet.say(asks(Reply(), ToolCall(id="t", **call)))
        (request,) = at.ui.of("requested")
        expected = details | ({"cwd": str(tmp_path)} if type == "shell" else {})
        assert request["action"] == {"type": type, "details": expected}


async def test_hidden_characters_of_a_change_are_shown_and_its_line_ends_left(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        await running(at)
        diff = {"type": "diff", "path": "a", "oldText": None, "newText": "if (x\u202e) {\r\n\r"}
        at.puppet.say(asks(Reply(), ToolCall(id="t", kind="edit", content=[diff])))
        details = at.ui.of("requested")[0]["action"]["details"]
        assert (details["oldText"], details["newText"]) == (None, "if (x<U+202E>) {\r\n<U+000D>")


@pytest.mark.parametrize(
    ("call", "outside"),
    [
        ({"kind": "edit", "locations": [{"path": "src/a"}]}, False),
        ({"kind": "edit", "raw_input": {"file_path": "../a"}}, True),
        ({"kind": "read", "raw_input": {"path": "~/.ssh/id"}}, True),
        ({"kind": "execute", "raw_input": {"command": "ls", "cwd": "/"}}, True),
        ({"kind": "execute", "raw_input": {"command": "ls", "workdir": "sub"}}, False),
        ({"kind": "execute", "raw_input": {"command": "ls"}}, False),
        ({"kind": "edit", "content": [{"type": "diff", "path": "a"}], "locations": [{"path": "/b"}]}, True),
        ({"kind": "read", "locations": [{"path": "a\0b"}]}, True),
    ],
)
async def test_whatever_leaves_the_folders_is_said_to(
    monkeypatch: MonkeyPatch, tmp_path: Path, call: Json, outside: bool
) -> None:
    monkeypatch.setenv("HOME", "/somewhere/else")
    monkeypatch.chdir("/")
    async with stage(monkeypatch, str(tmp_path)) as at:
        await running(at)
        at.puppet.say(asks(Reply(), ToolCall(id="t", **call)))
        assert at.ui.of("requested")[0]["outsideRoots"] is outside


async def test_of_two_requests_for_one_tool_call_the_open_one_is_shown(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await running(at)
        at.puppet.say(asks(Reply(), ToolCall(id="t")), asks(Reply(), ToolCall(id="t")))
        first, second = (request["requestId"] for request in at.ui.of("requested"))
        at.host.answer_permission(second, "yes")
        assert session.thread.entries()[1]["requestId"] == first
        at.host.answer_permission(first, "no")
        assert "requestId" not in session.thread.entries()[1]


async def test_only_the_last_answers_are_remembered(monkeypatch: MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("acp_bridge.host.permissions.KEPT_ANSWERS", 2)
    async with stage(monkeypatch, str(tmp_path)) as at:
        await running(at)
        for number in range(3):
            at.puppet.say(asks(Reply(), ToolCall(id=str(number))))
        ids = [request["requestId"] for request in at.ui.of("requested")]
        for request_id in ids:
            at.host.answer_permission(request_id, "yes")
        assert at.host.answer_permission(ids[1], "yes")["accepted"] is False
        with pytest.raises(HostError, match="unknown permission request"):
            at.host.answer_permission(ids[0], "yes")


async def test_the_agent_hears_of_the_cancel_before_its_request_is_answered(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await running(at)
        reply = Reply()
        order: list[str] = []
        monkeypatch.setattr(
            at.puppet, "cancel", lambda *_: order.append(f"cancel, {len(reply.answers)} answers")
        )
        at.puppet.say(asks(reply, ToolCall(id="t")))
        session.cancel()
        assert order == ["cancel, 0 answers"]
        assert reply.answers == [("result", CANCELLED)]
