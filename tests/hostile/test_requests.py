"""Permissions, cancels and file requests that come when, where and how they should not."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from hostile.stage import Scene, bridge, hostile, program
from support.lsp_client import LEAVE, Json, LspClient, LspError


async def test_updates_before_the_session_is_there(tmp_path: Path) -> None:
    async with hostile(tmp_path, "early_updates") as scene:
        session = await scene.session()
        await scene.client.wait_for(lambda: scene.client.sessions[session].get("commands"))
        turn = await scene.client.turn(session, "go")
    summary = scene.client.sessions[session]
    assert [command["name"] for command in summary["commands"]] == ["early"]
    assert (summary["usage"]["used"], summary["usage"]["remaining"]) == (15000, 185000)
    texts = [entry["text"] for entry in scene.client.threads[session].entries if entry["kind"] == "agent"]
    assert texts == ["a greeting", "the answer"]
    assert turn.stop_reason == "end_turn"


@pytest.mark.parametrize("args", [(), ("never",)])
@pytest.mark.parametrize(("choice", "said"), [("allow_once", "yes"), ("reject_once", "no")])
async def test_a_permission_before_its_tool_call(
    args: tuple[str, ...], choice: str, said: str, tmp_path: Path
) -> None:
    async with hostile(tmp_path, "permission_first", *args) as scene:
        turn = await scene.turn(on_permission=choice)
    assert (turn.text, turn.stop_reason) == (said, "end_turn")
    assert [tool["title"] for tool in turn.tools] == ["rm -rf build"]
    assert turn.tools[0]["status"] == ("cancelled" if args else "completed")
    request = turn.permissions[0]
    assert request["entryId"] == turn.tools[0]["id"]
    assert request["action"]["type"] == "shell"
    assert request["action"]["details"]["command"] == "rm -rf build"


async def test_a_permission_asked_after_the_cancel(tmp_path: Path) -> None:
    async with hostile(tmp_path, "permission_after_cancel") as scene:
        client, session = scene.client, await scene.session()
        turn_id = await client.prompt(session, "go")
        await client.wait_for(lambda: any(e["kind"] == "agent" for e in client.threads[session].entries))
        answer = await client.request("acp/session/cancel", {"sessionId": session})
        await client.wait_for(lambda: client.stop_of(session, turn_id))
    assert answer == {"cancelled": True}
    kinds = [(entry["kind"], entry.get("text")) for entry in client.threads[session].entries]
    assert ("agent", "working cancelled") in kinds or ("agent", "cancelled") in kinds
    assert client.received("acp/permission/requested") == []
    stop = client.stop_of(session, turn_id)
    assert stop is not None and stop["stopReason"] == "cancelled"


async def test_a_cancel_between_turns_ends_what_began_there(tmp_path: Path) -> None:
    async with hostile(tmp_path, "asks_between_turns") as scene:
        client, session = scene.client, await scene.session()
        first = await client.turn(session, "go", on_permission=lambda _: LEAVE)
        await client.wait_for(lambda: client.received("acp/permission/requested"))
        assert await client.request("acp/session/cancel", {"sessionId": session}) == {"cancelled": True}
        resolved = client.received("acp/permission/resolved")
        assert [params["outcome"] for params in resolved] == [{"outcome": "cancelled"}]
        second = await client.turn(session, "go", on_permission=lambda _: LEAVE)
        tool = next(e for e in client.threads[session].entries if e["kind"] == "tool")
        assert tool["status"] == "cancelled"
    assert (first.text, first.stop_reason) == ("nothing, cancelled: False", "end_turn")
    assert second.text == "cancelled, cancelled: True"


async def test_a_permission_dismissed_with_null_cancels_the_turn(tmp_path: Path) -> None:
    async with hostile(tmp_path, "permission_first") as scene:
        turn = await scene.turn(on_permission=None)
    assert turn.text == "cancelled"
    assert turn.stop_reason == "cancelled"


async def test_a_permission_withdrawn_by_the_agent(tmp_path: Path) -> None:
    async with hostile(tmp_path, "withdraws") as scene:
        turn = await scene.turn(on_permission=lambda _: LEAVE)
        resolved = scene.client.received("acp/permission/resolved")
    assert (turn.text in ("cancelled", "-32800"), turn.stop_reason) == (True, "end_turn")
    assert len(resolved) == len(turn.permissions)
    assert all(params["by"] == "agent" for params in resolved)


async def test_options_of_unknown_kinds_are_shown_and_echoed(tmp_path: Path) -> None:
    async with hostile(tmp_path, "shared_permission_id") as scene:
        picks = iter(["two", "é one"])
        turn = await scene.turn(on_permission=lambda _: next(picks))
    assert turn.text == "two, é one"
    assert [option["name"] for option in turn.permissions[0]["options"]] == ["Always", "Now"]
    assert len({request["requestId"] for request in turn.permissions}) == 2
    assert len(turn.tools) == 1


async def test_an_agent_deaf_to_cancel(tmp_path: Path) -> None:
    """The user's way out is a restart; the turn then ends, the thread stays, the next one works."""
    async with hostile(tmp_path, "ignores_cancel") as scene:
        client, session = scene.client, await scene.session()
        turn_id = await client.prompt(session, "go")
        await client.wait_for(lambda: any(e["kind"] == "tool" for e in client.threads[session].entries))
        assert await client.request("acp/session/cancel", {"sessionId": session}) == {"cancelled": True}
        await client.wait_for(lambda: client.sessions[session].get("state") == "cancelling")
        await client.request("acp/agents/restart", {"agent": "hostile"}, timeout=30)
        stop = await client.wait_for(lambda: client.stop_of(session, turn_id), 30)
        assert stop["stopReason"] == "cancelled"
        tool = next(e for e in client.threads[session].entries if e["kind"] == "tool")
        assert tool["status"] == "cancelled"
        again = await client.prompt(session, "again")
        await client.wait_for(
            lambda: [
                e
                for e in client.threads[session].entries
                if e.get("turnId") == again and e["kind"] == "agent"
            ]
        )


def outside(folder: Path) -> Path:
    (folder / "project").mkdir()
    target = folder / "outside"
    target.mkdir()
    (target / "secret.txt").write_text("secret")
    (folder / "project" / "link").symlink_to(target)
    return target


async def test_writes_outside_the_roots_are_asked_about_and_refused(tmp_path: Path) -> None:
    target = outside(tmp_path)
    async with hostile(tmp_path, "escapes", str(tmp_path)) as scene:
        turn = await scene.turn(on_permission="reject_once")
    outcome = json.loads(turn.text)
    assert "done" not in outcome.values(), outcome
    assert all(outcome[f"write {name}"] == -32602 for name in ("relative", "uri", "home", "nul")), outcome
    assert sorted(path.name for path in target.iterdir()) == ["secret.txt"]
    asked = [request["action"]["details"]["paths"][0]["path"] for request in turn.permissions]
    assert len(asked) == 4, asked
    assert [Path(path).resolve().parent for path in asked] == [target] * 4, asked
    assert all(str(target) in request["title"] for request in turn.permissions)


async def test_writes_outside_the_roots_happen_only_with_the_users_yes(tmp_path: Path) -> None:
    target = outside(tmp_path)
    async with hostile(tmp_path, "escapes", str(tmp_path)) as scene:
        turn = await scene.turn(on_permission="allow_once")
    outcome = json.loads(turn.text)
    assert outcome["write absolute"] == outcome["write symlink"] == outcome["read"] == "done"
    assert (target / "absolute.txt").read_text() == "escaped"
    assert not (scene.project / "relative.txt").exists()


async def test_an_unknown_session_in_requests(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    path = tmp_path / "project" / "named.txt"
    path.write_text("the file named")
    async with hostile(tmp_path, "foreign_session") as scene:
        turn = await scene.turn(str(path))
    told = json.loads(turn.text)
    assert {name: told[name] for name in ("read", "write", "permission", "none")} == {
        "read": -32602,
        "write": -32602,
        "permission": -32602,
        "none": -32602,
    }
    assert told["meta"] == "the file named"
    assert path.read_text() == "the file named"
    assert turn.permissions == []
    assert "said to nobody" not in json.dumps(scene.client.threads[next(iter(scene.client.threads))].entries)


async def test_an_editor_that_vanishes_with_a_permission_open(tmp_path: Path) -> None:
    async with hostile(tmp_path, "permission_first") as scene:
        await open_permission(scene)


async def open_permission(scene: Scene) -> Json:
    session = await scene.session()
    await scene.client.prompt(session, "go")
    asked = await scene.client.wait_for(lambda: scene.client.received("acp/permission/requested"))
    return dict(asked[0]["request"])


async def test_two_answers_to_one_permission(tmp_path: Path) -> None:
    async with hostile(tmp_path, "permission_first") as scene:
        request = await open_permission(scene)
        answers = [
            scene.client.start_request(
                "acp/permission/answer", {"requestId": request["requestId"], "optionId": option}
            )
            for option in ("yes", "no")
        ]
        first, second = await asyncio.gather(*answers)
        assert first["accepted"] is True
        assert second["accepted"] is False
        assert second["outcome"] == {"outcome": "selected", "optionId": "yes"}
        assert second["by"] == "user"
        session = request["sessionId"]
        await scene.client.wait_for(
            lambda: [e for e in scene.client.threads[session].entries if e["kind"] == "stop"]
        )
    assert "yes" in [entry.get("text") for entry in scene.client.threads[session].entries]


async def test_methods_and_notifications_nobody_knows(tmp_path: Path) -> None:
    async with hostile(tmp_path, "unknown_methods") as scene:
        turn = await scene.turn()
    assert set(json.loads(turn.text).values()) == {-32601}
    assert not (scene.project / "made.txt").exists()
    assert turn.stop_reason == "end_turn"


async def test_permissions_that_make_no_sense(tmp_path: Path) -> None:
    """Without a single option that can be chosen there is an error; else what can be asked is asked."""
    async with hostile(tmp_path, "odd_permissions") as scene:
        turn = await scene.turn(on_permission=lambda request: request["options"][0]["optionId"])
    told = json.loads(turn.text)
    assert [told[name] for name in ("no options", "text options", "nothing")] == [-32602] * 3
    assert [told[name] for name in ("no tool call", "odd tool call", "odd items")] == ["yes"] * 3
    assert len(turn.permissions) == 3
    assert "kind" not in turn.permissions[2]["options"][0]


def ids(client: LspClient, word: str) -> list[str]:
    """The requests of all `acp/permission/<word>` so far."""
    told = client.received(f"acp/permission/{word}")
    return sorted(params.get("request", params)["requestId"] for params in told)


async def test_hundreds_of_permissions_at_once_and_one_cancel(tmp_path: Path) -> None:
    async with hostile(tmp_path, "permission_flood") as scene:
        client, session = scene.client, await scene.session()
        turn_id = await client.prompt(session, "go")
        await client.wait_for(lambda: len(client.received("acp/permission/requested")) >= 3)
        await client.request("acp/session/cancel", {"sessionId": session})
        stop = await client.wait_for(lambda: client.stop_of(session, turn_id))
        await client.wait_for(lambda: ids(client, "requested") == ids(client, "resolved") != [])
        await client.wait_for(lambda: client.sessions[session]["pending"] == [])
    assert stop["stopReason"] == "cancelled"
    texts = [entry["text"] for entry in client.threads[session].entries if entry["kind"] == "agent"]
    assert texts == ["500 cancelled, 0 double"]


@pytest.mark.parametrize("answer", ["empty", "null", "number", "text"])
async def test_a_session_without_an_id(answer: str, tmp_path: Path) -> None:
    async with hostile(tmp_path, "odd_sessions", answer) as scene:
        with pytest.raises(LspError, match="hostile made a session without a sessionId"):
            await scene.session()


async def test_two_sessions_with_one_id(tmp_path: Path) -> None:
    """The second is refused; the first goes on and hears of nothing."""
    async with hostile(tmp_path, "odd_sessions", "same") as scene:
        first = await scene.session()
        with pytest.raises(LspError, match="the id of one that is open"):
            await scene.session()
        turn = await scene.client.turn(first, "go")
        assert (turn.text, turn.stop_reason) == ("hello", "end_turn")
        await scene.client.request("acp/session/close", {"sessionId": first})
        turn = await scene.client.turn(await scene.session(), "go")
        assert turn.text == "hello"


async def test_an_agent_that_stops_reading(tmp_path: Path) -> None:
    """A prompt larger than any pipe neither blocks the others nor the user's way out."""
    servers = {"hostile": program("not_reading"), "other": program("koog_whole_messages")}
    async with bridge(tmp_path, servers) as scene:
        client, session = scene.client, await scene.session()
        turn_id = await client.prompt(session, "x" * (32 << 20))
        turn = await client.turn(await scene.session("other"), "go", timeout=20)
        assert turn.stop_reason == "end_turn"
        assert await client.request("acp/session/cancel", {"sessionId": session}) == {"cancelled": True}
        await client.request("acp/agents/restart", {"agent": "hostile"}, timeout=30)
        await client.wait_for(lambda: client.stop_of(session, turn_id), 20)


async def test_a_cancelled_turn_asks_no_more_questions(tmp_path: Path) -> None:
    """Requests for paths outside stand in line; with their turn cancelled the rest is refused, not asked."""
    target = tmp_path / "outside"
    target.mkdir()
    async with hostile(tmp_path, "many_outside", str(target)) as scene:
        await open_permission(scene)
        client = scene.client
        [session] = client.threads
        await client.request("acp/session/cancel", {"sessionId": session})
        said = await client.wait_for(
            lambda: [e["text"] for e in client.threads[session].entries if e["kind"] == "agent"]
        )
        assert said == ["-32602 " * 4 + "-32602"]
        assert len(client.received("acp/permission/requested")) == 1
        await client.wait_for(lambda: client.sessions[session]["state"] == "idle")
    assert list(target.iterdir()) == []


async def test_an_agent_that_asks_and_does_not_read(tmp_path: Path) -> None:
    """A hundred answers of 4 MiB that nobody takes: few are made, and the way out is open."""
    async with hostile(tmp_path, "asks_and_does_not_read") as scene:
        (scene.project / "large.txt").write_text("x" * (4 << 20))
        client, session = scene.client, await scene.session()
        turn_id = await client.prompt(session, "go")
        await client.wait_for(lambda: [e for e in client.threads[session].entries if e["kind"] == "agent"])
        status = Path(f"/proc/{client.process.pid}/status")
        for _ in range(10):
            resident = int(status.read_text().split("VmRSS:")[1].split()[0])
            assert resident < 200 * 1024
            await asyncio.sleep(0.2)
        assert await client.request("acp/session/cancel", {"sessionId": session}) == {"cancelled": True}
        await client.request("acp/agents/restart", {"agent": "hostile"}, timeout=30)
        await client.wait_for(lambda: client.stop_of(session, turn_id), 20)
