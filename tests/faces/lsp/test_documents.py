"""Open documents, and edits asked of editors that do them, refuse them, or only say that they did."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acp_bridge.faces.lsp import edits as edits_module
from acp_bridge.faces.lsp.documents import Malformed, OpenDocuments
from acp_bridge.faces.lsp.edits import Edits
from acp_bridge.faces.lsp.initialize import Features
from acp_bridge.host.errors import HostError
from acp_bridge.jsonrpc.messages import RpcError
from support.editor_documents import apply_edits

Json = dict[str, Any]


class FakeEditor:
    """Holds one text, answers workspace/applyEdit as `behave` says, reports changes to `documents`."""

    def __init__(self, documents: OpenDocuments, path: Path, text: str) -> None:
        self.documents = documents
        self.uri = path.as_uri()
        self.text = text
        self.version = 1
        self.asked: list[Json] = []
        self.behave: Callable[[Json], Any] = self.obey
        documents.notified(
            "textDocument/didOpen",
            {"textDocument": {"uri": self.uri, "languageId": "x", "version": 1, "text": text}},
        )

    async def call(self, method: str, params: Json) -> Any:
        self.asked.append({"method": method, **params})
        await asyncio.sleep(0)
        answer = self.behave(params)
        return await answer if asyncio.iscoroutine(answer) else answer

    def type(self, text: str) -> None:
        """The user (or an edit) makes the text `text`; reported as one whole-text change."""
        self.text = text
        self.version += 1
        identifier = {"uri": self.uri, "version": self.version}
        change = {"textDocument": identifier, "contentChanges": [{"text": text}]}
        self.documents.notified("textDocument/didChange", change)

    def result(self, params: Json) -> str:
        edit = params["edit"]
        if "changes" in edit:
            return apply_edits(self.text, edit["changes"][self.uri])
        return apply_edits(self.text, edit["documentChanges"][0]["edits"])

    def obey(self, params: Json) -> Json:
        self.type(self.result(params))
        return {"applied": True}


@pytest.fixture
def documents() -> OpenDocuments:
    return OpenDocuments("utf-16")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "a file.txt"
    file.write_text("one\ntwo\nthree\n", "utf-8")
    return file


def opened(documents: OpenDocuments, path: Path, text: str, **features: bool) -> FakeEditor:
    editor = FakeEditor(documents, path, text)
    known = Features(**{"apply_edit": True, "document_changes": True, **features})  # type: ignore[arg-type]
    documents.edits = Edits(editor, known)
    return editor


def test_unsaved_text_is_seen_and_is_dirty(documents: OpenDocuments, path: Path) -> None:
    editor = opened(documents, path, path.read_text())
    seen = documents.get(str(path))
    assert seen is not None and (seen.text, seen.version, seen.dirty) == ("one\ntwo\nthree\n", 1, False)
    editor.type("changed\n")
    seen = documents.get(str(path))
    assert seen is not None and (seen.text, seen.version, seen.dirty) == ("changed\n", 2, True)


def test_a_buffer_that_differs_from_the_disk_when_it_is_opened_is_dirty(
    documents: OpenDocuments, path: Path
) -> None:
    opened(documents, path, "restored by the editor, never saved\n")
    seen = documents.get(str(path))
    assert seen is not None and seen.dirty


def test_saving_makes_clean_what_was_saved(documents: OpenDocuments, path: Path) -> None:
    editor = opened(documents, path, path.read_text())
    editor.type("changed\n")
    documents.notified("textDocument/didSave", {"textDocument": {"uri": editor.uri}})
    seen = documents.get(str(path))
    assert seen is not None and not seen.dirty
    editor.type("and again\n")
    seen = documents.get(str(path))
    assert seen is not None and seen.dirty


def test_a_buffer_reloaded_from_the_disk_is_clean(documents: OpenDocuments, path: Path) -> None:
    editor = opened(documents, path, path.read_text())
    path.write_text("written by another program\n")
    editor.type("written by another program\n")
    seen = documents.get(str(path))
    assert seen is not None and not seen.dirty


def test_line_ends_and_a_byte_order_mark_on_the_disk_make_nothing_dirty(
    documents: OpenDocuments, path: Path
) -> None:
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    opened(documents, path, "one\ntwo\n")
    seen = documents.get(str(path))
    assert seen is not None and not seen.dirty


def test_a_file_that_is_no_utf8_is_taken_as_the_editor_shows_it(documents: OpenDocuments, path: Path) -> None:
    path.write_bytes("caf\xe9\n".encode("latin-1"))
    opened(documents, path, "caf\xe9\n")
    seen = documents.get(str(path))
    assert seen is not None and not seen.dirty


def test_a_document_is_found_through_a_link_and_however_its_uri_is_spelt(
    documents: OpenDocuments, path: Path, tmp_path: Path
) -> None:
    editor = opened(documents, path, "text")
    link = tmp_path / "link"
    link.symlink_to(path)
    assert documents.get(str(link)) is not None
    spelt = editor.uri.replace("file.txt", "%66ile.txt")
    assert documents.find(spelt) is documents.find(editor.uri) is not None


def test_a_closed_document_is_not_open(documents: OpenDocuments, path: Path) -> None:
    editor = opened(documents, path, "text")
    documents.notified("textDocument/didClose", {"textDocument": {"uri": editor.uri}})
    assert documents.get(str(path)) is None


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("textDocument/didChange", None),
        ("textDocument/didChange", {"textDocument": {"uri": "file:///nobody"}, "contentChanges": []}),
        ("textDocument/didChange", {"textDocument": {}, "contentChanges": []}),
        ("textDocument/didOpen", {"textDocument": {"uri": 3, "text": ""}}),
        ("textDocument/didOpen", {"textDocument": {"uri": "file:///a", "text": "", "version": "1"}}),
        ("textDocument/didClose", []),
        ("textDocument/didSave", {"textDocument": None}),
    ],
)
def test_a_notification_that_makes_no_sense_changes_nothing(
    documents: OpenDocuments, path: Path, method: str, params: Any
) -> None:
    opened(documents, path, "text")
    with pytest.raises(Malformed, match=method):
        documents.notified(method, params)
    seen = documents.get(str(path))
    assert seen is not None and seen.text == "text"


def test_half_of_a_malformed_change_is_not_applied(documents: OpenDocuments, path: Path) -> None:
    editor = opened(documents, path, "text")
    identifier = {"uri": editor.uri, "version": 2}
    changes = [{"text": "new"}, {"range": None}]
    with pytest.raises(Malformed):
        documents.notified("textDocument/didChange", {"textDocument": identifier, "contentChanges": changes})
    seen = documents.get(str(path))
    assert seen is not None and (seen.text, seen.version) == ("text", 1)


async def test_an_edit_is_the_smallest_one_and_names_the_version(
    documents: OpenDocuments, path: Path
) -> None:
    editor = opened(documents, path, "one\ntwo\nthree\n")
    editor.type("one\n2\nthree\n")
    await documents.replace(str(path), "one\n2\nthree\n", "one\n2 and more\nthree\n")
    assert editor.text == "one\n2 and more\nthree\n"
    [asked] = editor.asked
    [change] = asked["edit"]["documentChanges"]
    assert change["textDocument"] == {"uri": editor.uri, "version": 2}
    where = {"line": 1, "character": 1}
    assert change["edits"] == [{"range": {"start": where, "end": where}, "newText": " and more"}]


async def test_positions_are_counted_in_the_encoding_that_was_agreed(path: Path) -> None:
    documents = OpenDocuments("utf-8")
    editor = FakeEditor(documents, path, "é😀 one\n")
    documents.edits = Edits(editor, Features(apply_edit=True, document_changes=True, encoding="utf-8"))
    editor.behave = lambda _: editor.type("é😀 two\n") or {"applied": True}
    await documents.replace(str(path), "é😀 one\n", "é😀 two\n")
    [change] = editor.asked[0]["edit"]["documentChanges"]
    assert [edit["range"]["start"]["character"] for edit in change["edits"]] == [7]


async def test_an_editor_without_versioned_edits_gets_plain_ones(
    documents: OpenDocuments, path: Path
) -> None:
    editor = opened(documents, path, "one\n", document_changes=False)
    await documents.replace(str(path), "one\n", "two\n")
    assert editor.text == "two\n"
    assert list(editor.asked[0]["edit"]) == ["changes"]


async def test_nothing_is_asked_where_the_text_is_not_the_expected_one(
    documents: OpenDocuments, path: Path
) -> None:
    editor = opened(documents, path, "one\n")
    with pytest.raises(HostError) as raised:
        await documents.replace(str(path), "something else\n", "two\n")
    assert raised.value.kind == "stale" and str(path) in raised.value.message
    assert editor.asked == []


async def test_an_edit_of_a_document_that_is_not_open_is_stale(documents: OpenDocuments, path: Path) -> None:
    with pytest.raises(HostError) as raised:
        await documents.replace(str(path), "one\n", "two\n")
    assert raised.value.kind == "stale"


async def test_a_refused_edit_is_stale_and_says_why(documents: OpenDocuments, path: Path) -> None:
    editor = opened(documents, path, "one\n")
    editor.behave = lambda _: {"applied": False, "failureReason": "the user said no"}
    with pytest.raises(HostError, match="the user said no") as raised:
        await documents.replace(str(path), "one\n", "two\n")
    assert raised.value.kind == "stale"


async def test_an_error_answer_is_stale(documents: OpenDocuments, path: Path) -> None:
    editor = opened(documents, path, "one\n")

    def fail(_: Json) -> Json:
        raise RpcError(-32603, "broken editor")

    editor.behave = fail
    with pytest.raises(HostError, match="broken editor"):
        await documents.replace(str(path), "one\n", "two\n")


async def test_an_edit_that_was_skipped_though_answered_applied_is_stale(
    documents: OpenDocuments, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edits_module, "SETTLE_SECONDS", 0.2)
    editor = opened(documents, path, "one\n")
    editor.behave = lambda _: {"applied": True}
    with pytest.raises(HostError) as raised:
        await documents.replace(str(path), "one\n", "two\n")
    assert raised.value.kind == "stale"


async def test_an_edit_skipped_because_the_user_typed_is_stale_at_once(
    documents: OpenDocuments, path: Path
) -> None:
    editor = opened(documents, path, "one\ntwo\n")

    async def skip(_: Json) -> Json:
        asyncio.get_running_loop().call_soon(editor.type, "one\ntwo, typed\n")
        return {"applied": True}

    editor.behave = skip
    with pytest.raises(HostError) as raised:
        await asyncio.wait_for(documents.replace(str(path), "one\ntwo\n", "ONE\ntwo\n"), 4)
    assert raised.value.kind == "stale"
    assert editor.text == "one\ntwo, typed\n"


async def test_an_edit_reported_together_with_typing_counts_as_done(
    documents: OpenDocuments, path: Path
) -> None:
    editor = opened(documents, path, "one\ntwo\nthree\n")

    def merge(params: Json) -> Json:
        editor.type(editor.result(params) + "typed behind it\n")
        return {"applied": True}

    editor.behave = merge
    await documents.replace(str(path), "one\ntwo\nthree\n", "one\n2\nthree\n")
    assert editor.text == "one\n2\nthree\ntyped behind it\n"


async def test_an_edit_reported_together_with_typing_right_behind_it_counts_as_done(
    documents: OpenDocuments, path: Path
) -> None:
    editor = opened(documents, path, "one\n\nlast\n")

    def merge(params: Json) -> Json:
        editor.type(editor.result(params).replace("last", "typed last, typed") + "typed\n")
        return {"applied": True}

    editor.behave = merge
    await documents.replace(str(path), "one\n\nlast\n", "one\ntwo\n\nlast\n")
    assert editor.text == "one\ntwo\n\ntyped last, typed\ntyped\n"


async def test_an_edit_seen_before_it_is_answered_is_done(documents: OpenDocuments, path: Path) -> None:
    editor = opened(documents, path, "one\n")
    editor.behave = lambda params: editor.obey(params) and None
    await documents.replace(str(path), "one\n", "two\n")
    assert editor.text == "two\n"


async def test_an_editor_that_keeps_crlf_and_its_final_newline_has_done_the_edit(
    documents: OpenDocuments, path: Path
) -> None:
    editor = opened(documents, path, "one\r\n")

    def keep(params: Json) -> Json:
        editor.type(editor.result(params).replace("\r\n", "\n").replace("\n", "\r\n").rstrip() + "\r\n")
        return {"applied": True}

    editor.behave = keep
    await documents.replace(str(path), "one\r\n", "one\ntwo")
    assert editor.text == "one\r\ntwo\r\n"


async def test_an_editor_that_applies_no_edits_says_so(documents: OpenDocuments, path: Path) -> None:
    editor = opened(documents, path, "one\n", apply_edit=False)
    with pytest.raises(HostError) as raised:
        await documents.replace(str(path), "one\n", "two\n")
    assert raised.value.kind == "unsupported"
    assert editor.asked == []


async def test_saving_is_asked_only_of_an_editor_that_serves_it(documents: OpenDocuments, path: Path) -> None:
    editor = opened(documents, path, "one\n")
    assert not await documents.save(str(path))
    assert editor.asked == []
    documents.edits = Edits(editor, Features(acp={"ui": {"save": True}}))
    editor.behave = lambda _: {"ok": True}
    assert await documents.save(str(path))
    editor.behave = lambda _: {"ok": False, "reason": "read-only"}
    assert not await documents.save(str(path))
    assert [asked["method"] for asked in editor.asked] == ["acp/document/save"] * 2
