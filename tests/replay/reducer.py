"""What a recorded ACP v1 conversation must look like in the thread; imports nothing of the project.

Written from the protocol and the design, not from the code: it is the judge of what the bridge shows.

Rules
- Chunks with a messageId belong to that message of their kind. Those without join the run of the same kind;
  a chunk of another kind, a new tool call, a new plan or the end of the turn ends a run.
- A chunk without text or block adds nothing.
- tool_call, tool_call_update and the toolCall of a permission request are one upsert by id, the first sight
  creates it (status pending unless said); omitted or null keeps. No status said keeps the old one.
- A call that finished (completed, failed, cancelled) stays finished when something late says pending or
  in_progress.
- session/cancel, also between turns, and the end of a turn make every unfinished call of the session
  cancelled; an update that the agent still sends afterwards, before the turn ends, counts.
- A plan replaces the plan.
- The end of a turn is its answer: the agent's stop reason; an error is one error entry and "error", except
  after a cancel: "cancelled", no error entry. A refusal stands for a failure: an error entry, then "refusal".
- user_message_chunk in a turn is the agent's echo of the prompt: not shown twice.
- Everything else changes no entry.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
Entry = list[Any]
FINISHED = ("completed", "failed", "cancelled")
CHUNKS = {"agent_message_chunk": "agent", "agent_thought_chunk": "thought"}


@dataclass
class Session:
    """One session. `entries` are lists: [kind, text] · ["tool", title, status] · ["plan", entries] ·
    ["error"] · ["stop", reason]."""

    entries: list[Entry] = field(default_factory=list)
    running: bool = False
    cancelled: bool = False
    last_run: Entry | None = None
    messages: dict[tuple[str, str], Entry] = field(default_factory=dict)
    tools: dict[str, Entry] = field(default_factory=dict)
    plan: Entry | None = None

    def prompted(self, blocks: list[Json]) -> None:
        self.running, self.cancelled, self.plan = True, False, None
        self.add(["user", "".join(block.get("text", "") for block in blocks)])

    def update(self, update: Json) -> None:
        kind = update.get("sessionUpdate")
        if kind in CHUNKS:
            self.chunk(CHUNKS[kind], update)
        elif kind in ("tool_call", "tool_call_update"):
            self.tool(update)
        elif kind == "plan":
            self.planned(update["entries"])

    def chunk(self, kind: str, update: Json) -> None:
        text = shown(update["content"])
        if not text:
            return
        message_id = update.get("messageId")
        entry = self.messages.get((kind, message_id)) if message_id else self.run_of(kind)
        if entry is None:
            entry = self.add([kind, ""])
            if message_id:
                self.messages[kind, message_id] = entry
        entry[1] += text
        self.last_run = None if message_id else entry

    def run_of(self, kind: str) -> Entry | None:
        return self.last_run if self.last_run is not None and self.last_run[0] == kind else None

    def tool(self, update: Json) -> None:
        entry = self.tools.get(update["toolCallId"])
        if entry is None:
            entry = self.tools[update["toolCallId"]] = self.add(["tool", "", "pending"])
        entry[1] = update.get("title") or entry[1]
        status = update.get("status") or entry[2]
        if status in FINISHED or entry[2] not in FINISHED:
            entry[2] = status

    def planned(self, entries: list[Json]) -> None:
        if self.plan is None:
            self.plan = self.add(["plan", []])
        self.plan[1] = entries

    def cancel(self) -> None:
        self.cancelled = self.running
        self.close_tools()

    def stopped(self, answer: Json) -> None:
        reason = (answer.get("result") or {}).get("stopReason", "error")
        if "error" in answer and self.cancelled:
            reason = "cancelled"
        elif "error" in answer or reason == "refusal":
            self.add(["error"])
        self.close_tools()
        self.add(["stop", reason])
        self.running = False

    def close_tools(self) -> None:
        for entry in self.tools.values():
            if entry[2] not in FINISHED:
                entry[2] = "cancelled"

    def add(self, entry: Entry) -> Entry:
        self.entries.append(entry)
        self.last_run = None
        return entry


def shown(block: Json) -> str:
    """A content block as text; a block that is no text as its type in brackets."""
    return str(block.get("text", "")) if block.get("type") == "text" else f"[{block.get('type')}]"


def reduce(steps: Iterable[tuple[str, Json]]) -> dict[str, Session]:
    """Sessions by id, in the order of their first sight."""
    sessions: dict[str, Session] = {}
    asked: dict[Any, Json] = {}
    for direction, message in steps:
        method, params = message.get("method"), message.get("params") or {}
        if direction == "->" and method in ("session/new", "session/prompt"):
            asked[message["id"]] = message
        if method == "session/new":
            continue
        if method is None:
            question = asked.pop(message.get("id"), None) if direction == "<-" else None
            answered(sessions, question, message)
            continue
        session_id = params.get("sessionId")
        if session_id is None:
            continue
        session = sessions.setdefault(session_id, Session())
        if method == "session/prompt":
            session.prompted(params["prompt"])
        elif method == "session/cancel":
            session.cancel()
        elif method == "session/update":
            session.update(params["update"])
        elif method == "session/request_permission":
            session.tool(params["toolCall"])
    return sessions


def answered(sessions: dict[str, Session], question: Json | None, message: Json) -> None:
    """An answer of the agent: a session is there, or a turn is over."""
    if question is None:
        return
    if question["method"] == "session/prompt":
        sessions[question["params"]["sessionId"]].stopped(message)
    elif "result" in message:
        sessions.setdefault(message["result"]["sessionId"], Session())
