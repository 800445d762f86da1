"""Two texts to coloured diff lines for a terminal."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

MOST_LINES = 60
TOO_LONG_TO_COMPARE = 2000
_CONTEXT = 3


def diff_lines(old: str | None, new: str, patch: object = None) -> list[tuple[str, str]]:
    """(style, line) pairs; at most `MOST_LINES` and then one that says how many more there are.

    The common head and tail are stripped first; what is left is compared only up to a length at which that
    stays quick, and beyond it is shown as removed and added whole.
    """
    if isinstance(patch, str) and not new:
        lines = [(_style(line), line) for line in patch.splitlines()]
    else:
        lines = list(_compare((old or "").splitlines(), new.splitlines()))
    if len(lines) <= MOST_LINES:
        return lines
    return [*lines[:MOST_LINES], ("dim", f"… {len(lines) - MOST_LINES} more lines")]


def _style(line: str) -> str:
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "dim")


def _compare(old: list[str], new: list[str]) -> Iterator[tuple[str, str]]:
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    if head == len(old) == len(new):
        return
    first = max(0, head - _CONTEXT)
    last = max(0, tail - _CONTEXT)
    before, after = old[first : len(old) - last], new[first : len(new) - last]
    if len(before) + len(after) > TOO_LONG_TO_COMPARE:
        yield "cyan", f"@@ -{first + 1},{len(before)} +{first + 1},{len(after)} @@"
        yield from (("red", f"-{line}") for line in before)
        yield from (("green", f"+{line}") for line in after)
        return
    hunks = difflib.SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(_CONTEXT)
    for number, hunk in enumerate(hunks):
        if number:
            yield "cyan", "⋯"
        for tag, i1, i2, j1, j2 in hunk:
            if tag == "equal":
                yield from (("dim", f" {line}") for line in before[i1:i2])
                continue
            yield from (("red", f"-{line}") for line in before[i1:i2])
            yield from (("green", f"+{line}") for line in after[j1:j2])
