"""Turns, the queue, the thread and permissions over the wire; each test names the sentence it holds."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from support.lsp_client import LspClient, LspError, rich

Json = dict[str, Any]
SCRIPTED = str(Path(__file__).parents[2] / "support" / "scripted.py")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
ALLOW = [{"optionId": "yes", "name": "Allow", "kind": "allow_once"}]


@asynccontextmanager
async def talking(environ: dict[str, str], workspace: Path, *turns: list[Json]) -> AsyncIterator[LspClient]:
    """A rich editor whose agent `it` plays these turns."""
    servers = {"it": {"command": sys.executable, "args": [SCRIPTED, json.dumps({"prompts": turns})]}}
    async with LspClient.run(env=environ, acp=rich(servers), root=workspace) as client:
        yield client


def update(what: str, **fields: Any) -> Json:
    return {"update": {"sessionUpdate": what, **fields}}


def asking(call: str, **fields: Any) -> Json:
    return {"toolCall": {"toolCallId": call, "title": call, **fields}, "options": ALLOW}


def summary(client: LspClient, session: str) -> Json:
    return client.sessions[session]


async def queue(client: LspClient, session: str, action: str, **params: Any) -> Json:
    asked = {"sessionId": session, "action": action, **params}
    return dict((await client.request("acp/session/queue", asked))["queue"])


async def test_every_kind_of_entry_has_exactly_its_fields(environ: dict[str, str], workspace: Path) -> None:
    file = str(workspace / "a b.txt")
    place = {"uri": (workspace / "a b.txt").as_uri(), "path": file}
    content = [
        {"type": "content", "content": {"type": "text", "text": "out"}},
        {"type": "content", "content": {"type": "image", "data": "eA==", "mimeType": "image/png"}},
        {"type": "diff", "path": file, "oldText": None, "newText": "new\n"},
        {"type": "terminal", "terminalId": "t1"},
    ]
    plan = {"content": "do", "priority": "high", "status": "pending"}
    steps = [
        {"text": "hello"},
        {"thought": "hm"},
        update("tool_call", toolCallId="c", title="Look", kind="read", status="in_progress",
               locations=[{"path": file, "line": 3}, {"path": file}], rawInput={"a": 1}),
        update("tool_call_update", toolCallId="c", status="completed", content=content, rawOutput={"b": 2}),
        update("plan", entries=[plan]),
        update("from_the_future", x=1),
    ]  # fmt: skip
    failing = [{"error": {"code": -32603, "message": "bad day"}}]
    async with talking(environ, workspace, steps, failing) as client:
        session = await client.new_session("it")
        turn = await client.turn(session, "go", clientMessageId="mine")
        ids = [entry["id"] for entry in turn.entries]
        assert len(set(ids)) == len(ids) and {e["turnId"] for e in turn.entries} == {turn.turn_id}
        shown = [{k: v for k, v in e.items() if k not in ("id", "turnId")} for e in turn.entries]
        assert shown == [
            {"kind": "user", "blocks": [{"type": "text", "text": "go"}], "clientMessageId": "mine"},
            {"kind": "agent", "text": "hello"},
            {"kind": "thought", "text": "hm"},
            {
                "kind": "tool",
                "name": "",
                "title": "Look",
                "toolKind": "read",
                "status": "completed",
                "content": [
                    {"type": "text", "text": "out"},
                    {"type": "block", "block": {"type": "image", "data": "eA==", "mimeType": "image/png"}},
                    {"type": "diff", **place, "oldText": None, "newText": "new\n"},
                    {"type": "terminal", "terminalId": "t1"},
                ],
                "locations": [{**place, "line": 2}, place],
                "output": "",
                "rawInput": {"a": 1},
                "rawOutput": {"b": 2},
            },
            {"kind": "plan", "entries": [plan]},
            {"kind": "unknown", "raw": {"sessionUpdate": "from_the_future", "x": 1}},
            {"kind": "stop", "stopReason": "end_turn"},
        ]
        failed = await client.turn(session, "again")
        assert [e["kind"] for e in failed.entries] == ["user", "error", "stop"]
        error = failed.errors[0]
        assert set(error) == {"id", "kind", "turnId", "message", "detail", "hint"}
        assert "bad day" in error["message"] and failed.stop_reason == "error"


@pytest.mark.parametrize("reason", ["max_tokens", "max_turn_requests", "a_word_of_its_own"])
async def test_a_turn_ends_with_exactly_one_stop_that_keeps_the_agents_word(
    environ: dict[str, str], workspace: Path, reason: str
) -> None:
    async with talking(environ, workspace, [{"text": "x"}, {"stop": reason}]) as client:
        session = await client.new_session("it")
        turn = await client.turn(session, "go")
        assert [e["kind"] for e in turn.entries] == ["user", "agent", "stop"]
        assert turn.stop_reason == reason
        await client.wait_for(lambda: summary(client, session)["state"] == "idle")
        assert summary(client, session)["queue"] == {"held": False, "items": []}


async def test_a_prompt_is_answered_before_its_user_entry_and_the_session_never_says_review_while_it_runs(
    environ: dict[str, str], workspace: Path
) -> None:
    async with talking(environ, workspace, [{"text": "x"}]) as client:
        session = await client.new_session("it")
        for _ in range(2):
            result = await client.request("acp/session/prompt", {"sessionId": session, "prompt": "go"})
            assert set(result) == {"turnId", "queuedAt"} and TIME.fullmatch(result["queuedAt"])
            await client.wait_for(lambda: client.stop_of(session, result["turnId"]))  # noqa: B023
            await client.wait_for(lambda: summary(client, session)["state"] == "idle")
        incoming = [m for way, m in client.messages if way == "in"]
        for answer in [m for m in incoming if "turnId" in (m.get("result") or {})]:
            before = incoming[: incoming.index(answer)]
            assert answer["result"]["turnId"] not in json.dumps(before)
        told = [m["session"] for m in client.received("acp/session/changed")]
        assert {s["taskState"] for s in told if s["state"] == "running"} == {"IN_PROGRESS"}
        assert told[-1]["taskState"] == "REVIEW" and "turnId" not in told[-1]
        assert all("turnId" in s for s in told if s["state"] == "running")


async def test_usage_is_told_with_what_remains_and_percent_null_where_the_size_is_unknown(
    environ: dict[str, str], workspace: Path
) -> None:
    cost = {"amount": 0.5, "currency": "USD"}
    known = [update("usage_update", used=15000, size=200000, cost=cost)]
    async with talking(environ, workspace, known, [update("usage_update", used=7, size=0)]) as client:
        session = await client.new_session("it")
        await client.turn(session, "go")
        await client.wait_for(lambda: summary(client, session)["usage"])
        usage = {"used": 15000, "size": 200000, "remaining": 185000, "percent": 7.5, "cost": cost}
        assert summary(client, session)["usage"] == usage
        await client.turn(session, "go")
        await client.wait_for(lambda: summary(client, session)["usage"]["used"] == 7)
        assert summary(client, session)["usage"]["percent"] is None


async def test_a_cancelled_turn_holds_the_queue_a_new_prompt_runs_at_once_and_resume_lets_the_rest_go(
    environ: dict[str, str], workspace: Path
) -> None:
    turns = [[{"text": "1"}, {"wait": "cancel"}], [{"text": "new"}], [{"text": "held"}], [{"text": "last"}]]
    async with talking(environ, workspace, *turns) as client:
        session = await client.new_session("it")
        first = await client.prompt(session, "first")
        held = await client.prompt(session, "held", clientMessageId="h")
        gone = await client.prompt(session, "gone")
        last = await client.prompt(session, "last")
        items = (await queue(client, session, "list"))["items"]
        assert [item["turnId"] for item in items] == [held, gone, last]
        assert set(items[0]) == {"turnId", "blocks", "queuedAt", "clientMessageId"}
        assert set(items[1]) == {"turnId", "blocks", "queuedAt"} and TIME.fullmatch(items[1]["queuedAt"])
        removed = {"sessionId": session, "turnId": gone}
        assert await client.request("acp/session/cancel", removed) == {"cancelled": True}
        assert await client.request("acp/session/cancel", removed) == {"cancelled": False}
        await client.wait_for(lambda: any(e["kind"] == "agent" for e in client.threads[session].entries))
        running = {"sessionId": session, "turnId": first, "reason": "enough"}
        assert await client.request("acp/session/cancel", running) == {"cancelled": True}
        stop = await client.wait_for(lambda: client.stop_of(session, first))
        assert stop["stopReason"] == "cancelled"
        await client.wait_for(lambda: summary(client, session)["state"] == "idle")
        assert [i["turnId"] for i in (await queue(client, session, "list"))["items"]] == [held, last]
        assert summary(client, session)["queue"]["held"] is True
        assert (await client.turn(session, "new")).text == "new"
        assert (await queue(client, session, "list"))["held"] is True
        assert client.stop_of(session, held) is None
        await queue(client, session, "resume")
        await client.wait_for(lambda: client.stop_of(session, last))
        users = [e["blocks"][0]["text"] for e in client.threads[session].entries if e["kind"] == "user"]
        assert users == ["first", "new", "held", "last"]


async def test_send_now_cancels_the_running_turn_then_runs_that_one(
    environ: dict[str, str], workspace: Path
) -> None:
    async with talking(environ, workspace, [{"text": "1"}, {"wait": "cancel"}], [{"text": "2"}]) as client:
        session = await client.new_session("it")
        first = await client.prompt(session, "first")
        other = await client.prompt(session, "other")
        urgent = await client.prompt(session, "urgent")
        await client.wait_for(lambda: any(e["kind"] == "agent" for e in client.threads[session].entries))
        await queue(client, session, "sendNow", turnId=urgent)
        await client.wait_for(lambda: client.stop_of(session, urgent))
        stops = [
            (e["turnId"], e["stopReason"]) for e in client.threads[session].entries if e["kind"] == "stop"
        ]
        assert stops == [(first, "cancelled"), (urgent, "end_turn")]
        left = await queue(client, session, "list")
        assert (left["held"], [item["turnId"] for item in left["items"]]) == (True, [other])


async def test_steer_with_an_agent_that_cannot_is_unsupported_and_queues_nothing(
    environ: dict[str, str], workspace: Path
) -> None:
    async with talking(environ, workspace, [{"text": "1"}, {"wait": "cancel"}]) as client:
        session = await client.new_session("it")
        await client.prompt(session, "first")
        with pytest.raises(LspError) as raised:
            await client.prompt(session, "turn left", mode="steer")
        assert (raised.value.code, raised.value.kind) == (-32803, "unsupported")
        assert await queue(client, session, "list") == {"held": False, "items": []}
        await client.request("acp/session/cancel", {"sessionId": session})


async def test_option_id_null_cancels_the_turn_and_this_and_every_other_pending_request(
    environ: dict[str, str], workspace: Path
) -> None:
    ask = {"method": "session/request_permission", "params": {"sessionId": "$SESSION", **asking("one")}}
    both = [{"raw": json.dumps({"jsonrpc": "2.0", "id": "r", **ask})}, {"permission": asking("two")}]
    async with talking(environ, workspace, [*both, {"stop": "cancelled"}]) as client:
        session = await client.new_session("it")
        turn = await client.prompt(session, "go")
        await client.wait_for(lambda: len(client.received("acp/permission/requested")) == 2)
        first, second = [m["request"]["requestId"] for m in client.received("acp/permission/requested")]
        cancelled = {"outcome": {"outcome": "cancelled"}, "by": "cancel"}
        answer = await client.request("acp/permission/answer", {"requestId": first, "optionId": None})
        assert answer == {"accepted": True, **cancelled}
        stop = await client.wait_for(lambda: client.stop_of(session, turn))
        assert stop["stopReason"] == "cancelled"
        told = client.received("acp/permission/resolved")
        assert told == [{"requestId": request, **cancelled} for request in (first, second)]
        late = await client.request("acp/permission/answer", {"requestId": second, "optionId": "yes"})
        assert late == {"accepted": False, **cancelled}
        assert not [e for e in client.threads[session].entries if e.get("requestId")]


async def test_a_permission_request_has_exactly_its_fields_and_its_entry_names_it(
    environ: dict[str, str], workspace: Path
) -> None:
    run = asking("Run it", kind="execute", rawInput={"command": "ls -la", "cwd": "/tmp"})
    other = asking("Other", rawInput={"a": 1})
    diff = {"type": "diff", "path": str(workspace / "a.txt"), "oldText": "old", "newText": "new"}
    edit = asking("Edit it", kind="edit", content=[diff])
    async with talking(environ, workspace, [{"permission": ask} for ask in (run, other, edit)]) as client:
        session = await client.new_session("it")
        entries: list[Json] = []

        def choose(request: Json) -> str:
            entry = next(e for e in client.threads[session].entries if e["id"] == request["entryId"])
            assert (entry["kind"], entry["requestId"]) == ("tool", request["requestId"])
            assert summary(client, session)["pending"] == [{"kind": "permission", "request": request}]
            entries.append(entry)
            return "yes"

        turn = await client.turn(session, "go", on_permission=choose)
        always = {"requestId", "sessionId", "entryId", "toolCallId", "title", "action", "options"}
        assert all(always | {"rememberScopes"} <= set(request) for request in turn.permissions)
        assert [request["options"] for request in turn.permissions] == [ALLOW] * 3
        path = {"uri": (workspace / "a.txt").as_uri(), "path": str(workspace / "a.txt")}
        assert [request["action"] for request in turn.permissions] == [
            {"type": "shell", "details": {"command": "ls -la", "cwd": "/tmp"}},
            {"type": "other", "details": {"rawInput": {"a": 1}}},
            {"type": "edit", "details": {"paths": [path], "oldText": "old", "newText": "new"}},
        ]
        assert [request["rememberScopes"] for request in turn.permissions] == [[], [], []]
        assert not [e for e in client.threads[session].entries if e.get("requestId")]


async def test_a_remember_scope_that_is_not_offered_is_refused_and_the_request_stays(
    environ: dict[str, str], workspace: Path
) -> None:
    async with talking(environ, workspace, [{"permission": asking("It")}]) as client:
        session = await client.new_session("it")

        async def choose(request: Json) -> str:
            answer = {"requestId": request["requestId"], "optionId": "yes", "remember": "session"}
            with pytest.raises(LspError) as raised:
                await client.request("acp/permission/answer", answer)
            assert (raised.value.code, raised.value.data["param"]) == (-32803, "remember")
            with pytest.raises(LspError) as raised:
                await client.request("acp/permission/answer", {**answer, "optionId": "no", "remember": None})
            assert (raised.value.code, raised.value.data["param"]) == (-32602, "optionId")
            return "yes"

        assert (await client.turn(session, "go", on_permission=choose)).stop_reason == "end_turn"


async def test_a_path_outside_is_asked_about_by_a_permission_entry_of_its_own(
    environ: dict[str, str], workspace: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.txt"
    params = {"sessionId": "$SESSION", "path": str(outside), "content": "x"}
    write = {"call": "fs/write_text_file", "params": params, "fail": [{"text": "$ANSWER"}]}
    async with talking(environ, workspace, [write], [write]) as client:
        session = await client.new_session("it")
        refused = await client.turn(session, "go", on_permission="reject_once")
        assert not outside.exists() and str(outside) in refused.text
        [request] = refused.permissions
        entry = next(e for e in refused.entries if e["id"] == request["entryId"])
        assert set(entry) == {"id", "kind", "turnId", "requestId", "title", "outcome"}
        assert (entry["kind"], entry["requestId"]) == ("permission", request["requestId"])
        assert str(outside) in entry["title"] and "toolCallId" not in request
        assert entry["outcome"]["outcome"] == "selected"
        await client.turn(session, "go", on_permission="allow_once")
        assert outside.read_text() == "x"


async def test_thread_get_pages_back_by_cursor_and_gives_ops_only_where_they_reach(
    environ: dict[str, str], workspace: Path
) -> None:
    async with talking(environ, workspace, [{"text": "x"}, {"thought": "y"}, {"text": "z"}]) as client:
        session = await client.new_session("it")
        start = client.threads[session].rev
        await client.turn(session, "go")
        whole = await client.request("acp/thread/get", {"sessionId": session})
        assert set(whole) == {"epoch", "rev", "entries"}
        pages: list[Json] = []
        cursor: Json = {}
        while True:
            page = await client.request("acp/thread/get", {"sessionId": session, "limit": 2, **cursor})
            pages = page["entries"] + pages
            if "prevCursor" not in page:
                break
            cursor = {"before": page["prevCursor"]}
        assert pages == whole["entries"]
        since = {"sessionId": session, "epoch": whole["epoch"], "sinceRev": start}
        assert set(await client.request("acp/thread/get", since)) == {"epoch", "rev", "ops"}
        for other in ({"epoch": "another"}, {"sinceRev": whole["rev"] + 1}, {"epoch": None}):
            assert "entries" in await client.request("acp/thread/get", {**since, **other})


async def test_ids_and_epochs_are_never_the_same_again_in_another_process(
    environ: dict[str, str], workspace: Path
) -> None:
    seen: list[set[str]] = []
    for _ in range(2):
        async with talking(environ, workspace, [{"permission": asking("It")}]) as client:
            session = await client.new_session("it")
            turn = await client.turn(session, "go", on_permission=lambda _: "yes")
            ids = {session, client.threads[session].epoch, turn.turn_id}
            ids |= {e["id"] for e in turn.entries} | {r["requestId"] for r in turn.permissions}
            assert len(ids) == 7
            seen.append(ids)
    assert not seen[0] & seen[1]


async def test_a_closed_session_is_unknown_and_deleting_and_renaming_answer_with_nothing(
    environ: dict[str, str], workspace: Path
) -> None:
    async with LspClient.run(env=environ, acp=rich(), root=workspace) as client:
        first, second = await client.new_session("demo"), await client.new_session("demo")
        assert await client.request("acp/session/rename", {"sessionId": first, "title": "Mine"}) == {}
        await client.turn(first, "plain")
        exported = await client.request("acp/session/export", {"sessionId": first, "format": "json"})
        assert set(exported) == {"text"}
        told = json.loads(exported["text"])
        assert told["entries"] == client.threads[first].entries and told["session"]["title"] == "Mine"
        turn = await client.prompt(second, "slow")
        await client.wait_for(lambda: any(e["kind"] == "agent" for e in client.threads[second].entries))
        assert await client.request("acp/session/close", {"sessionId": second}) == {}
        assert (client.stop_of(second, turn) or {}).get("stopReason") == "cancelled"
        assert await client.request("acp/session/delete", {"sessionId": first}) == {}
        assert await client.request("acp/session/list", {}) == {"sessions": []}
        for session in (first, second):
            with pytest.raises(LspError) as raised:
                await client.prompt(session, "hello")
            assert (raised.value.code, raised.value.kind) == (-32002, "unknownSession")
