"""The open documents of the test editor: opens, applies `workspace/applyEdit`, reports every change."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

Json = dict[str, Any]


class EditorDocuments:
    """Texts by URI. Positions are UTF-16, as agreed by the raw client."""

    def __init__(self, notify: Callable[[str, Any], None]) -> None:
        self._notify = notify
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.edits: list[Json] = []

    def open(self, path: Path | str, text: str | None = None, language: str = "plaintext") -> str:
        """didOpen with `text` (the file's own when None); returns the URI."""
        uri = Path(path).as_uri()
        self.texts[uri] = Path(path).read_text("utf-8") if text is None else text
        self.versions[uri] = 1
        document = {"uri": uri, "languageId": language, "version": 1, "text": self.texts[uri]}
        self._notify("textDocument/didOpen", {"textDocument": document})
        return uri

    def type(self, uri: str, text: str) -> None:
        """Replace the whole text as an unsaved user edit."""
        self._change(uri, text)

    def save(self, uri: str) -> None:
        Path(_path(uri)).write_bytes(self.texts[uri].encode())
        self._notify("textDocument/didSave", {"textDocument": {"uri": uri}, "text": self.texts[uri]})

    def close(self, uri: str) -> None:
        del self.texts[uri]
        self._notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def apply(self, params: Json) -> Json:
        """Serve `workspace/applyEdit`: refuse a wrong version, apply, report by didChange."""
        edit = params["edit"]
        self.edits.append(edit)
        changes = edit.get("documentChanges") or [
            {"textDocument": {"uri": uri, "version": None}, "edits": edits}
            for uri, edits in (edit.get("changes") or {}).items()
        ]
        for change in changes:
            uri, version = change["textDocument"]["uri"], change["textDocument"].get("version")
            if uri not in self.texts:
                return {"applied": False, "failureReason": f"{uri} is not open"}
            if version is not None and version != self.versions[uri]:
                return {"applied": False, "failureReason": f"version {version}, not {self.versions[uri]}"}
        for change in changes:
            uri = change["textDocument"]["uri"]
            self._change(uri, apply_edits(self.texts[uri], change["edits"]))
        return {"applied": True}

    def _change(self, uri: str, text: str) -> None:
        self.texts[uri] = text
        self.versions[uri] += 1
        document = {"uri": uri, "version": self.versions[uri]}
        self._notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})


def apply_edits(text: str, edits: list[Json]) -> str:
    """Apply LSP text edits (UTF-16 positions, all relative to the text before)."""
    spans = [
        (_offset(text, e["range"]["start"]), _offset(text, e["range"]["end"]), e["newText"]) for e in edits
    ]
    for start, end, new in sorted(spans, key=lambda span: span[:2], reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _offset(text: str, position: Json) -> int:
    lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n|\Z)", text)
    before = sum(len(line) for line in lines[: position["line"]])
    line = lines[position["line"]] if position["line"] < len(lines) else ""
    units = line.rstrip("\r\n").encode("utf-16-le")[: 2 * position["character"]]
    return before + len(units.decode("utf-16-le"))


def _path(uri: str) -> str:
    return unquote(urlsplit(uri).path)
