"""A whole turn with the demo agent, through pytest-lsp: as an editor without a plugin, and as a rich one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pytest_lsp import ClientServerConfig

from support.lsp_client import rich
from support.pytest_lsp_editor import COMMAND, EditorClient
from support.thread_model import ThreadModel

EDITORS = ["neovim@v0.11.0", "emacs", "visual_studio_code"]
MARKER = "<!-- acp-bridge prompt"


@pytest.fixture
async def editor(environ: dict[str, str]) -> AsyncIterator[EditorClient]:
    config = ClientServerConfig(server_command=COMMAND, client_factory=EditorClient, server_env=environ)
    client = await config.start()
    assert isinstance(client, EditorClient)
    yield client
    await client.shutdown_session()
    await client.stop()


def path_of(uri: str) -> Path:
    return Path(unquote(urlsplit(uri).path))


async def open_thread(editor: EditorClient) -> tuple[str, str]:
    """A new thread, its file opened as the bridge asks: session id and URI."""
    known = await editor.command("newThread", agent="demo")
    uri = known["uri"]
    editor.documents.open(path_of(uri), language="markdown")
    return known["sessionId"], uri


async def send(editor: EditorClient, uri: str, prompt: str) -> Any:
    editor.documents.type(uri, editor.documents.texts[uri] + prompt)
    return await editor.command("send", uri=uri)


def turns(editor: EditorClient, uri: str) -> int:
    """How many turns are written for good: each ends with a new marker."""
    return editor.documents.texts[uri].count(MARKER) - 1


@pytest.mark.parametrize("name", EDITORS)
async def test_plain_lsp_does_the_whole_job(editor: EditorClient, workspace: Path, name: str) -> None:
    notes = workspace / "demo-notes.md"
    notes.write_text("- on the disk\n")
    await editor.start(workspace, name)
    notes_uri = editor.documents.open(notes)
    editor.documents.type(notes_uri, "- typed, not saved\n")
    _, uri = await open_thread(editor)
    editor.answer = lambda titles: titles[1]
    known = await send(editor, uri, "please go on\n")
    assert set(known) == {"sessionId", "turnId", "uri"}
    await editor.until(lambda: turns(editor, uri) == 1)
    text = editor.documents.texts[uri]
    assert "I am the demo agent" in text and "**Edit demo-notes.md**" in text
    assert text.index("please go on") < text.index("## Agent") < text.rindex("## You")
    assert editor.documents.texts[notes_uri] == "- typed, not saved\n- The demo agent was here.\n"
    assert notes.read_text() == "- on the disk\n"
    assert (editor.asked[0].actions or [])[0].title == "Decide later"
    assert "demo-notes.md" in editor.asked[0].message
    assert editor.acp == []
    kinds = [report.kind for reports in editor.progress_reports.values() for report in reports]
    assert (kinds[0], kinds[-1]) == ("begin", "end")


async def test_a_message_that_is_closed_decides_nothing_and_a_code_action_decides(
    editor: EditorClient, workspace: Path
) -> None:
    await editor.start(workspace, "neovim@v0.11.0")
    _, uri = await open_thread(editor)
    await send(editor, uri, "please go on")
    await editor.until(lambda: editor.asked)
    await editor.until(lambda: "Your permission is needed" in editor.documents.texts[uri])
    assert not (workspace / "demo-notes.md").exists()
    offered = await editor.actions(uri)
    titles = [action.title for action in offered]
    assert titles[:3] == [
        "Allow: Edit demo-notes.md",
        "Always allow: Edit demo-notes.md",
        "Reject: Edit demo-notes.md",
    ]
    concerned = await editor.actions((workspace / "demo-notes.md").as_uri())
    assert "Reject: Edit demo-notes.md" in [action.title for action in concerned]
    elsewhere = await editor.actions((workspace / "other.md").as_uri())
    assert not [action for action in elsewhere if action.title.startswith("Allow")]
    answered = await editor.run(offered[0])
    assert answered["accepted"] is True
    await editor.until(lambda: turns(editor, uri) == 1)
    assert "The demo agent was here." in (workspace / "demo-notes.md").read_text()
    assert len(editor.asked) == 1
    assert any("code action" in message.message for message in editor.messages)
    assert not [action for action in await editor.actions(uri) if "Allow" in action.title]


async def test_decide_later_and_an_unknown_title_decide_nothing(
    editor: EditorClient, workspace: Path
) -> None:
    await editor.start(workspace, "neovim@v0.11.0")
    _, uri = await open_thread(editor)
    editor.answer = lambda titles: titles[0]
    session, uri = await open_thread(editor)
    await send(editor, uri, "ask")
    await editor.until(lambda: "Your permission is needed" in editor.documents.texts[uri])
    assert editor.messages and len(editor.asked) == 1
    await editor.command("cancel", sessionId=session)
    await editor.until(lambda: turns(editor, uri) == 1)
    assert "Cancelled." in editor.documents.texts[uri]


async def test_a_rejected_edit_leaves_the_file(editor: EditorClient, workspace: Path) -> None:
    await editor.start(workspace, "emacs")
    editor.answer = lambda titles: titles[-1]
    _, uri = await open_thread(editor)
    await send(editor, uri, "please go on")
    await editor.until(lambda: turns(editor, uri) == 1)
    assert not (workspace / "demo-notes.md").exists()


async def test_a_rich_editor_sees_the_whole_turn(editor: EditorClient, workspace: Path) -> None:
    await editor.start(workspace, "visual_studio_code", initialization_options={"acp": rich()})
    ask = editor.protocol.send_request_async
    opened = await ask("acp/session/new", {"agent": "demo", "_meta": {"class": 1}})
    session = opened["sessionId"]
    await ask("acp/session/prompt", {"sessionId": session, "prompt": "please go on"})
    model = ThreadModel.of(opened["thread"])
    seen = 0

    def stopped() -> bool:
        nonlocal seen
        news, seen = editor.acp[seen:], len(editor.acp)
        for method, params in news:
            if method == "acp/thread/changed":
                model.changed(params)
        return bool(model.entries) and model.entries[-1]["kind"] == "stop"

    request = (await editor.until(lambda: [p for m, p in editor.acp if m == "acp/permission/requested"]))[0]
    choice = {"requestId": request["request"]["requestId"], "optionId": "allow"}
    answered = await ask("acp/permission/answer", choice)
    assert answered == {
        "accepted": True,
        "outcome": {"outcome": "selected", "optionId": "allow"},
        "by": "user",
    }
    await editor.until(stopped)
    assert [e["kind"] for e in model.entries if e["kind"] in ("user", "plan", "stop")] == [
        "user",
        "plan",
        "stop",
    ]
    assert "The demo agent was here." in (workspace / "demo-notes.md").read_text()
    assert editor.asked == [] and editor.progress_reports == {}


async def test_progress_can_be_cancelled(editor: EditorClient, workspace: Path) -> None:
    await editor.start(workspace, "neovim@v0.11.0")
    _, uri = await open_thread(editor)
    await send(editor, uri, "slow")
    await editor.until(lambda: "still talking" in editor.documents.texts[uri])
    [token] = editor.progress_reports
    assert editor.progress_reports[token][0].cancellable
    editor.window_work_done_progress_cancel(lsp.WorkDoneProgressCancelParams(token))
    await editor.until(lambda: turns(editor, uri) == 1)
    assert "Cancelled." in editor.documents.texts[uri]


async def test_actions_come_only_when_they_are_asked_for(editor: EditorClient, workspace: Path) -> None:
    await editor.start(workspace, "visual_studio_code")
    uri = editor.documents.open(workspace / "a.py", "print(1)\n")
    automatic = await editor.actions(uri, trigger_kind=lsp.CodeActionTriggerKind.Automatic)
    assert automatic == []
    source = await editor.actions(uri, only=[lsp.CodeActionKind.SourceOrganizeImports])
    assert source == []
    invoked = await editor.actions(uri, trigger_kind=lsp.CodeActionTriggerKind.Invoked)
    assert {action.kind for action in invoked} == {lsp.CodeActionKind.Refactor}
    assert not any(action.is_preferred for action in invoked)
    below = await editor.actions(uri, only=[lsp.CodeActionKind.RefactorRewrite])
    assert below == []


async def test_ask_about_a_selection_sends_it_with_its_file(editor: EditorClient, workspace: Path) -> None:
    await editor.start(workspace, "neovim@v0.11.0")
    code = editor.documents.open(workspace / "a.py", "one = 1\ntwo = 2\n")
    where = {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}}
    known = await editor.command("ask", agent="demo", prompt="plain: what is this?", uri=code, range=where)
    uri = known["uri"]
    assert known["sessionId"] and known["turnId"]
    assert [shown.uri for shown in editor.shown_documents] == [uri]
    editor.documents.open(path_of(uri), language="markdown")
    await editor.until(lambda: turns(editor, uri) == 1)
    text = editor.documents.texts[uri]
    assert "plain: what is this?" in text and "two = 2" in text and "one = 1" not in text
    assert "only text" in text


async def test_bad_params_of_a_command_are_answered(editor: EditorClient, workspace: Path) -> None:
    await editor.start(workspace, "neovim@v0.11.0")
    with pytest.raises(JsonRpcException) as raised:
        await editor.command("ask", agent="demo")
    assert raised.value.code == -32602 and raised.value.data["param"] == "prompt"
    with pytest.raises(JsonRpcException) as raised:
        await editor.command("dance")
    assert raised.value.code == -32602 and "acpBridge.ask" in raised.value.data["hint"]
    with pytest.raises(JsonRpcException) as raised:
        await editor.command("send", uri=(workspace / "x.acp.md").as_uri())
    assert raised.value.code == -32002
