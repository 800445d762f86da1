"""Make what cannot be seen visible: control and bidirectional characters in what a person decides about."""

from __future__ import annotations

import re

# C0 and C1 controls but tab and newline, zero-width and bidirectional formatting, line and paragraph
# separators, tag characters, the byte order mark.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)


def visible(text: str) -> str:
    """`text` with every hidden character written as `<U+202E>`."""
    return _HIDDEN.sub(lambda match: f"<U+{ord(match[0]):04X}>", text)


def one_line(text: str, limit: int = 200) -> str:
    """`text` made visible, on one line, cut to `limit` characters with an ellipsis."""
    line = " ".join(visible(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
