"""Turns: one at a time, each ended exactly once, whatever the agent, the user and death do to them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
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


async def test_prompts_wait_in_order_and_a_failed_turn_holds_them(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await at.open()
        for text in ("one", "two", "three"):
            session.prompt(text)
        await at.until(lambda: at.puppet.asked("prompt") == ["one"])
        at.puppet.end()
        await at.until(lambda: at.puppet.asked("prompt") == ["one", "two"])
        at.puppet.end("max_tokens")
        await at.settle()
        assert session.summary()["queue"]["held"] is True
        assert at.puppet.asked("prompt") == ["one", "two"]
        session.prompt("at once")
        await at.until(lambda: at.puppet.asked("prompt")[2:] == ["at once"])
        at.puppet.end()
        await at.settle()
        assert [b["blocks"][0]["text"] for b in session.summary()["queue"]["items"]] == ["three"]
        session.queue_action("resume")
        await at.until(lambda: at.puppet.asked("prompt")[3:] == ["three"])
        at.puppet.end()
        await session.wait_idle()
        assert session.summary()["queue"] == {"held": False, "items": []}


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


async def test_a_queued_turn_can_be_edited_removed_and_sent_now(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await at.open()
        session.prompt("running")
        ids = [session.prompt(text)["turnId"] for text in ("a", "b", "c")]
        await at.until(lambda: at.puppet.asked("prompt"))
        session.queue_action("edit", ids[2], "c!")
        assert session.cancel(ids[0]) is True
        session.queue_action("sendNow", ids[2])
        assert at.puppet.asked("cancel")
        at.puppet.end("cancelled")
        await at.until(lambda: at.puppet.asked("prompt") == ["running", "c!"])
        at.puppet.end()
        await at.settle()
        queue = session.summary()["queue"]
        assert ([item["turnId"] for item in queue["items"]], queue["held"]) == ([ids[1]], True)
        session.queue_action("remove", ids[1])
        assert session.summary()["queue"] == {"held": False, "items": []}
        with pytest.raises(HostError, match="no queued turn"):
            session.queue_action("edit", ids[1], "late")
        with pytest.raises(HostError, match="unknown action"):
            session.queue_action("jump")


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


@pytest.mark.parametrize("how", ["raised", "answered"])
async def test_a_prompt_refused_for_want_of_a_login_is_sent_after_it(
    monkeypatch: MonkeyPatch, tmp_path: Path, how: str
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await at.open()
        if how == "raised":
            at.puppet.refuse_prompt = AgentError("authRequired", "who are you?")
        turn = session.prompt("secret")["turnId"]
        if how == "answered":
            await at.until(lambda: at.puppet.asked("prompt"))
            at.puppet.say(TurnState(state="idle", auth_required=True, error=Error(message="who are you?")))
        last = await session.wait_idle()
        assert last is not None
        assert last["error"]["kind"] == "authRequired"
        queue = session.summary()["queue"]
        assert ([item["turnId"] for item in queue["items"]], queue["held"]) == ([turn], True)
        await at.settle()
        assert stops(at, session) == []
        await at.host.authenticate("puppet", "key")
        sent = 2 if how == "answered" else 1
        await at.until(lambda: at.puppet.asked("prompt") == ["secret"] * sent)
        at.puppet.end()
        await session.wait_idle()
        await at.settle()
        assert stops(at, session) == [(turn, "end_turn")]
        assert at.ui.kinds(session).count("user") == 1


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


async def test_what_waits_never_starts_in_a_closed_session(monkeypatch: MonkeyPatch, tmp_path: Path) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await at.open()
        session.prompt("go")
        session.prompt("later")
        now = session.prompt("now")["turnId"]
        await at.until(lambda: at.puppet.asked("prompt"))
        session.queue_action("sendNow", now)
        await at.host.close_session(session.id)
        await at.settle()
        assert at.puppet.asked("prompt") == ["go"]
        assert session.summary()["queue"] == {"held": False, "items": []}
        assert len(at.puppets) == 1
        with pytest.raises(HostError) as caught:
            session.prompt("more")
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


async def test_waiting_for_idle_sees_what_is_resumed(monkeypatch: MonkeyPatch, tmp_path: Path) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await at.open()
        session.prompt("one")
        second = session.prompt("two")["turnId"]
        await at.until(lambda: at.puppet.asked("prompt"))
        at.puppet.end("max_tokens")
        await session.wait_idle()
        session.queue_action("resume")
        with anyio.move_on_after(0.01) as waited:
            await session.wait_idle()
        assert waited.cancelled_caught
        await at.until(lambda: len(at.puppet.asked("prompt")) == 2)
        at.puppet.end()
        assert await session.wait_idle() == {"turnId": second, "stopReason": "end_turn"}


async def test_nothing_an_agent_left_open_outlives_a_refused_prompt(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await at.open()
        turn = session.prompt("secret")["turnId"]
        await at.until(lambda: at.puppet.asked("prompt"))
        reply = Reply()
        at.puppet.say(
            PermissionRequest(id="1", reply=reply, options=[], tool_call=ToolCall(id="t", title="x"))
        )
        at.puppet.say(TurnState(state="idle", auth_required=True))
        assert reply.answers == [("result", {"outcome": "cancelled"})]
        assert session.thread.entries()[1]["status"] == "cancelled"
        assert session.summary()["taskState"] == "IN_PROGRESS"
        session.queue_action("edit", turn, "less secret")
        await at.host.authenticate("puppet", "key")
        await at.until(lambda: at.puppet.asked("prompt")[1:] == ["less secret"])
        assert session.thread.entries()[0]["blocks"] == [{"type": "text", "text": "less secret"}]
        at.puppet.end()
        await session.wait_idle()
        assert session.summary()["taskState"] == "REVIEW"


@pytest.mark.parametrize("how", ["removed", "cancelled", "closed"])
async def test_a_refused_prompt_that_is_given_up_ends_once_and_resumes_nothing(
    monkeypatch: MonkeyPatch, tmp_path: Path, how: str
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await at.open()
        turn = session.prompt("secret")["turnId"]
        await at.until(lambda: at.puppet.asked("prompt"))
        at.puppet.say(TurnState(state="idle", auth_required=True))
        await session.wait_idle()
        if how == "removed":
            session.queue_action("remove", turn)
        elif how == "cancelled":
            assert session.cancel(turn) is True
            assert session.cancel(turn) is False
        else:
            await at.host.close_session(session.id)
        await at.settle()
        ends = [(e["turnId"], e["stopReason"]) for e in session.thread.entries() if e["kind"] == "stop"]
        assert ends == [(turn, "cancelled")]
        if how == "closed":
            return
        assert session.summary()["taskState"] == "REVIEW"
        session.prompt("one")
        session.prompt("held")
        await at.until(lambda: at.puppet.asked("prompt")[1:] == ["one"])
        at.puppet.end("refusal")
        await at.host.authenticate("puppet", "key")
        await at.settle()
        assert at.puppet.asked("prompt")[1:] == ["one"]
        assert session.summary()["queue"]["held"] is True


async def test_an_edit_of_what_waits_is_checked_like_a_prompt(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await at.open()
        session.prompt("go")
        turn = session.prompt("later")["turnId"]
        with pytest.raises(HostError) as caught:
            session.queue_action("edit", turn, [{"type": "image", "data": "", "mimeType": "image/png"}])
        assert caught.value.kind == "unsupported"
        assert session.summary()["queue"]["items"][0]["blocks"] == [{"type": "text", "text": "later"}]


async def test_sending_another_now_keeps_the_order_of_the_rest(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await at.open()
        session.prompt("running")
        ids = [session.prompt(text)["turnId"] for text in "abc"]
        await at.until(lambda: at.puppet.asked("prompt"))
        session.queue_action("sendNow", ids[1])
        session.queue_action("sendNow", ids[2])
        session.queue_action("sendNow", ids[2])
        items = session.queue_action("list")["items"]
        assert [item["turnId"] for item in items] == [ids[2], ids[1], ids[0]]
        assert len(at.puppet.asked("cancel")) == 1
        session.queue_action("edit", ids[2], "c!")
        at.puppet.end("cancelled")
        await at.until(lambda: at.puppet.asked("prompt")[1:] == ["c!"])
        session.queue_action("resume")
        for text in ("b", "a"):
            at.puppet.end()
            await at.until(lambda text=text: at.puppet.asked("prompt")[-1] == text)  # type: ignore[misc]
        at.puppet.end()
        await session.wait_idle()


async def test_a_prompt_that_is_refused_while_it_is_still_being_sent_can_be_sent_again(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    async with stage(monkeypatch, str(tmp_path)) as at:
        session = await at.open()
        slow = anyio.Event()
        sent: list[str] = []

        async def prompt(session_id: str, blocks: Any) -> None:
            sent.append(blocks[0]["text"])
            if len(sent) == 1:
                at.puppet.say(TurnState(state="idle", auth_required=True))
                await slow.wait()

        at.puppet.prompt = prompt  # type: ignore[method-assign]
        session.prompt("go")
        await at.until(lambda: session.summary()["queue"]["held"])
        await at.host.authenticate("puppet", "key")
        await at.until(lambda: sent == ["go", "go"])
        slow.set()
        await at.settle()
        at.puppet.end()
        assert (await session.wait_idle() or {})["stopReason"] == "end_turn"
        assert [e["kind"] for e in session.thread.entries()] == ["user", "error", "stop"]


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
