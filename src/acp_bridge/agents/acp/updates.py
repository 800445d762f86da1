"""ACP v1 `session/update` to events: one small function a kind, no I/O, nothing ever lost.

An update that lacks what its kind requires, or of a kind not listed in KINDS, becomes `Unknown` with its raw
form. What the documents disagree on is read in every form (research: `modeId` for `currentModeId`, a bare
content block as tool content). Unstable kinds of the schema (plan_update, plan_removed, notice,
compaction_update, compaction_summary_chunk) are read as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import UNSET, UnsetType

from acp_bridge.agents.acp import lenient
from acp_bridge.agents.acp.options import SessionOptions
from acp_bridge.agents.acp.tools import parent_hint, tool_events
from acp_bridge.agents.events import (
    Commands,
    Compaction,
    ConfigOptions,
    Event,
    Json,
    MessageChunk,
    Notice,
    Plan,
    PlanRemoved,
    Role,
    SessionInfo,
    ThoughtChunk,
    Unknown,
    Usage,
)

Read = Callable[[Json, SessionOptions], list[Event] | None]


def read(update: Any, options: SessionOptions) -> list[Event]:
    """The events `update` (the value of `params.update`) means. `options` is the session's and is changed."""
    if not isinstance(update, dict):
        return [Unknown(kind="", raw=update)]
    kind = lenient.text_or_none(update, "sessionUpdate") or ""
    reader = KINDS.get(kind)
    events = reader(update, options) if reader is not None else None
    return events if events is not None else [Unknown(kind=kind, raw=update, parent=parent_hint(update))]


def block_text(block: Json) -> str | None:
    """The text of a text block, None for any other."""
    return lenient.text_or_none(block, "text") if block.get("type") == "text" else None


def _blocks(content: Any) -> list[Json] | None:
    """A chunk's content block; a bare string and a list of blocks are read too."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    items = content if isinstance(content, list) else [content]
    blocks = [item for item in items if isinstance(item, dict) and isinstance(item.get("type"), str)]
    return blocks or None


def _message(role: Role) -> Read:
    def reader(update: Json, options: SessionOptions) -> list[Event] | None:
        blocks = _blocks(update.get("content"))
        if blocks is None:
            return None
        message_id, parent = lenient.text_or_none(update, "messageId"), parent_hint(update)
        return [_chunk(block, role, message_id, parent) for block in blocks]

    return reader


def _chunk(block: Json, role: Role, message_id: str | None, parent: str | None) -> Event:
    text = block_text(block)
    if text is not None:
        return MessageChunk(role=role, text=text, message_id=message_id, parent=parent)
    return MessageChunk(role=role, block=block, message_id=message_id, parent=parent)


def _thought(update: Json, options: SessionOptions) -> list[Event] | None:
    blocks = _blocks(update.get("content"))
    texts = [block_text(block) for block in blocks or ()]
    if not texts or None in texts:
        return None
    text = "".join(part for part in texts if part is not None)
    message_id = lenient.text_or_none(update, "messageId")
    return [ThoughtChunk(text=text, message_id=message_id, parent=parent_hint(update))]


def _plan(update: Json, options: SessionOptions) -> list[Event] | None:
    entries = _entries(update)
    return None if entries is None else [Plan(entries=entries, parent=parent_hint(update))]


def _plan_update(update: Json, options: SessionOptions) -> list[Event] | None:
    plan = lenient.obj(update, "plan")
    plan_id = lenient.text_or_none(plan, "planId")
    if plan_id is None:
        return None
    parent = parent_hint(update)
    if plan.get("type") == "markdown" and lenient.strings(plan, "content"):
        return [Plan(entries=[], plan_id=plan_id, content=plan["content"], parent=parent)]
    if plan.get("type") == "file" and lenient.strings(plan, "uri"):
        return [Plan(entries=[], plan_id=plan_id, uri=plan["uri"], parent=parent)]
    entries = _entries(plan) if plan.get("type") == "items" else None
    return None if entries is None else [Plan(entries=entries, plan_id=plan_id, parent=parent)]


def _plan_removed(update: Json, options: SessionOptions) -> list[Event] | None:
    plan_id = lenient.text_or_none(update, "planId")
    return None if plan_id is None else [PlanRemoved(plan_id=plan_id)]


def _entries(source: Json) -> list[Json] | None:
    items = lenient.objects(source, "entries")
    return lenient.kept(items, _entry) if isinstance(items, list) else None


def _entry(item: Json) -> Json | None:
    if not lenient.strings(item, "content"):
        return None
    status = lenient.text_or_none(item, "status") or "pending"
    priority = lenient.text_or_none(item, "priority") or "medium"
    return {**item, "status": status, "priority": priority}


def _commands(update: Json, options: SessionOptions) -> list[Event] | None:
    items = lenient.objects(update, "availableCommands")
    return [Commands(commands=lenient.kept(items, _command))] if isinstance(items, list) else None


def _command(item: Json) -> Json | None:
    if not lenient.strings(item, "name"):
        return None
    return {**item, "description": lenient.text_or_none(item, "description") or ""}


def _mode(update: Json, options: SessionOptions) -> list[Event] | None:
    mode = lenient.text_or_none(update, "currentModeId") or lenient.text_or_none(update, "modeId")
    if mode is None:
        return None
    return [ConfigOptions(options=options.current())] if options.mode_changed(mode) else []


def _config(update: Json, options: SessionOptions) -> list[Event] | None:
    items = update.get("configOptions")
    if not isinstance(items, list):
        return None
    options.replace(items)
    return [ConfigOptions(options=options.current())]


def _session_info(update: Json, options: SessionOptions) -> list[Event] | None:
    title, updated_at = lenient.clearable(update, "title"), lenient.clearable(update, "updatedAt")
    return [SessionInfo(title=title, updated_at=updated_at, meta=lenient.given(update, "_meta"))]


def _usage(update: Json, options: SessionOptions) -> list[Event] | None:
    used, size = lenient.number(update, "used"), lenient.number(update, "size")
    if used is None and size is None:
        return None
    return [Usage(used=used, size=size, cost=_cost(update.get("cost")))]


def _cost(cost: Any) -> Json | None:
    if not isinstance(cost, dict) or isinstance(cost.get("amount"), bool):
        return None
    return cost if isinstance(cost.get("amount"), int | float) and lenient.strings(cost, "currency") else None


def _notice(update: Json, options: SessionOptions) -> list[Event] | None:
    if not lenient.strings(update, "severity", "title"):
        return None
    description = lenient.text_or_none(update, "description")
    return [Notice(severity=update["severity"], title=update["title"], description=description)]


def _compaction(update: Json, options: SessionOptions) -> list[Event] | None:
    compaction_id = lenient.text_or_none(update, "compactionId")
    if compaction_id is None:
        return None
    return [
        Compaction(
            compaction_id=compaction_id,
            status=lenient.text(update, "status"),
            summary=_summary(update),
            error=lenient.clearable(update, "error"),
        )
    ]


def _summary(update: Json) -> str | UnsetType | None:
    value = update.get("summary", UNSET)
    if not isinstance(value, list):
        return lenient.clearable(update, "summary")
    return "".join(block_text(block) or "" for block in value if isinstance(block, dict))


def _compaction_chunk(update: Json, options: SessionOptions) -> list[Event] | None:
    compaction_id = lenient.text_or_none(update, "compactionId")
    text = block_text(lenient.obj(update, "content"))
    if compaction_id is None or text is None:
        return None
    return [Compaction(compaction_id=compaction_id, summary_append=text)]


KINDS: dict[str, Read] = {
    "user_message_chunk": _message("user"),
    "agent_message_chunk": _message("agent"),
    "agent_thought_chunk": _thought,
    "tool_call": lambda update, options: tool_events(update, announced=True),
    "tool_call_update": lambda update, options: tool_events(update, announced=False),
    "plan": _plan,
    "plan_update": _plan_update,
    "plan_removed": _plan_removed,
    "available_commands_update": _commands,
    "current_mode_update": _mode,
    "config_option_update": _config,
    "session_info_update": _session_info,
    "usage_update": _usage,
    "notice": _notice,
    "compaction_update": _compaction,
    "compaction_summary_chunk": _compaction_chunk,
}
