"""Where things stand in a thread file: the prompt marker and the growing answer, kept through every edit.

Sans I/O. The user may edit anywhere at any time; positions follow. The answer has left gravity at its end:
what is typed there stays behind it and becomes the next draft. An edit of ours is planned against the text as
it stands and becomes true only by `landed`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from acp_bridge.faces.lsp.positions import Change, minimal_change
from acp_bridge.faces.lsp.render import YOU, marker


class Span(NamedTuple):
    """Offsets, end excluded."""

    start: int
    end: int

    def after(self, change: Change) -> Span:
        """Where the span is after a change that somebody else made."""
        delta = len(change.text) - (change.end - change.start)
        if change.start >= self.end:
            return self
        if change.end <= self.start:
            return Span(self.start + delta, self.end + delta)
        if change.start < self.start:
            start = change.start + len(change.text)
            return Span(start, max(start, self.end + delta))
        if change.end > self.end:
            return Span(self.start, change.start)
        return Span(self.start, self.end + delta)


@dataclass(frozen=True, slots=True)
class Plan:
    """One edit of ours: `change` to the text `before` makes the answer read `rendered`; `block` is the prompt
    block that it adds at the answer's end ("" for none), `nonce` that block's."""

    before: str
    change: Change
    rendered: str
    block: str = ""
    nonce: str = ""

    @property
    def empty(self) -> bool:
        """Nothing would change."""
        return self.change.start == self.change.end and not self.change.text


def prompt_block(nonce: str) -> str:
    """The heading and the marker, behind which the user writes."""
    return f"{YOU}\n\n{marker(nonce)}\n"


class Layout:
    """Positions in the text of one thread file. `block` is the last prompt block the bridge wrote, `answer`
    what it has written of the running turn."""

    def __init__(self, text: str, nonce: str) -> None:
        self.text = text
        self.nonce = nonce
        self.block: Span | None = None
        self.answer: Span | None = None
        self.rendered = ""
        self._find_block()

    def prompt(self) -> str | None:
        """What stands behind the last marker; None if the marker is gone."""
        if self.block is None:
            return None
        at = self.text.find(marker(self.nonce), self.block.start, self.block.end)
        if at < 0:
            return None
        return self.text[at + len(marker(self.nonce)) :].strip()

    def edited(self, text: str, changes: list[Change]) -> None:
        """The text was changed by others; `changes` lead to `text`, one after the other."""
        now = self.text
        for change in changes:
            settled = self._settled(now, change)
            now = change.apply(now)
            self.block = self.block and self.block.after(settled)
            self.answer = self.answer and self.answer.after(settled)
        self.text = text

    def replaced(self, text: str) -> None:
        """The text is another one: the file was opened, or closed without saving."""
        if text == self.text:
            return
        self.edited(text, [minimal_change(self.text, text)])
        if self.block is not None and marker(self.nonce) not in text[self.block.start : self.block.end]:
            self._find_block()
        if self.answer is None or text[self.answer.start : self.answer.end] == self.rendered:
            return
        at = text.find(self.rendered) if self.rendered else -1
        if at < 0:
            self.rendered = ""
            self.answer = Span(len(text), len(text))
        else:
            self.answer = Span(at, at + len(self.rendered))

    def begin(self, *, behind_prompt: bool) -> None:
        """A turn begins: its answer stands at the end, or before the prompt block if its prompt is not the
        one written there."""
        at = len(self.text) if behind_prompt or self.block is None else self.block.start
        self.answer = Span(at, at)
        self.rendered = ""

    def plan(self, rendered: str, next_nonce: str = "") -> Plan:
        """What makes the answer read `rendered`; with a nonce it is the end of it, and a new prompt block
        follows. Leaves alone what the user changed in the part that does not change."""
        assert self.answer is not None
        start, end = self.answer
        lead = _gap(self.text[:start])
        wanted = f"{lead}{rendered}\n\n"
        block = prompt_block(next_nonce) + "\n" if next_nonce else ""
        inner = minimal_change(self.rendered, wanted + block)
        current = self.text[start:end]
        if current != self.rendered:
            tail = self.rendered[inner.start :]
            if current.endswith(tail):
                at = end - len(tail)
                change = Change(at, at + inner.end - inner.start, inner.text)
            else:
                change = Change(start, end, wanted + block)
        else:
            change = Change(start + inner.start, start + inner.end, inner.text)
        return Plan(self.text, change, wanted, block, next_nonce)

    def landed(self, plan: Plan, before: tuple[Span | None, Span | None], text: str) -> None:
        """A planned edit is in the text, perhaps with something the user typed meanwhile. `before` are
        `block` and `answer` as they were when it was planned."""
        block, answer = before
        assert answer is not None
        delta = len(plan.change.text) - (plan.change.end - plan.change.start)
        if block is not None and block.start >= answer.end:
            block = Span(block.start + delta, block.end + delta)
        answer = Span(answer.start, answer.end + delta)
        if plan.block:
            answer = Span(answer.start, answer.end - len(plan.block))
            block = Span(answer.end, answer.end + len(plan.block))
            self.nonce = plan.nonce
        expected = plan.change.apply(plan.before)
        typed = minimal_change(expected, text)
        self.block = block and block.after(typed)
        self.answer = answer.after(typed)
        self.rendered = plan.rendered
        self.text = text
        self._mend(expected[answer.start : answer.end], answer.start)

    @property
    def followed(self) -> bool:
        """A prompt block stands behind the answer."""
        return self.block is not None and self.answer is not None and self.block.start >= self.answer.end

    def finish(self) -> None:
        """The turn's answer is written for good."""
        self.answer = None
        self.rendered = ""

    def _mend(self, written: str, near: int) -> None:
        """Find again what was changed on both sides at once: where it stood, or next to that."""
        assert self.answer is not None
        start, end = self.answer
        if self.text[start:end] != written:
            places = (self.text.rfind(written, 0, near + len(written)), self.text.find(written, near))
            at = min((place for place in places if place >= 0), key=lambda p: abs(p - near), default=-1)
            if at >= 0:
                self.answer = Span(at, at + len(written))
        if self.block is None or marker(self.nonce) not in self.text[self.block.start : self.block.end]:
            self._find_block()

    def _settled(self, before: str, change: Change) -> Change:
        """The same change, as small as can be; an insertion stands outside the answer where it can as well
        be read so: editors differ in where they report a new line beside another one."""
        inner = minimal_change(before[change.start : change.end], change.text)
        change = Change(change.start + inner.start, change.start + inner.end, inner.text)
        if self.answer is None or change.start != change.end:
            return change
        start, end = self.answer
        right = _slid_right(before, change, end)
        if right.start >= end and (start < end or change.text.startswith("\n")):
            return right
        left = _slid_left(before, change, start)
        return left if left.start <= start else change

    def _find_block(self) -> None:
        at = self.text.rfind(marker(self.nonce))
        if at < 0:
            self.block = None
            return
        end = self.text.find("\n", at)
        heading = self.text.rfind(YOU, 0, at)
        between = self.text[heading + len(YOU) : at].strip() if heading >= 0 else "?"
        self.block = Span(at if between else heading, len(self.text) if end < 0 else end + 1)


def _slid_right(before: str, change: Change, limit: int) -> Change:
    """The insertion as far right as it leads to the same text, at most up to `limit`."""
    at, text = change.start, change.text
    while text and at < min(limit, len(before)) and before[at] == text[0]:
        text = text[1:] + text[0]
        at += 1
    return Change(at, at, text)


def _slid_left(before: str, change: Change, limit: int) -> Change:
    """The insertion as far left as it leads to the same text, at most down to `limit`."""
    at, text = change.start, change.text
    while text and at > limit and before[at - 1] == text[-1]:
        text = text[-1] + text[:-1]
        at -= 1
    return Change(at, at, text)


def _gap(text: str) -> str:
    """The line ends that make a blank line behind `text`."""
    if not text or text.endswith("\n\n"):
        return ""
    return "\n" if text.endswith("\n") else "\n\n"
