"""Two streams that may show on one terminal: the agent's words on `out`, the rest on a Rich console.

Guarantees: what goes to the console starts on a fresh line; nothing is added to `out` that would change what
a program reads there, but the newline that ends a message. Text is never read as Rich markup.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from rich.console import Console
from rich.text import Text

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def printable(text: str) -> str:
    """`text` with everything a terminal would obey, but tab and newline, made visible."""
    return _CONTROLS.sub(lambda match: f"<U+{ord(match[0]):04X}>", text.replace("\r\n", "\n"))


class Paper:
    """`out_is_terminal`: escape sequences in the agent's words are made visible. `shared`: both streams are
    the same terminal, pipe or file."""

    def __init__(
        self, out: Callable[[str], None], err: Console, *, out_is_terminal: bool, shared: bool
    ) -> None:
        self._out = out
        self._err = err
        self._out_is_terminal = out_is_terminal
        self._shared = shared
        self._out_mid_line = False
        self._err_mid_line = False
        self._blank = True

    def words(self, text: str) -> None:
        """The agent's words, as they come."""
        text = printable(text) if self._out_is_terminal else text
        if text:
            self._out(text)
            self._out_mid_line = not text.endswith("\n")
            self._blank = text.endswith("\n\n")

    def aside(self, text: str, style: str) -> None:
        """Text that grows on the console without ending its line."""
        self._err.print(Text(printable(text), style), end="", soft_wrap=True, highlight=False)
        self._err_mid_line = not text.endswith("\n")
        self._blank = False

    def line(self, *parts: str | tuple[str, str]) -> None:
        """One line on the console, of strings and (string, style) pairs."""
        self.end_line()
        self._err.print(Text.assemble(*parts), soft_wrap=True, highlight=False)
        self._blank = False

    def lines(self, text: str, style: str = "") -> None:
        """Some lines, indented."""
        for line in printable(text).rstrip("\n").split("\n") if text.strip() else []:
            self.line((f"    {line}", style))

    def ask(self, text: str) -> None:
        """A line on the console that is left open for an answer, until `answered`."""
        self.end_line()
        self._err.print(Text(text, "bold"), end="", soft_wrap=True, highlight=False)
        self._err_mid_line = True

    def answered(self) -> None:
        """The person pressed Enter: the terminal has ended the line."""
        self._err_mid_line = False

    def block(self) -> None:
        """Something new begins: a blank line before it, where a person sees both streams."""
        self.end_line()
        if self._shared and not self._blank:
            self._err.print()
            self._blank = True

    def end_line(self) -> None:
        """End the line begun on the console, and on a shared terminal the one begun on `out`."""
        if self._err_mid_line:
            self._err.print()
            self._err_mid_line = False
        if self._shared:
            self.end_words()

    def end_words(self) -> None:
        """End the line begun on `out`."""
        if self._out_mid_line:
            self.words("\n")
