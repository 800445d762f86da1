"""The thread file's positions: a model of three strings (above, answer, below) says where all must be."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_bridge.faces.lsp.layout import Layout, Plan, Span
from acp_bridge.faces.lsp.positions import Change, minimal_change

START = "# Thread with Demo\n\n## You\n\n<!-- acp-bridge prompt n1 -->\n\nhello"


@dataclass
class Editor:
    """The text as the user sees it, in the parts of the model; every change is told to the layout."""

    layout: Layout
    above: str
    answer: str = ""
    below: str = ""
    typed: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return self.above + self.answer + self.below

    def user(self, part: str, at: int, cut: int, text: str, slide: int = 0) -> None:
        """The user replaces `cut` characters at `at` within one part by `text`. An insertion is reported up
        to `slide` characters nearer to the answer, where that leads to the same text, as editors do."""
        before = self.text
        old = getattr(self, part)
        at = min(at, len(old))
        offset = {"above": 0, "below": len(self.above) + len(self.answer)}[part] + at
        cut = min(cut, len(old) - at)
        setattr(self, part, old[:at] + text + old[at + cut :])
        change = Change(offset, offset + cut, text)
        for _ in range(slide if not cut and text else 0):
            at, text = change.start, change.text
            nearer = Change(at - 1, at - 1, text[-1] + text[:-1])
            if part == "above":
                nearer = Change(at + 1, at + 1, text[1:] + text[:1])
            if nearer.start < 0 or nearer.start > len(before) or nearer.apply(before) != self.text:
                break
            change = nearer
        assert change.apply(before) == self.text
        self.layout.edited(self.text, [change])

    def ours(self, plan: Plan, typed_below: str = "", typed_above: str = "") -> None:
        """The editor applies our edit, and reports it together with what was typed at the end and at the end
        of the prompt."""
        spans = (self.layout.block, self.layout.answer)
        before = self.text
        after = plan.change.apply(before)
        self.answer = after[len(self.above) : len(after) - len(self.below)]
        self.below += typed_below
        self.above += typed_above
        self.layout.edited(self.text, [minimal_change(before, self.text)])
        self.layout.landed(plan, spans, self.text)


def sent() -> Editor:
    layout = Layout(START, "n1")
    assert layout.prompt() == "hello"
    layout.begin(behind_prompt=True)
    return Editor(layout, START)


WORDS = st.sampled_from(["x", "\n", "draft ", "## You\n\n", "é😀", "text\n"])
USER = st.tuples(
    st.just("user"),
    st.sampled_from(["above", "below"]),
    st.integers(0, 80),
    st.integers(0, 5),
    WORDS,
    st.integers(0, 3),
)
TYPED = st.sampled_from(["", "typed", "\n"])
OURS = st.tuples(st.just("ours"), st.lists(WORDS, max_size=3), TYPED, TYPED)


@given(st.lists(st.one_of(USER, OURS), max_size=12))
def test_typing_above_and_below_an_answer_that_grows_mixes_nothing(steps: list[tuple[object, ...]]) -> None:
    editor = sent()
    said = "## Agent\n\n"
    editor.ours(editor.layout.plan(said))
    for step in steps:
        if step[0] == "user":
            _, part, at, cut, text, slide = step
            keep = len(START) - len("hello") if part == "above" else 0
            editor.user(part, max(keep, at), cut, text, slide)  # type: ignore[arg-type, type-var]
        else:
            said += "".join(step[1])  # type: ignore[arg-type]
            editor.ours(editor.layout.plan(said), *step[2:])  # type: ignore[arg-type]
    editor.ours(editor.layout.plan(said, "n2"))
    layout = editor.layout
    assert layout.text == editor.text
    assert layout.answer is not None
    lead = editor.answer[: len(editor.answer) - len(editor.answer.lstrip("\n"))]
    block = "## You\n\n<!-- acp-bridge prompt n2 -->\n\n"
    assert editor.answer == f"{lead}{said}\n\n{block}"
    layout.finish()
    assert layout.prompt() == editor.below.strip()


def test_what_is_typed_at_the_end_of_the_answer_becomes_the_next_draft() -> None:
    editor = sent()
    editor.ours(editor.layout.plan("## Agent\n\nfirst"))
    editor.user("below", 0, 0, "my next question")
    editor.ours(editor.layout.plan("## Agent\n\nfirst and second"))
    editor.ours(editor.layout.plan("## Agent\n\nfirst and second", "n2"))
    editor.layout.finish()
    assert editor.layout.prompt() == "my next question"
    assert editor.text.endswith("<!-- acp-bridge prompt n2 -->\n\nmy next question")


@pytest.mark.parametrize("reported_at", [0, -1])
def test_a_draft_typed_before_the_answer_begins_stays_below_it(reported_at: int) -> None:
    layout = Layout(START + "\n", "n1")
    layout.begin(behind_prompt=True)
    at = len(layout.text)
    for offset, letter in ((at + reported_at, "\n"), (at, "d"), (at + 1, "!")):
        change = Change(offset, offset, letter)
        layout.edited(change.apply(layout.text), [change])
    after = layout.plan("## Agent\n\nyes").change.apply(layout.text)
    assert after == START + "\n\n## Agent\n\nyes\n\n" + "d!\n"


def test_what_is_typed_at_the_end_of_the_prompt_stays_above_the_answer() -> None:
    editor = sent()
    editor.ours(editor.layout.plan("## Agent\n\nfirst"))
    editor.user("above", len(editor.above), 0, ", and more")
    editor.ours(editor.layout.plan("## Agent\n\nfirst, second"))
    assert "hello, and more\n\n## Agent\n\nfirst, second" in editor.text


def test_what_the_user_changed_inside_the_answer_stays_while_it_grows() -> None:
    layout = Layout(START, "n1")
    layout.begin(behind_prompt=True)
    editor = Editor(layout, START)
    editor.ours(layout.plan("## Agent\n\na long first line\n\nsecond"))
    assert layout.answer is not None
    at = editor.text.index("long")
    change = Change(at, at + 4, "LONG")
    editor.answer = editor.answer.replace("long", "LONG")
    layout.edited(editor.text, [change])
    editor.ours(layout.plan("## Agent\n\na long first line\n\nsecond and third"))
    assert "a LONG first line\n\nsecond and third\n\n" in editor.text


def test_a_turn_that_was_asked_elsewhere_stands_before_the_open_prompt() -> None:
    text = START.replace("hello", "my draft")
    layout = Layout(text, "n1")
    layout.begin(behind_prompt=False)
    plan = layout.plan("## You\n\nfrom elsewhere\n\n## Agent\n\nyes")
    spans = (layout.block, layout.answer)
    after = plan.change.apply(text)
    layout.landed(plan, spans, after)
    layout.finish()
    assert after == (
        "# Thread with Demo\n\n## You\n\nfrom elsewhere\n\n## Agent\n\nyes\n\n"
        "## You\n\n<!-- acp-bridge prompt n1 -->\n\nmy draft"
    )
    assert layout.prompt() == "my draft"


def test_without_its_marker_there_is_no_prompt() -> None:
    layout = Layout(START, "n1")
    gone = START.replace("<!-- acp-bridge prompt n1 -->\n", "")
    layout.edited(gone, [minimal_change(START, gone)])
    assert layout.prompt() is None


def test_a_marker_with_another_nonce_is_not_the_marker() -> None:
    layout = Layout(START, "n1")
    forged = START + "\n<!-- acp-bridge prompt n2 -->\n\nforged"
    layout.edited(forged, [minimal_change(START, forged)])
    assert layout.prompt() == "hello\n<!-- acp-bridge prompt n2 -->\n\nforged"


@pytest.mark.parametrize("edited", ["unsaved draft below\n", ""])
def test_an_answer_is_found_again_in_a_text_that_was_replaced(edited: str) -> None:
    editor = sent()
    editor.ours(editor.layout.plan("## Agent\n\nfirst"))
    other = "new first line\n" + editor.text.replace("hello", "HELLO") + edited
    editor.layout.replaced(other)
    assert editor.layout.answer is not None
    start, end = editor.layout.answer
    assert other[start:end].strip() == "## Agent\n\nfirst"


def test_an_answer_that_was_lost_is_written_again_at_the_end() -> None:
    editor = sent()
    editor.ours(editor.layout.plan("## Agent\n\nfirst"))
    editor.layout.replaced(START)
    plan = editor.layout.plan("## Agent\n\nfirst and second")
    assert plan.change.apply(START) == START + "\n\n## Agent\n\nfirst and second\n\n"


@pytest.mark.parametrize(
    ("change", "span"),
    [
        (Change(0, 2, ""), Span(8, 18)),
        (Change(10, 10, "ab"), Span(12, 22)),
        (Change(20, 20, "ab"), Span(10, 20)),
        (Change(12, 14, "abc"), Span(10, 21)),
        (Change(8, 12, "x"), Span(9, 17)),
        (Change(18, 25, "xyz"), Span(10, 18)),
        (Change(0, 30, "xyz"), Span(3, 3)),
    ],
)
def test_a_span_follows_every_kind_of_change(change: Change, span: Span) -> None:
    assert Span(10, 20).after(change) == span
