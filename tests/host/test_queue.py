"""What waits: held, edited, sent now, refused for want of a log-in, given up; never lost, never run twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from pytest import MonkeyPatch

from acp_bridge.agents.agent import AgentError
from acp_bridge.agents.events import Error, PermissionRequest, ToolCall, TurnState
from acp_bridge.host.errors import HostError

from .puppet import Reply, stage
from .test_turns import stops


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
