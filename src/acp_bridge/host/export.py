"""A session as a file to keep: Markdown to read, JSON to process."""

from __future__ import annotations

import json
import re
from typing import Any

Json = dict[str, Any]


def as_json(summary: Json, entries: list[Json]) -> str:
    """`{session, entries}`, indented."""
    return json.dumps({"session": summary, "entries": entries}, ensure_ascii=False, indent=2)


def as_markdown(summary: Json, entries: list[Json]) -> str:
    """The conversation; tool calls as one line each with their diffs as fenced blocks."""
    parts = [
        f"# {summary.get('title') or 'Session'}",
        f"Agent: {summary['agent']} · Folder: `{summary['cwd']}`",
    ]
    for entry in entries:
        text = _entry(entry)
        if text:
            parts.append(text)
    return "\n\n".join(parts) + "\n"


def _entry(entry: Json) -> str:
    kind = entry["kind"]
    if kind == "user":
        return "## You\n\n" + "\n".join(_block(block) for block in entry["blocks"])
    if kind == "agent":
        return f"## Agent\n\n{entry['text']}"
    if kind == "thought":
        return "\n".join(f"> {line}" for line in entry["text"].splitlines())
    if kind == "tool":
        return "\n\n".join([f"- **{entry['title']}** ({entry['status']})", *map(_content, entry["content"])])
    if kind == "plan":
        return "\n".join(_plan_line(item) for item in entry["entries"])
    if kind == "error":
        return f"**Error:** {entry['message']} {entry['hint']}".rstrip()
    if kind == "notice":
        return f"*{entry['title']}* {entry['description']}".rstrip()
    if kind == "stop" and entry["stopReason"] != "end_turn":
        return f"*Stopped: {entry['stopReason']}*"
    return ""


def _block(block: Json) -> str:
    if block.get("type") == "text":
        return str(block["text"])
    uri = block.get("uri") or (block.get("resource") or {}).get("uri")
    return f"[{block.get('name') or uri or block.get('type')}]({uri or ''})"


def _plan_line(item: Json) -> str:
    return f"- [{'x' if item.get('status') == 'completed' else ' '}] {item.get('content', '')}"


def _content(item: Json) -> str:
    if item["type"] == "text":
        return _fenced(item["text"])
    if item["type"] == "diff":
        lines = [f"-{line}" for line in (item.get("oldText") or "").splitlines()]
        lines += [f"+{line}" for line in item.get("newText", "").splitlines()]
        return f"`{item['path']}`\n\n" + _fenced("\n".join(lines), "diff")
    return f"*{item['type']}*"


def _fenced(text: str, language: str = "") -> str:
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
