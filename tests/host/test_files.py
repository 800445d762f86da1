"""fs/read and fs/write: unsaved text first, conflicts refused, outside only with a yes, bytes kept."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from pytest import MonkeyPatch

from acp_bridge.agents.events import ReadFile, WriteFile
from acp_bridge.host.errors import HostError
from acp_bridge.host.ports import OpenText

from .puppet import Reply, Stage, stage


class Documents:
    """Open documents of a pretended editor; `disobey` is an editor that does not do the edit."""

    def __init__(self, saves: bool = True) -> None:
        self.open: dict[str, OpenText] = {}
        self.saves = saves
        self.disobey = False
        self.log: list[tuple[str, str]] = []

    def get(self, path: str) -> OpenText | None:
        return self.open.get(path)

    async def replace(self, path: str, expected: str, new_text: str) -> None:
        if self.disobey or self.open[path].text != expected:
            raise HostError("stale", f"{path} was not changed", "try again")
        self.open[path] = OpenText(new_text, self.open[path].version + 1, True)
        self.log.append(("replace", new_text))

    async def save(self, path: str) -> bool:
        self.log.append(("save", path))
        return self.saves


async def ask(at: Stage, make: Callable[[Reply], Any]) -> tuple[str, Any]:
    reply = Reply()
    at.puppet.say(make(reply))
    await at.until(lambda: reply.answers)
    return reply.answers[0]


def reads(path: Path | str, **more: Any) -> Callable[[Reply], ReadFile]:
    return lambda reply: ReadFile(id="1", reply=reply, path=str(path), **more)


def writes(path: Path | str, content: str) -> Callable[[Reply], WriteFile]:
    return lambda reply: WriteFile(id="1", reply=reply, path=str(path), content=content)


async def test_a_read_sees_the_unsaved_text_and_cuts_lines(monkeypatch: MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("disk\n")
    documents = Documents()
    documents.open[str(path)] = OpenText("1\r\n2\r\n3", 1, True)
    async with stage(monkeypatch, str(tmp_path)) as at:
        await at.open(documents=documents)
        assert await ask(at, reads(path)) == ("result", "1\r\n2\r\n3")
        assert await ask(at, reads(path, line=2, limit=1)) == ("result", "2\r\n")
        assert await ask(at, reads(path, line=0, limit=1)) == ("result", "1\r\n")
        assert await ask(at, reads(path, line=2)) == ("result", "2\r\n3")
        assert await ask(at, reads(path, limit=0)) == ("result", "")
        assert await ask(at, reads(path, line=9)) == ("result", "")


async def test_what_cannot_be_read_says_why(monkeypatch: MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"a\0b")
    async with stage(monkeypatch, str(tmp_path)) as at:
        await at.open()
        assert await ask(at, reads(tmp_path / "none")) == ("error", -32002)
        assert await ask(at, reads(tmp_path)) == ("error", -32603)
        assert await ask(at, reads(tmp_path / "binary")) == ("error", -32603)


async def test_a_write_to_an_open_document_is_an_edit_then_a_save(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"one\r\n")
    documents = Documents()
    documents.open[str(path)] = OpenText("one\r\n", 1, False)
    async with stage(monkeypatch, str(tmp_path)) as at:
        await at.open(documents=documents)
        assert await ask(at, writes(path, "two\n")) == ("result", None)
        assert documents.log == [("replace", "two\r\n"), ("save", str(path))]
        assert path.read_bytes() == b"one\r\n"


async def test_a_dirty_document_is_only_overwritten_by_an_agent_that_has_read_it_as_it_is(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    documents = Documents()
    documents.open[str(path)] = OpenText("typing", 1, True)
    async with stage(monkeypatch, str(tmp_path)) as at:
        await at.open(documents=documents)
        assert (await ask(at, writes(path, "agent")))[0] == "error"
        assert documents.log == []
        await ask(at, reads(path))
        documents.open[str(path)] = OpenText("typing on", 2, True)
        assert (await ask(at, writes(path, "agent")))[0] == "error"
        await ask(at, reads(path))
        assert await ask(at, writes(path, "agent")) == ("result", None)
        assert documents.open[str(path)].text == "agent"


async def test_an_editor_that_does_not_do_the_edit_is_an_error(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "a"
    documents = Documents()
    documents.disobey = True
    documents.open[str(path)] = OpenText("x", 1, False)
    async with stage(monkeypatch, str(tmp_path)) as at:
        await at.open(documents=documents)
        assert (await ask(at, writes(path, "y")))[0] == "error"
        assert ("save", str(path)) not in documents.log


async def test_an_agent_that_does_not_take_its_answers_gets_no_more_of_them(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "a").write_text("x")
    async with stage(monkeypatch, str(tmp_path)) as at:
        await at.open()
        at.puppet.reads = anyio.Event()
        reply = Reply()
        at.puppet.say(reads(tmp_path / "a")(reply))
        await at.settle()
        assert reply.answers == []
        at.puppet.reads.set()
        await at.until(lambda: reply.answers)
        assert reply.answers == [("result", "x")]


async def test_requests_are_done_in_the_order_in_which_they_came(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "a"
    async with stage(monkeypatch, str(tmp_path)) as at:
        await at.open()
        first, second = Reply(), Reply()
        at.puppet.say(writes(path, "one")(first), reads(path)(second))
        await at.until(lambda: second.answers)
        assert second.answers == [("result", "one")]


@pytest.mark.parametrize("where", ["outside", "dots", "link", "link_to_folder"])
@pytest.mark.parametrize("yes", [True, False])
async def test_outside_the_roots_only_with_an_explicit_yes(
    monkeypatch: MonkeyPatch, tmp_path: Path, where: str, yes: bool
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    target = tmp_path / "secret"
    target.write_text("before")
    (root / "link").symlink_to(target)
    (root / "folder").symlink_to(tmp_path)
    path = {
        "outside": target,
        "dots": root / ".." / "secret",
        "link": root / "link",
        "link_to_folder": root / "folder" / "secret",
    }[where]
    async with stage(monkeypatch, str(root)) as at:
        await at.open()
        reply = Reply()
        at.puppet.say(writes(path, "after")(reply))
        await at.until(lambda: at.ui.of("requested"))
        (request,) = at.ui.of("requested")
        assert request["outsideRoots"] is True
        assert request["action"]["details"]["newText"] == "after"
        option = next(o for o in request["options"] if o["kind"] == ("allow_once" if yes else "reject_once"))
        at.host.answer_permission(request["requestId"], option["optionId"])
        await at.until(lambda: reply.answers)
        assert reply.answers[0] == (("result", None) if yes else ("error", -32602))
        assert target.read_text() == ("after" if yes else "before")


async def test_a_question_about_an_outside_path_dies_with_the_turn(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    async with stage(monkeypatch, str(root)) as at:
        session = await at.open()
        session.prompt("go")
        await at.until(lambda: at.puppet.asked("prompt"))
        reply = Reply()
        at.puppet.say(reads(tmp_path / "x")(reply))
        await at.until(lambda: at.ui.of("requested"))
        session.cancel()
        await at.until(lambda: reply.answers)
        assert reply.answers == [("error", -32602)]


BYTES = {
    "crlf, no final newline": b"a\r\nb",
    "utf-8 with mark": b"\xef\xbb\xbfa\n",
    "utf-16 le": "\ufeffa\r\né\n".encode("utf-16-le"),
    "utf-16 be": "\ufeffa\n".encode("utf-16-be"),
    "utf-32": "\ufeffa\n".encode("utf-32-le"),
    "latin-1": b"caf\xe9\r\n",
    "mixed ends": b"a\r\nb\nc\r",
    "lone carriage returns": b"a\rb\r",
    "empty": b"",
}


@pytest.mark.parametrize("data", BYTES.values(), ids=BYTES.keys())
async def test_reading_and_writing_back_keeps_every_byte(
    monkeypatch: MonkeyPatch, tmp_path: Path, data: bytes
) -> None:
    path = tmp_path / "a"
    path.write_bytes(data)
    path.chmod(0o640)
    async with stage(monkeypatch, str(tmp_path)) as at:
        await at.open()
        kind, text = await ask(at, reads(path))
        assert kind == "result"
        assert await ask(at, writes(path, text)) == ("result", None)
        assert path.read_bytes() == data
        assert path.stat().st_mode & 0o777 == 0o640


async def test_new_files_get_their_folders_and_unix_ends_become_the_files_own(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "dos").write_bytes(b"a\r\nb\r\n")
    async with stage(monkeypatch, str(tmp_path)) as at:
        await at.open()
        assert await ask(at, writes(tmp_path / "new" / "er" / "a", "x\n")) == ("result", None)
        assert (tmp_path / "new" / "er" / "a").read_bytes() == b"x\n"
        await ask(at, writes(tmp_path / "dos", "a\nc\n"))
        assert (tmp_path / "dos").read_bytes() == b"a\r\nc\r\n"


async def test_a_part_of_a_dirty_document_is_no_sight_of_it(monkeypatch: MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "a"
    documents = Documents()
    documents.open[str(path)] = OpenText("one\ntwo\n", 1, True)
    async with stage(monkeypatch, str(tmp_path)) as at:
        await at.open(documents=documents)
        await ask(at, reads(path, limit=1))
        assert (await ask(at, writes(path, "agent")))[0] == "error"
        await ask(at, reads(path, limit=5))
        assert await ask(at, writes(path, "agent")) == ("result", None)


async def test_what_the_agent_wrote_itself_it_has_seen(monkeypatch: MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "a"
    documents = Documents()
    documents.open[str(path)] = OpenText("a\r\n", 1, False)
    async with stage(monkeypatch, str(tmp_path)) as at:
        await at.open(documents=documents)
        for text in ("b\n", "c\n", "c\n"):
            assert await ask(at, writes(path, text)) == ("result", None)
        assert documents.open[str(path)].dirty
        assert [word for word, _ in documents.log] == ["replace", "save", "replace", "save", "save"]


@pytest.mark.parametrize("path", ["relative", "/a\0b", "/\ud800", ""])
async def test_what_names_no_place_is_refused_by_name(
    monkeypatch: MonkeyPatch, tmp_path: Path, path: str
) -> None:
    monkeypatch.chdir(tmp_path)
    async with stage(monkeypatch, str(tmp_path)) as at:
        await at.open()
        assert await ask(at, reads(path)) == ("error", -32602)
        assert await ask(at, writes(path, "x")) == ("error", -32602)
        assert os.listdir(tmp_path) == []
        assert at.ui.of("requested") == []


@pytest.mark.parametrize("kind", ["fifo", "device", "long", "file as folder", "huge"])
async def test_what_is_no_regular_file_is_neither_waited_for_nor_written(
    monkeypatch: MonkeyPatch, tmp_path: Path, kind: str
) -> None:
    monkeypatch.setattr("acp_bridge.host.disk.READ_LIMIT", 10)
    path = tmp_path / ("n" * 300 if kind == "long" else "a")
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "device":
        path = Path("/dev/zero")
    elif kind == "file as folder":
        path.write_text("x")
        path = path / "b"
    elif kind == "huge":
        path.write_text("x" * 11)
    async with stage(monkeypatch, str(tmp_path)) as at:
        await at.open(additional_directories=["/dev"])
        with anyio.fail_after(30):
            assert await ask(at, reads(path)) == ("error", -32603)
            assert await ask(at, writes(path, "x")) == ("error", -32603)
        assert await ask(at, writes(tmp_path / "c", "x")) == ("result", None)
    assert kind != "huge" or path.read_text() == "x" * 11


async def test_the_question_and_the_access_mean_the_same_place(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    root, first, second = tmp_path / "root", tmp_path / "first", tmp_path / "second"
    root.mkdir()
    first.write_text("first")
    second.write_text("second")
    (root / "link").symlink_to(first)
    async with stage(monkeypatch, str(root)) as at:
        await at.open()
        reply = Reply()
        at.puppet.say(reads(root / "link")(reply))
        await at.until(lambda: at.ui.of("requested"))
        (request,) = at.ui.of("requested")
        assert f"(leads to {first})" in request["title"]
        (root / "link").unlink()
        (root / "link").symlink_to(second)
        at.host.answer_permission(request["requestId"], request["options"][0]["optionId"])
        await at.until(lambda: reply.answers)
        assert reply.answers == [("result", "first")]


async def test_another_name_of_a_file_keeps_the_old_text_and_a_link_stays_a_link(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "a").write_text("old")
    os.link(tmp_path / "a", tmp_path / "b")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    async with stage(monkeypatch, str(tmp_path)) as at:
        await at.open()
        assert await ask(at, writes(tmp_path / "link", "new")) == ("result", None)
        assert [(tmp_path / name).read_text() for name in ("a", "b", "link")] == ["new", "old", "new"]
        assert (tmp_path / "link").is_symlink()


async def test_additional_folders_and_linked_ones_are_inside(
    monkeypatch: MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "more").mkdir()
    (tmp_path / "root").symlink_to(tmp_path / "real")
    async with stage(monkeypatch, str(tmp_path / "root")) as at:
        await at.open(additional_directories=[str(tmp_path / "more")])
        for name in ("root", "real", "more"):
            assert await ask(at, writes(tmp_path / name / "a", "x")) == ("result", None)
        assert at.ui.of("requested") == []
        reply = Reply()
        at.puppet.say(reads(tmp_path / "real-not")(reply))
        await at.until(lambda: at.ui.of("requested"))


@pytest.mark.parametrize("how", ["withdrawn", "closed", "died"])
async def test_a_question_goes_with_whoever_asked(monkeypatch: MonkeyPatch, tmp_path: Path, how: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    async with stage(monkeypatch, str(root)) as at:
        session = await at.open()
        reply, queued = Reply(), Reply()
        at.puppet.say(writes(tmp_path / "x", "x")(reply), writes(tmp_path / "y", "y")(queued))
        await at.until(lambda: at.ui.of("requested"))
        if how == "withdrawn":
            for asked in (reply, queued):
                assert asked.cancel is not None
                asked.cancel()
        elif how == "closed":
            await at.host.close_session(session.id)
        else:
            at.puppet.die(code=1)
        await at.until(lambda: reply.answers and queued.answers)
        await at.settle()
        assert {answer[0][0] for answer in (reply.answers, queued.answers)} == {"error"}
        assert len(at.ui.of("requested")) == len(at.ui.of("resolved")) == 1
        assert at.host.permissions.of(session) == []
    assert sorted(os.listdir(tmp_path)) == ["root"]


async def test_a_mark_is_written_once(monkeypatch: MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"\xef\xbb\xbfa")
    async with stage(monkeypatch, str(tmp_path)) as at:
        await at.open()
        assert await ask(at, writes(path, "\ufeffb")) == ("result", None)
        assert path.read_bytes() == b"\xef\xbb\xbfb"
