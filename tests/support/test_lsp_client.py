"""The test client itself, against a scripted server: it must be able to say no."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from support.editor_documents import apply_edits
from support.lsp_client import LspClient, LspError, ProtocolBroken, rich
from support.thread_model import ThreadModel

SERVER = r"""
import json, sys
out = sys.stdout.buffer
def send(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    out.write(b"Content-Length: %d\r\n\r\n" % len(body) + body); out.flush()
def changed(rev, *ops):
    send({"method": "acp/thread/changed", "params": {"sessionId": "s", "epoch": "e", "fromRev": rev,
          "rev": rev + 1, "ops": list(ops)}})
while True:
    size = 0
    while (line := sys.stdin.buffer.readline().strip()):
        size = int(line.split(b":")[1])
    if not size:
        break
    m = json.loads(sys.stdin.buffer.read(size))
    method, i = m.get("method"), m.get("id")
    if method == "initialize":
        send({"id": i, "result": {"capabilities": {}}})
    elif method == "acp/session/new" and m["params"]["agent"] == "none":
        send({"id": i, "error": {"code": -32002, "message": "no", "data": {"kind": "unknownAgent"}}})
    elif method == "acp/session/new" and m["params"]["agent"] == "noise":
        out.write(b"hello\n"); out.flush()
    elif method == "acp/session/new":
        send({"id": i, "result": {"sessionId": "s", "session": {}, "thread":
              {"epoch": "e", "rev": 0, "entries": []}}})
    elif method == "acp/session/prompt":
        send({"id": i, "result": {"turnId": "t", "queuedAt": "now"}})
        changed(0, {"op": "put", "entry": {"id": "1", "kind": "agent", "turnId": "t", "text": "a"}})
        changed(1, {"op": "append", "id": "1", "field": "text", "text": "b"})
        send({"method": "acp/permission/requested", "params": {"request": {"requestId": "p",
              "options": [{"optionId": "x", "kind": "reject_once"},
                          {"optionId": "y", "kind": "allow_once"}]}}})
    elif method == "acp/permission/answer":
        send({"id": i, "result": {"accepted": True}})
        changed(2, {"op": "append", "id": "1", "field": "text", "text": m["params"]["optionId"]},
                {"op": "put", "entry": {"id": "2", "kind": "stop", "turnId": "t", "stopReason": "end_turn"}})
        send({"method": "acp/session/changed", "params": {"session": {"sessionId": "s"}}})
    elif method == "shutdown":
        send({"id": i, "result": None})
    elif method == "exit":
        break
"""


@pytest.fixture
def server(tmp_path: Path) -> list[str]:
    program = tmp_path / "server.py"
    program.write_text(SERVER)
    return [sys.executable, str(program)]


async def test_a_turn_is_rebuilt_from_ops(server: list[str]) -> None:
    async with LspClient.run(server, acp=rich()) as client:
        session = await client.new_session("any")
        turn = await client.turn(session, "go", on_permission="allow_once")
    assert (turn.text, turn.stop_reason, len(turn.permissions)) == ("aby", "end_turn", 1)
    assert client.process.returncode == 0


async def test_an_error_answer_is_raised(server: list[str]) -> None:
    async with LspClient.run(server) as client:
        with pytest.raises(LspError) as caught:
            await client.new_session("none")
    assert (caught.value.code, caught.value.kind) == (-32002, "unknownAgent")


async def test_noise_on_stdout_is_a_failure(server: list[str]) -> None:
    async with LspClient.run(server) as client:
        with pytest.raises(ProtocolBroken, match="hello"):
            await client.new_session("noise")


def test_a_gap_is_a_failure() -> None:
    thread = ThreadModel("e", 1, [])
    with pytest.raises(AssertionError, match="a gap"):
        thread.changed({"epoch": "e", "fromRev": 2, "rev": 3, "ops": []})


def test_put_patch_remove() -> None:
    thread = ThreadModel("e", 0, [])
    for op in (
        {"op": "put", "entry": {"id": "a", "kind": "tool", "status": "pending", "title": "x"}},
        {"op": "put", "entry": {"id": "b", "kind": "agent"}, "after": None},
        {"op": "put", "entry": {"id": "c", "kind": "agent"}, "after": "b"},
        {"op": "patch", "id": "a", "set": {"status": "completed", "title": None}},
        {"op": "put", "entry": {"id": "c", "kind": "agent", "text": "new"}},
        {"op": "remove", "id": "b"},
    ):
        thread.apply(op)
    assert thread.entries == [
        {"id": "c", "kind": "agent", "text": "new"},
        {"id": "a", "kind": "tool", "status": "completed"},
    ]


def test_edits_count_utf16_units() -> None:
    def edit(start: tuple[int, int], end: tuple[int, int], text: str) -> dict[str, object]:
        ends = {"start": dict(zip(("line", "character"), start, strict=True))}
        ends["end"] = dict(zip(("line", "character"), end, strict=True))
        return {"range": ends, "newText": text}

    assert apply_edits("a😀b\r\nsecond\n", [edit((0, 3), (0, 4), "B")]) == "a😀B\r\nsecond\n"
    assert apply_edits("x\r\ny\n", [edit((0, 1), (1, 0), "\r\n"), edit((2, 0), (2, 0), "z")]) == "x\r\ny\nz"
    assert apply_edits("", [edit((0, 0), (9, 0), "new")]) == "new"
