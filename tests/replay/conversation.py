"""A recording made ready to be played in one folder: steps of the driver, script of the agent, files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from replay.selection import Step, read

Json = dict[str, Any]
TRACES = Path(__file__).parent / "traces"
RECORDED_CWD = "/home/user/project"


@dataclass
class Conversation:
    """`steps` are whole (handshake included), paths in `cwd`; `files` must exist before, `written` after."""

    name: str
    steps: list[Step]
    script: list[Json]
    files: dict[str, str]
    written: dict[str, str]


def names() -> list[tuple[str, str]]:
    """(agent, name of the recording) of all of them, those of one agent in a row."""
    return sorted((path.stem.rpartition("-")[0], path.stem) for path in TRACES.glob("*.jsonl"))


def load(name: str, cwd: Path) -> Conversation:
    """Read one, put the agent's handshake before it if it was cut out of a longer run, move it to `cwd`."""
    steps = read(TRACES / f"{name}.jsonl")
    if not any(message.get("method") == "initialize" for _, message in steps):
        steps = with_handshake(steps, read(TRACES / f"{name.rpartition('-')[0]}-init.jsonl"))
    steps = json.loads(json.dumps(steps).replace(RECORDED_CWD, json.dumps(str(cwd))[1:-1]))
    files, written = touched(steps)
    return Conversation(name, steps, list(script_of(steps)), files, written)


def with_handshake(cut: list[Step], init: list[Step]) -> list[Step]:
    """`cut` behind initialize and authenticate of `init` and a session/new for each session it presumes."""
    opening = next(i for i, (_, message) in enumerate(init) if message.get("method") == "session/new")
    steps = list(init[:opening])
    for number, session_id in enumerate(presumed_sessions(cut)):
        steps += opened_as(init[opening:], session_id, f"opening-{number}")
    return steps + cut


def presumed_sessions(cut: list[Step]) -> list[str]:
    """Sessions spoken of that no session/new of this recording made, in order."""
    made: set[str] = set()
    presumed: list[str] = []
    for _, message in cut:
        result = message.get("result")
        if isinstance(result, dict) and "sessionId" in result:
            made.add(result["sessionId"])
        session_id = (message.get("params") or {}).get("sessionId")
        if session_id is not None and session_id not in made and session_id not in presumed:
            presumed.append(session_id)
    return presumed


def opened_as(opening: list[Step], session_id: str, call_id: str) -> list[Step]:
    """A recorded session/new, its answer and its first updates, under other ids."""
    own_call = opening[0][1]["id"]
    own_session = next(
        m["result"]["sessionId"] for _, m in opening if m.get("id") == own_call and "result" in m
    )
    steps = json.loads(json.dumps(opening).replace(json.dumps(own_session), json.dumps(session_id)))
    for _, message in steps:
        if message.get("id") == own_call:
            message["id"] = call_id
    return [(direction, message) for direction, message in steps]


def script_of(steps: list[Step]) -> Iterator[Json]:
    """What replay_agent.py plays."""
    running: dict[Any, str] = {}
    reads: set[Any] = set()
    for direction, message in steps:
        method, params = message.get("method"), message.get("params") or {}
        if direction == "<-":
            running.pop(message.get("id"), None) if method is None else None
            reads |= {message["id"]} if method == "fs/read_text_file" else set()
            yield {"send": message}
        elif method == "session/cancel" and params["sessionId"] not in running.values():
            yield {"tolerate": method}
        elif method is not None:
            if method == "session/prompt":
                running[message["id"]] = params["sessionId"]
            known = {"id": message["id"]} if "id" in message else {}
            named = {"session": params["sessionId"]} if "sessionId" in params else {}
            yield {"expect": method, **known, **named}
        else:
            kind = "result" if "result" in message else "error"
            same = {"equals": message["result"]} if kind == "result" and must_equal(message, reads) else {}
            yield {"expect_answer": message["id"], "is": kind, **same}


def must_equal(answer: Json, reads: set[Any]) -> bool:
    """Permissions and reads must be answered with the very words recorded."""
    return "outcome" in answer["result"] or answer["id"] in reads


def touched(steps: list[Step]) -> tuple[dict[str, str], dict[str, str]]:
    """Files that the client was asked for and had, files that it wrote: path to text."""
    asked: dict[Any, Json] = {}
    before: dict[str, str] = {}
    written: dict[str, str] = {}
    for direction, message in steps:
        method, call_id = message.get("method"), message.get("id")
        if direction == "<-" and method in ("fs/read_text_file", "fs/write_text_file"):
            asked[call_id] = message
        elif direction == "->" and method is None and call_id in asked and "result" in message:
            question = asked.pop(call_id)
            path = question["params"]["path"]
            if question["method"] == "fs/write_text_file":
                written[path] = question["params"]["content"]
            elif path not in written:
                before[path] = message["result"]["content"]
    return before, written
