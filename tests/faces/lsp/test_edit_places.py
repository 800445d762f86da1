"""Where an edit is asked for: never behind the last line end, which is no line to some editors."""

from __future__ import annotations

import pytest

from acp_bridge.faces.lsp.edits import inside
from acp_bridge.faces.lsp.positions import Change

LINE_ENDS = ("\n", "\r\n", "\r")


@pytest.mark.parametrize("line_end", LINE_ENDS)
def test_added_lines_go_before_the_last_line_end(line_end: str) -> None:
    before = f"one{line_end}"
    asked = inside(before, Change(len(before), len(before), f"two{line_end}"))
    assert asked == Change(3, 3, f"{line_end}two")
    assert asked.apply(before) == f"one{line_end}two{line_end}"


@pytest.mark.parametrize(
    ("before", "change"),
    [
        ("one", Change(3, 3, " more")),
        ("one\n", Change(4, 4, "no line end")),
        ("one\r\n", Change(5, 5, "another kind\n")),
        ("one\ntwo\n", Change(4, 4, "between\n")),
        ("", Change(0, 0, "first\n")),
    ],
)
def test_every_other_edit_stays_where_it_is(before: str, change: Change) -> None:
    assert inside(before, change) == change
