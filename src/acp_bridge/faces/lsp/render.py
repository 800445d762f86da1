"""Thread entries as Markdown for a thread file. Pure functions.

Guarantee: nothing an agent says can look like the bridge's own headings (`## You`, `## Agent`) or its prompt
marker, can break the line structure (every line end becomes LF), or swallow what follows (an open code fence
is closed when its entry is done).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from difflib import unified_diff
from typing import Any

from acp_bridge.host.visible import one_line

Json = dict[str, Any]

YOU = "## You"
AGENT = "## Agent"
MAX_LINES = 60

_HEADING = re.compile(r"^( {0,3})(#{1,6})(?=[ \t]+(?:You|Agent)\b)", re.MULTILINE | re.IGNORECASE)
_UNDERLINE = re.compile(
    r"^( {0,3}(?:You|Agent)[ \t]*\n {0,3})(=+|-+)(?=[ \t]*$)", re.MULTILINE | re.IGNORECASE
)
_MARKER = re.compile(r"<!--(?=\s*acp-bridge)", re.IGNORECASE)
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)
_BAD = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")

TOOL_SIGNS = {
    "pending": "…",
    "in_progress": "…",
    "completed": "✓",
    "failed": "✗",
    "cancelled": "⊘",
}
PLAN_SIGNS = {"completed": "- [x] ", "in_progress": "- [ ] ▸ "}
STOPS = {
    "max_tokens": "Stopped: the answer reached the agent's token limit.",
    "max_turn_requests": "Stopped: the agent reached its limit of requests in one turn.",
    "refusal": "The agent refused or failed.",
    "cancelled": "Cancelled.",
    "error": "The turn failed.",
    "interrupted": "The turn was interrupted.",
}


def marker(nonce: str) -> str:
    """The line behind which a prompt stands."""
    return f"<!-- acp-bridge prompt {nonce} -->"


def turn(entries: list[Json], pending: Mapping[str, Json], *, with_prompt: bool, finished: bool) -> str:
    """One turn: its prompt (if asked for), the heading, what the agent did. `pending` are the permission
    requests that wait, by id."""
    parts: list[str] = []
    if with_prompt:
        prompts = [blocks_text(entry["blocks"]) for entry in entries if entry["kind"] == "user"]
        parts += [YOU, *(_safe(prompt) for prompt in prompts)]
    parts.append(AGENT)
    shown = [entry for entry in entries if entry["kind"] != "user"]
    for index, entry in enumerate(shown):
        text = entry_text(entry, pending)
        if finished or index < len(shown) - 1:
            text = _closed(text)
        parts.append(text.strip("\n"))
    return "\n\n".join(part for part in parts if part)


def entry_text(entry: Json, pending: Mapping[str, Json]) -> str:
    """One entry, whatever its kind; an unknown kind is shown raw."""
    render = _KINDS.get(entry["kind"])
    text = render(entry) if render is not None else _raw(entry["kind"], entry)
    request = pending.get(str(entry.get("requestId")))
    return f"{text}\n\n{_asks(request)}" if request is not None else text


def blocks_text(blocks: list[Json]) -> str:
    """Content blocks as text: links for files, a word for what cannot be shown."""
    return "\n\n".join(_block(block) for block in blocks)


def _safe(text: str) -> str:
    """Text of somebody else, with nothing in it that could pass for the bridge's own marks."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _BAD.sub("\N{REPLACEMENT CHARACTER}", text)
    text = _HEADING.sub(r"\1\\\2", text)
    text = _UNDERLINE.sub(r"\1\\\2", text)
    return _MARKER.sub(r"<\\!--", text)


def _closed(text: str) -> str:
    """Close a code fence that was left open (CommonMark 4.5)."""
    fence = ""
    for match in _FENCE.finditer(text):
        mark = match.group(1)
        if not fence:
            fence = mark
        elif mark.startswith(fence) and not text[match.end() :].split("\n", 1)[0].strip():
            fence = ""
    return f"{text.rstrip()}\n{fence}" if fence else text


def _fenced(text: str, language: str = "") -> str:
    """A code block of at most MAX_LINES lines, with a fence longer than any in the text."""
    lines = _safe(text).strip("\n").split("\n")
    if len(lines) > MAX_LINES:
        lines = [*lines[:MAX_LINES], f"… {len(lines) - MAX_LINES} more lines"]
    body = "\n".join(lines)
    longest = max((len(run) for run in re.findall(r"`+", body)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{body}\n{fence}"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in _safe(text).strip("\n").split("\n"))


def _inline(text: str) -> str:
    return _safe(one_line(text, 300))


def _block(block: Json) -> str:
    kind = block.get("type")
    if kind == "text":
        return str(block.get("text", ""))
    if kind == "resource_link":
        return f"[{block.get('name') or block.get('uri')}]({block.get('uri')})"
    if kind == "resource":
        resource = block.get("resource") or {}
        return f"[{resource.get('uri')}]({resource.get('uri')})"
    return f"*({kind})*"


def _agent(entry: Json) -> str:
    blocks = entry.get("blocks") or []
    return "\n\n".join([_safe(entry["text"]), *(_safe(_block(block)) for block in blocks)])


def _thought(entry: Json) -> str:
    return _quoted(entry["text"]) if entry["text"].strip() else ""


def _tool(entry: Json) -> str:
    sign = TOOL_SIGNS.get(entry["status"], "·")
    parts = [f"{sign} **{_inline(entry['title'])}** ({_inline(entry['status'].replace('_', ' '))})"]
    links = [_link(location) for location in entry.get("locations") or []]
    if links:
        parts.append(", ".join(links))
    parts += [_content(item) for item in entry.get("content") or []]
    if (entry.get("output") or "").strip():
        parts.append(_fenced(entry["output"]))
    return "\n\n".join(part for part in parts if part)


def _link(location: Json) -> str:
    line = location.get("line")
    label, target = location["path"], location["uri"]
    if isinstance(line, int):
        label, target = f"{label}:{line + 1}", f"{target}#L{line + 1}"
    return f"[{_inline(label)}]({target})"


def _content(item: Json) -> str:
    kind = item.get("type")
    if kind == "text":
        return _fenced(item["text"]) if item["text"].strip() else ""
    if kind == "diff":
        return _diff(item)
    if kind == "block" and isinstance(item.get("block"), dict):
        return _safe(_block(item["block"]))
    if kind == "terminal":
        return f"*terminal {_inline(str(item.get('terminalId')))}*"
    return _raw(str(kind), item)


def _diff(item: Json) -> str:
    if item.get("patch"):
        return _fenced(item["patch"], "diff")
    old, new = item.get("oldText") or "", item.get("newText") or ""
    path = str(item.get("path", ""))
    if len(old) + len(new) > 200_000:
        return f"*{_inline(path)}: too large to show*"
    lines = unified_diff(old.splitlines(), new.splitlines(), f"a{path}", f"b{path}", lineterm="")
    text = "\n".join(lines)
    return _fenced(text, "diff") if text else ""


def _plan(entry: Json) -> str:
    return "\n".join(
        PLAN_SIGNS.get(str(step.get("status")), "- [ ] ") + _inline(str(step.get("content", "")))
        for step in entry["entries"]
    )


def _notice(entry: Json) -> str:
    text = f"**{_inline(entry['title'])}**"
    return _quoted(f"{text}\n{entry['description']}" if entry.get("description") else text)


def _error(entry: Json) -> str:
    parts = [f"**Error:** {_inline(entry['message'])}"]
    if entry.get("hint"):
        parts.append(f"Try: {_inline(entry['hint'])}")
    if entry.get("detail"):
        parts.append(_fenced(entry["detail"]))
    return "\n\n".join(parts)


def _stop(entry: Json) -> str:
    reason = entry["stopReason"]
    return "" if reason == "end_turn" else f"*{STOPS.get(reason, f'Stopped: {_inline(reason)}.')}*"


def _compaction(entry: Json) -> str:
    status = _inline(str(entry.get("status") or "compaction"))
    return f"*Context compaction: {status}*"


def _elicitation(entry: Json) -> str:
    action = entry.get("action")
    return _quoted(f"**Asked:** {entry['message']}" + (f" ({action})" if action else ""))


def _permission(entry: Json) -> str:
    outcome = entry.get("outcome") or {}
    told = outcome.get("optionId") or outcome.get("outcome")
    return f"**{_inline(entry['title'])}**" + (f" ({_inline(str(told))})" if told else "")


def _asks(request: Json) -> str:
    options = ", ".join(f"“{_inline(option['name'])}”" for option in request["options"])
    return f"> **Your permission is needed.** Decide by code action here: {options}."


def _raw(kind: str, value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=2, default=str)
    return f"*{_inline(kind)}*\n\n{_fenced(text, 'json')}"


_KINDS: dict[str, Callable[[Json], str]] = {
    "agent": _agent,
    "thought": _thought,
    "tool": _tool,
    "plan": _plan,
    "notice": _notice,
    "error": _error,
    "stop": _stop,
    "compaction": _compaction,
    "elicitation": _elicitation,
    "permission": _permission,
}
