"""Make what cannot be seen visible: control and bidirectional characters in what a person decides about."""

from __future__ import annotations

import re
from typing import Any

# C0 and C1 controls but tab and line ends (a lone carriage return is none), zero-width and bidirectional
# formatting, line and paragraph separators, surrogates, blanks that are no spaces, tags, the byte order mark.
_HIDDEN = re.compile(
    "\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2"
    "\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001345f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def visible(text: str) -> str:
    """`text` with every hidden character written as `<U+202E>`."""
    return _HIDDEN.sub(lambda match: f"<U+{ord(match[0]):04X}>", text)


def visible_json(value: Any) -> Any:
    """A JSON value with every string in it made visible."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, list):
        return [visible_json(item) for item in value]
    if isinstance(value, dict):
        return {visible(str(key)): visible_json(item) for key, item in value.items()}
    return value


def one_line(text: str, limit: int = 200) -> str:
    """`text` made visible, on one line, cut to `limit` characters with an ellipsis."""
    line = " ".join(visible(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
