"""The conversation as Markdown: what it quotes cannot break out of its quotes."""

from __future__ import annotations

import json

import pytest

from acp_bridge.host.export import as_json, as_markdown

SUMMARY = {"title": None, "agent": "demo", "cwd": "/work"}
TOOL = {"kind": "tool", "title": "Edit", "status": "completed"}


@pytest.mark.parametrize("text", ["plain", "```\nx\n```", "  ````  \nx", "a `code` b", "```py\nx"])
def test_a_text_stands_whole_inside_its_fence(text: str) -> None:
    entry = {**TOOL, "content": [{"type": "text", "text": text}]}
    head, fence, body = as_markdown(SUMMARY, [entry]).partition(text)
    opening = head.splitlines()[-1]
    assert fence == text
    assert set(opening) == {"`"}
    assert opening not in text
    assert body.splitlines()[1] == opening


def test_every_kind_of_entry_has_its_words() -> None:
    entries = [
        {
            "kind": "user",
            "blocks": [
                {"type": "text", "text": "do it"},
                {"type": "resource_link", "uri": "file:///a", "name": "a"},
            ],
        },
        {"kind": "thought", "text": "one\ntwo"},
        {"kind": "agent", "text": "done"},
        {
            **TOOL,
            "content": [
                {"type": "diff", "path": "/a", "oldText": "x", "newText": "y\nz"},
                {"type": "terminal"},
            ],
        },
        {"kind": "plan", "entries": [{"content": "p", "status": "completed"}, {"content": "q"}]},
        {"kind": "error", "message": "No", "hint": "try"},
        {"kind": "notice", "title": "Hey", "description": ""},
        {"kind": "stop", "stopReason": "refusal"},
        {"kind": "stop", "stopReason": "end_turn"},
        {"kind": "unknown", "raw": {}},
    ]
    assert (
        as_markdown(SUMMARY, entries)
        == """# Session

Agent: demo · Folder: `/work`

## You

do it
[a](file:///a)

> one
> two

## Agent

done

- **Edit** (completed)

`/a`

```diff
-x
+y
+z
```

*terminal*

- [x] p
- [ ] q

**Error:** No try

*Hey*

*Stopped: refusal*
"""
    )
    assert json.loads(as_json(SUMMARY, entries)) == {"session": SUMMARY, "entries": entries}
