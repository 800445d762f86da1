"""What an agent says, applied to the thread: which event becomes, grows or closes which entry.

Guarantees
- Chunks of one message id are one entry; without ids a run of one role is. Any other entry ends a run.
- A tool call is upserted by id within its turn, whatever came first; a finished one is never reopened by a
  late update, and at the end of its turn none is left open.
- The agent's echo of the user's own prompt is not shown twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import UNSET

from acp_bridge.agents.events import (
    Compaction,
    Diff,
    Error,
    Event,
    Message,
    MessageChunk,
    Notice,
    Plan,
    PlanRemoved,
    ThoughtChunk,
    ToolCall,
    ToolContent,
    ToolOutput,
    Unknown,
)
from acp_bridge.host.content import entry_content, entry_locations, file_ref, tool_title
from acp_bridge.host.echo import Echo
from acp_bridge.host.thread import Entry, Thread

Json = dict[str, Any]
FINISHED = frozenset({"completed", "failed", "cancelled"})


class Transcript:
    """Applies events to one thread. `turn_id` is the running turn, else the last one, else None."""

    def __init__(self, thread: Thread) -> None:
        self.thread = thread
        self.turn_id: str | None = None
        self.echo = Echo()
        self._run: tuple[str, str | None, str | None] | None = None
        self._run_entry: Entry | None = None
        self._messages: dict[tuple[str, str, str | None], Entry] = {}
        self._tools: dict[str, Entry] = {}
        self._by_key: dict[str, Entry] = {}
        self._closed_by_us: set[str] = set()
        self._handlers: dict[type, Callable[[Any], None]] = {
            MessageChunk: self._message_chunk,
            ThoughtChunk: self._thought_chunk,
            Message: self._message,
            ToolCall: self._upsert_tool,
            ToolContent: self._tool_content,
            ToolOutput: self._tool_output,
            Diff: self._diff,
            Plan: self._plan,
            PlanRemoved: self._plan_removed,
            Notice: self._notice,
            Compaction: self._compaction,
            Error: self.error,
            Unknown: self._unknown,
        }

    def apply(self, event: Event) -> bool:
        """Apply one event; False if it is none that shows in the thread."""
        handler = self._handlers.get(type(event))
        if handler is None:
            return False
        handler(event)
        return True

    def begin_turn(self, turn_id: str, blocks: list[Json], client_message_id: str | None) -> Entry:
        """Put the user's entry and open the turn."""
        self.turn_id = turn_id
        self.echo.expect(blocks)
        fields: Json = {"blocks": blocks}
        if client_message_id is not None:
            fields["clientMessageId"] = client_message_id
        return self._put("user", fields)

    def resume_turn(self, turn_id: str, entry: Entry, blocks: list[Json]) -> None:
        """Open a turn whose user entry stands: a prompt, perhaps edited, sent again after a log-in."""
        self.turn_id = turn_id
        self.echo.expect(blocks)
        self._end_run()
        self.thread.patch(entry, {"blocks": blocks})

    def drop_turn(self, turn_id: str) -> None:
        """Put the stop of a turn that stands in the thread, waited to be sent again and will not be: behind
        what there is of it."""
        last = next(i for i in reversed(self.thread.order) if self.thread.entry(i).turn_id == turn_id)
        self.thread.put("stop", {"stopReason": "cancelled"}, turn_id=turn_id, after=last)

    def open_tools(self) -> list[Entry]:
        """The tool calls of this turn that have not ended."""
        return [
            entry
            for entry in self._tools.values()
            if entry.turn_id == self.turn_id and entry.fields["status"] not in FINISHED
        ]

    def close_tools(self) -> None:
        """Mark what is still open as cancelled: the turn is over or being cancelled."""
        for entry in self.open_tools():
            self._closed_by_us.add(entry.id)
            self.thread.patch(entry, {"status": "cancelled"})

    def end_turn(self, stop_reason: str, error: Error | None, tokens: Json | None) -> None:
        """Close what is open and put the one `stop` entry, after an `error` entry if the turn failed."""
        self.close_tools()
        if error is not None:
            self.error(error)
        fields: Json = {"stopReason": stop_reason}
        if tokens is not None:
            fields["tokens"] = tokens
        self._put("stop", fields)
        self.echo.expect([])

    def last_text(self) -> str:
        """The agent's last message text of the current turn."""
        for entry_id in reversed(self.thread.order):
            entry = self.thread.entry(entry_id)
            if entry.kind == "agent" and entry.turn_id == self.turn_id:
                return entry.text()
        return ""

    def put(self, kind: str, fields: Json, parent: str | None = None) -> Entry:
        """Put an entry that belongs to no event (permissions, elicitations)."""
        return self._put(kind, fields, parent)

    def tool_entry(self, tool_call_id: str) -> Entry | None:
        """The entry of a tool call, None if none is known."""
        return self._tools.get(tool_call_id)

    # messages

    def _put(
        self, kind: str, fields: Json, parent: str | None = None, text_field: str | None = None
    ) -> Entry:
        self._end_run()
        return self.thread.put(kind, fields, turn_id=self.turn_id, parent=parent, text_field=text_field)

    def _end_run(self) -> None:
        self._run = None
        self._run_entry = None

    def _message_chunk(self, event: MessageChunk) -> None:
        if event.role == "user":
            self._user_chunk(event)
            return
        if event.block is not None:
            entry = self._running("agent", event.message_id, event.parent)
            self.thread.patch(entry, {"blocks": [*entry.fields.get("blocks", []), event.block]})
            return
        if event.text:
            self.thread.append(self._running("agent", event.message_id, event.parent), "text", event.text)

    def _thought_chunk(self, event: ThoughtChunk) -> None:
        if event.text:
            self.thread.append(self._running("thought", event.message_id, event.parent), "text", event.text)

    def _user_chunk(self, event: MessageChunk) -> None:
        block = event.block if event.block is not None else {"type": "text", "text": event.text}
        if self.echo.swallows(block):
            return
        entry = self._running("user", event.message_id, event.parent)
        blocks = list(entry.fields["blocks"])
        if block.get("type") == "text" and blocks and blocks[-1].get("type") == "text":
            blocks[-1] = {**blocks[-1], "text": blocks[-1]["text"] + block["text"]}
        else:
            blocks.append(block)
        self.thread.patch(entry, {"blocks": blocks})

    def _running(self, kind: str, message_id: str | None, parent: str | None) -> Entry:
        """The entry a chunk belongs to; made where there is none."""
        run = (kind, message_id, parent)
        if run == self._run and self._run_entry is not None:
            return self._run_entry
        entry = None
        if message_id is not None:
            entry = self._messages.get((kind, message_id, parent))
            if entry is not None and entry.turn_id != self.turn_id:
                entry = None
        if entry is None:
            fields: Json = {"blocks": []} if kind == "user" else {}
            entry = self._put(kind, fields, parent, None if kind == "user" else "text")
            if message_id is not None:
                self._messages[kind, message_id, parent] = entry
        self._run = run
        self._run_entry = entry
        return entry

    def _message(self, event: Message) -> None:
        kind = event.role
        if event.content is UNSET:
            return
        content = event.content or []
        if kind == "user":
            if all(self.echo.swallows(block) for block in content) and content:
                return
            self.thread.patch(self._running("user", event.message_id, event.parent), {"blocks": content})
            return
        entry = self._running(kind, event.message_id, event.parent)
        text = "".join(block.get("text", "") for block in content if block.get("type") == "text")
        blocks = [block for block in content if block.get("type") != "text"]
        self.thread.patch(entry, {"text": text, "blocks": blocks or None})

    # tools

    def _upsert_tool(self, event: ToolCall) -> None:
        self.tool_call(event)

    def tool_call(self, event: ToolCall) -> Entry:
        """Upsert a tool call; returns its entry."""
        entry = self._tools.get(event.id)
        if entry is not None and self._is_another(entry, event):
            entry = None
        if entry is None:
            entry = self._create_tool(event)
            self._tools[event.id] = entry
            return entry
        changes = self._tool_changes(event)
        status = changes.get("status")
        if status is not None and entry.fields["status"] in FINISHED and not self._may_reopen(entry, status):
            del changes["status"]
        if "title" not in changes and entry.fields["title"] == entry.fields["name"]:
            changes["title"] = tool_title(None, entry.fields["name"], event.raw_input)
        self.thread.patch(entry, changes)
        return entry

    def _is_another(self, entry: Entry, event: ToolCall) -> bool:
        """Ids may be shared: an announcement of an open call after a finished one is a new call."""
        if entry.fields["status"] not in FINISHED:
            return False
        opens = event.status is UNSET or event.status not in FINISHED
        return opens and (event.announced or entry.turn_id != self.turn_id)

    def _may_reopen(self, entry: Entry, status: str) -> bool:
        return status in FINISHED and (entry.id in self._closed_by_us or status == entry.fields["status"])

    def _create_tool(self, event: ToolCall) -> Entry:
        changes = self._tool_changes(event)
        name = changes.pop("name", None) or ""
        fields: Json = {
            "name": name,
            "title": tool_title(changes.pop("title", None), name, changes.get("rawInput")),
            "toolKind": changes.pop("toolKind", None) or "other",
            "status": changes.pop("status", None) or "pending",
            "content": changes.pop("content", None) or [],
            "locations": changes.pop("locations", None) or [],
            "output": "",
            **{key: value for key, value in changes.items() if value is not None},
        }
        return self._put("tool", fields, event.parent)

    def _tool_changes(self, event: ToolCall) -> Json:
        changes: Json = {}
        for key, value in (("name", event.name), ("title", event.title), ("toolKind", event.kind)):
            if value is not UNSET:
                changes[key] = value or ""
        if event.status is not UNSET and event.status is not None:
            changes["status"] = event.status
        if event.content is not UNSET:
            changes["content"] = entry_content(event.content)
        if event.locations is not UNSET:
            changes["locations"] = entry_locations(event.locations)
        if event.raw_input is not UNSET:
            changes["rawInput"] = event.raw_input
        if event.raw_output is not UNSET:
            changes["rawOutput"] = event.raw_output
        return changes

    def _tool_content(self, event: ToolContent) -> None:
        entry = self._tools.get(event.tool_call_id) or self.tool_call(ToolCall(id=event.tool_call_id))
        content = [*entry.fields["content"], *entry_content([event.item])]
        self.thread.patch(entry, {"content": content})

    def _tool_output(self, event: ToolOutput) -> None:
        entry = self._tools.get(event.tool_call_id) or self.tool_call(ToolCall(id=event.tool_call_id))
        self.thread.append(entry, "output", event.text)

    def _diff(self, event: Diff) -> None:
        content: Json = {"type": "diff", "oldText": event.old_text, "newText": event.new_text or ""}
        if event.changes is not None:
            content["changes"] = event.changes
        if event.patch is not None:
            content["patch"] = event.patch
        if event.path is not None:
            content |= file_ref(event.path)
        key = f"diff {self.turn_id} {event.path}"
        entry = self._by_key.get(key)
        if entry is not None:
            self.thread.patch(entry, {"content": [content]})
            return
        title = f"Changed {event.path}" if event.path else "Changes of this turn"
        fields = {"name": "diff", "title": title, "toolKind": "edit", "status": "completed"}
        self._by_key[key] = self._put(
            "tool", {**fields, "content": [content], "locations": [], "output": ""}, event.parent
        )

    # plans, notices and the rest

    def _plan(self, event: Plan) -> None:
        fields: Json = {"entries": event.entries}
        if event.content is not None:
            fields["content"] = event.content
        if event.uri is not None:
            fields["uri"] = event.uri
        key = f"plan {event.plan_id}"
        entry = self._by_key.get(key)
        if entry is not None and entry.id in self.thread and entry.turn_id == self.turn_id:
            self.thread.patch(entry, fields)
        else:
            self._by_key[key] = self._put("plan", fields, event.parent)

    def _plan_removed(self, event: PlanRemoved) -> None:
        entry = self._by_key.pop(f"plan {event.plan_id}", None)
        if entry is not None and entry.id in self.thread:
            self._end_run()
            self.thread.remove(entry)

    def _notice(self, event: Notice) -> None:
        fields = {"severity": event.severity, "title": event.title, "description": event.description or ""}
        self._put("notice", fields, event.parent)

    def _compaction(self, event: Compaction) -> None:
        key = f"compaction {event.compaction_id}"
        entry = self._by_key.get(key)
        if entry is None:
            entry = self._by_key[key] = self._put("compaction", {"status": "in_progress"}, event.parent)
        told = (("status", event.status), ("summary", event.summary), ("error", event.error))
        changes: Json = {name: value for name, value in told if value is not UNSET}
        if event.summary_append:
            so_far = changes.get("summary", entry.fields.get("summary")) or ""
            changes["summary"] = so_far + event.summary_append
        self.thread.patch(entry, changes)

    def error(self, event: Error) -> None:
        """Put an error entry."""
        fields = {"message": event.message, "detail": event.details or "", "hint": event.hint or ""}
        self._put("error", fields, event.parent)

    def _unknown(self, event: Unknown) -> None:
        self._put("unknown", {"raw": event.raw}, event.parent)
