"""Reading a configuration file: JSON, with the comments and trailing commas that people write into it.

`decode` gives plain values. Of two equal keys in one object the first counts and the second is reported.
Every error names its line and column in the text as it stands in the file (both start at 1).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Never

_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"?|//[^\n]*|/\*.*?(?:\*/|\Z)|[,\]}]', re.DOTALL)


class JsonError(ValueError):
    """The text is no JSON; the message names line and column."""


@dataclass(slots=True)
class Decoded:
    """`repeated` holds the keys that stood twice in one object, in the order they were met."""

    value: Any
    repeated: list[str] = field(default_factory=list)


def decode(data: bytes) -> Decoded:
    """Decode UTF-8 JSON, with or without a byte order mark. Raises JsonError."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        raise JsonError(f"line {line}, column {column}: is not UTF-8 text") from None
    return _parse(text)


def _parse(text: str) -> Decoded:
    repeated: list[str] = []

    def first_counts(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, value in pairs:
            if key in made:
                repeated.append(key)
            else:
                made[key] = value
        return made

    def refuse(word: str) -> Never:
        raise JsonError(f"{word} is no JSON value")

    try:
        value = json.loads(_plain(text), object_pairs_hook=first_counts, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise JsonError(f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise JsonError("is nested too deeply") from None
    except JsonError:
        raise
    except ValueError as error:  # a number with more digits than Python converts
        raise JsonError(str(error)) from None
    return Decoded(value, repeated)


def _plain(text: str) -> str:
    """The text with comments and trailing commas blanked out, every other character in its place."""
    out: list[str] = []
    done = 0
    comma: int | None = None
    last = ""
    gap_start = 0
    for token in _TOKEN.finditer(text):
        start, found = token.start(), token.group()
        if gap := text[gap_start:start].strip():
            last, comma = gap[-1], None
        gap_start = token.end()
        if found.startswith(("//", "/*")):
            out += [text[done:start], re.sub(r"[^\n]", " ", found)]
            done = token.end()
            continue
        if found == ",":
            comma = len(out) + 1 if last not in ("", "[", "{", ",", ":") else None
            out += [text[done:start], ","]
            done = token.end()
        else:
            if found in "]}" and comma is not None:
                out[comma] = " "
            comma = None
        last = found[-1]
    return "".join([*out, text[done:]])
