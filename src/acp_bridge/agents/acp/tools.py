"""Tool calls on the ACP v1 wire: `tool_call`, `tool_call_update` and the one inside a permission request.

Also the hints that known agents put into `_meta`: the machine's tool name, the subagent's parent call, and
the display form of a terminal the agent runs itself (`terminal_info`, `terminal_output`, `terminal_exit`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET, UnsetType

from acp_bridge.agents.acp import lenient
from acp_bridge.agents.events import Event, Json, ToolCall, ToolOutput

_BLOCKS = frozenset({"text", "image", "audio", "resource", "resource_link"})
_NAME_HINTS = ("toolName", "tool_name")
_PARENT_HINTS = ("parentToolUseId", "parentToolCallId")


def tool_call(update: Json, *, announced: bool, fallback_id: str | None = None) -> ToolCall | None:
    """The upsert `update` means; None without an id (`fallback_id` steps in where one must be made)."""
    call_id = lenient.text_or_none(update, "toolCallId") or fallback_id
    if not call_id:
        return None
    parent = parent_hint(update)
    return ToolCall(
        id=call_id,
        announced=announced,
        parent=parent if parent != call_id else None,
        name=_name(update),
        title=lenient.text(update, "title"),
        kind=lenient.text(update, "kind"),
        status=lenient.text(update, "status"),
        content=_content(update),
        locations=_locations(update),
        raw_input=lenient.given(update, "rawInput"),
        raw_output=lenient.given(update, "rawOutput"),
        meta=lenient.given(update, "_meta"),
    )


def tool_events(update: Json, *, announced: bool) -> list[Event] | None:
    """The upsert and the output shown through `_meta.terminal_output`."""
    call = tool_call(update, announced=announced)
    if call is None:
        return None
    output = lenient.text_or_none(lenient.obj(lenient.obj(update, "_meta"), "terminal_output"), "data")
    if not output:
        return [call]
    return [call, ToolOutput(tool_call_id=call.id, text=output, parent=call.parent)]


def parent_hint(update: Json) -> str | None:
    """The tool call this update belongs to as a subagent's, from `_meta`."""
    return _hint(update, _PARENT_HINTS)


def _name(update: Json) -> str | UnsetType:
    name = lenient.text(update, "name")
    return name if name is not UNSET else _hint(update, _NAME_HINTS) or UNSET


def _hint(update: Json, keys: tuple[str, ...]) -> str | None:
    return next(
        (value for place in _meta_places(update) for key in keys if (value := _word(place, key))), None
    )


def _meta_places(update: Json) -> Iterator[Json]:
    """`_meta` itself and each agent's own object in it."""
    meta = lenient.obj(update, "_meta")
    yield meta
    yield from (value for value in meta.values() if isinstance(value, dict))


def _word(place: Json, key: str) -> str | None:
    return lenient.text_or_none(place, key) or None


def _content(update: Json) -> list[Json] | UnsetType:
    items = lenient.objects(update, "content")
    return lenient.kept(items, _content_item) if isinstance(items, list) else UNSET


def _content_item(item: Json) -> Json | None:
    """An item in wire form; a bare content block (seen in examples of the protocol) is wrapped."""
    kind = item.get("type")
    if kind in _BLOCKS:
        return {"type": "content", "content": item}
    required: dict[Any, bool] = {
        "content": isinstance(item.get("content"), dict),
        "diff": lenient.strings(item, "path", "newText"),
        "terminal": lenient.strings(item, "terminalId"),
    }
    return item if isinstance(kind, str) and required.get(kind, True) else None


def _locations(update: Json) -> list[Json] | UnsetType:
    items = lenient.objects(update, "locations")
    return lenient.kept(items, _location) if isinstance(items, list) else UNSET


def _location(item: Json) -> Json | None:
    if not lenient.strings(item, "path"):
        return None
    line = lenient.number(item, "line")
    cleaned = {key: value for key, value in item.items() if key != "line"}
    return cleaned if line is None else {**cleaned, "line": max(line, 1)}
