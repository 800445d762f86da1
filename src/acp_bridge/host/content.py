"""Wire values of ACP to the values of thread entries: content items, locations, titles, usage."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from acp_bridge.agents.events import Usage
from acp_bridge.host.visible import one_line

Json = dict[str, Any]

# What of a tool's arguments tells most in a title, best first.
_TELLING = (
    "command",
    "file_path",
    "filePath",
    "path",
    "file",
    "abs_path",
    "url",
    "pattern",
    "query",
    "description",
)


def to_uri(path: str) -> str:
    """The file URI of an absolute path; any other text is returned percent-encoded under `file:`. What is no
    character (half a pair) becomes `?`."""
    path = path.encode("utf-8", "replace").decode()
    pure = PurePath(path)
    return pure.as_uri() if pure.is_absolute() else "file:" + quote(path)


def file_ref(path: str) -> Json:
    """`{uri, path}`."""
    return {"uri": to_uri(path), "path": path}


def entry_content(items: list[Json] | None) -> list[Json]:
    """Tool content in wire form to `tool.content` of the editor protocol; nothing is dropped."""
    return [_content_item(item) for item in items or []]


def _content_item(item: Json) -> Json:
    kind = item.get("type")
    if kind == "content":
        block = item.get("content")
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str):
            return {"type": "text", "text": block["text"]}
        return {"type": "block", "block": block}
    if kind == "text" and isinstance(item.get("text"), str):
        return {"type": "text", "text": item["text"]}
    if kind == "terminal" and isinstance(item.get("terminalId"), str):
        return {"type": "terminal", "terminalId": item["terminalId"]}
    if kind == "diff" and isinstance(item.get("path"), str):
        diff: Json = {
            "type": "diff",
            **file_ref(item["path"]),
            "oldText": item.get("oldText"),
            "newText": item.get("newText") or "",
        }
        return diff | {key: item[key] for key in ("changes", "patch") if key in item}
    return {"type": "block", "block": item}


def entry_locations(items: list[Json] | None) -> list[Json]:
    """Wire locations (1-based lines) to `{uri, path, line?}` (0-based)."""
    locations = []
    for item in items or []:
        path = item.get("path")
        if not isinstance(path, str):
            continue
        location = file_ref(path)
        line = item.get("line")
        if isinstance(line, int):
            location["line"] = max(0, line - 1)
        locations.append(location)
    return locations


def tool_title(title: str | None, name: str | None, raw_input: Any) -> str:
    """The title to show: the agent's own, else one made of the name and the most telling argument."""
    if title:
        return title
    told = ""
    if isinstance(raw_input, dict):
        told = next((one_line(str(raw_input[key]), 80) for key in _TELLING if raw_input.get(key)), "")
    return " ".join(part for part in (name or "tool", told) if part)


def usage_json(usage: Usage, before: Json | None) -> Json:
    """`usage` of a session (SEED-RULES 16): a size of 0 or none gives percent null."""
    old = before or {}
    used = usage.used if usage.used is not None else old.get("used", 0)
    size = usage.size if usage.size is not None else old.get("size", 0)
    result: Json = {
        "used": used,
        "size": size,
        "remaining": max(size - used, 0),
        "percent": round(100 * used / size, 2) if size else None,
    }
    for key, value in (("cost", usage.cost), ("tokens", usage.tokens)):
        kept = value if value is not None else old.get(key)
        if kept is not None:
            result[key] = kept
    return result
