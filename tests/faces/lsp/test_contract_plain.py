"""An editor without a plugin, and what an announcement in `ui` changes; each test names its sentence."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from support.lsp_client import DEFAULT_CAPABILITIES, LspClient, LspError, rich

Json = dict[str, Any]
SCRIPTED = str(Path(__file__).parents[2] / "support" / "scripted.py")
MARKER = "<!-- acp-bridge prompt"
OPTIONS = [
    {"optionId": "a", "name": "Allow", "kind": "allow_once"},
    {"optionId": "b", "name": "Allow", "kind": "allow_always"},
    {"optionId": "c", "name": "Decide later", "kind": "reject_once"},
]


def configure(environ: dict[str, str], scenario: Json) -> None:
    """One agent in the user's acp.json, which an editor that sends no options gets too."""
    folder = Path(environ["ACP_BRIDGE_CONFIG_DIR"])
    folder.mkdir()
    server = {"command": sys.executable, "args": [SCRIPTED, json.dumps(scenario)]}
    (folder / "acp.json").write_text(json.dumps({"agent_servers": {"it": server}}))


async def command(client: LspClient, name: str, **argument: Any) -> Any:
    params = {"command": f"acpBridge.{name}", "arguments": [argument]}
    return await client.request("workspace/executeCommand", params)


async def actions(client: LspClient, uri: str, **context: Any) -> list[Json]:
    start = {"line": 0, "character": 0}
    params = {
        "textDocument": {"uri": uri},
        "range": {"start": start, "end": start},
        "context": {"diagnostics": [], **context},
    }
    return list(await client.request("textDocument/codeAction", params))


async def new_thread(client: LspClient) -> str:
    uri = str((await command(client, "newThread", agent="it"))["uri"])
    client.documents.open(unquote(urlsplit(uri).path), language="markdown")
    return uri


def editing(path: Path) -> Json:
    """A scenario: read the file, then write it."""
    about = {"sessionId": "$SESSION", "path": str(path)}
    read = {"call": "fs/read_text_file", "params": about, "then": [{"text": "read $ANSWER"}]}
    write = {"call": "fs/write_text_file", "params": {**about, "content": "one\nTWO\n"}}
    return {"prompts": [[read, {**write, "then": [{"text": " written"}], "fail": [{"text": "$ANSWER"}]}]]}


async def test_without_initialization_options_no_acp_message_is_ever_sent_not_even_when_acp_requests_come(
    environ: dict[str, str], workspace: Path
) -> None:
    file = workspace / "a.txt"
    file.write_text("one\ntwo\n")
    configure(environ, editing(file))
    async with LspClient.run(env=environ, root=workspace) as client:
        client.documents.open(file)
        session = await client.new_session("it")
        await client.prompt(session, "hello")
        await client.request("acp/agents/log", {"agent": "it", "follow": True})
        await client.wait_for(
            lambda: [p for p in client.received("$/progress") if p["value"]["kind"] == "end"]
        )
        sent = {m["method"] for way, m in client.messages if way == "in" and "method" in m}
        assert not [method for method in sent if method.startswith("acp/")]
        assert client.documents.texts[file.as_uri()] == "one\nTWO\n" and file.read_text() == "one\ntwo\n"


@pytest.mark.parametrize("serves", [True, False])
async def test_an_edit_of_unsaved_text_is_versioned_and_saved_only_where_save_is_announced(
    environ: dict[str, str], workspace: Path, serves: bool
) -> None:
    file = workspace / "a.txt"
    file.write_text("one\ntwo\n")
    configure(environ, editing(file))
    async with LspClient.run(env=environ, acp=rich(ui={"save": serves}), root=workspace) as client:
        uri = client.documents.open(file)
        client.documents.type(uri, "one\ntwo\ntyped\n")

        def save(params: Json) -> Json:
            client.documents.save(params["uri"])
            return {"ok": True}

        client.handlers["acp/document/save"] = save
        session = await client.new_session("it")
        turn = await client.turn(session, "hello")
        assert turn.text == 'read {"content": "one\\ntwo\\ntyped\\n"} written'
        assert client.documents.texts[uri] == "one\nTWO\n"
        [edit] = client.documents.edits
        [change] = edit["documentChanges"]
        assert change["textDocument"] == {"uri": uri, "version": 2}
        assert client.received("acp/document/save") == ([{"uri": uri}] if serves else [])
        assert file.read_text() == ("one\nTWO\n" if serves else "one\ntwo\n")


async def test_a_dirty_buffer_the_agent_has_not_read_is_not_overwritten_and_the_error_names_it(
    environ: dict[str, str], workspace: Path
) -> None:
    file = workspace / "a.txt"
    file.write_text("one\ntwo\n")
    steps = editing(file)["prompts"][0][1:]
    configure(environ, {"prompts": [steps]})
    async with LspClient.run(env=environ, acp=rich(), root=workspace) as client:
        uri = client.documents.open(file)
        client.documents.type(uri, "one\ntwo\ntyped\n")
        session = await client.new_session("it")
        turn = await client.turn(session, "hello")
        assert str(file) in turn.text and "unsaved" in turn.text
        assert client.documents.texts[uri] == "one\ntwo\ntyped\n" and file.read_text() == "one\ntwo\n"


async def test_a_permission_message_starts_with_decide_later_and_unique_titles_and_null_decides_nothing(
    environ: dict[str, str], workspace: Path
) -> None:
    call = {"toolCallId": "t", "title": "Run it", "kind": "execute", "rawInput": {"command": "ls -la"}}
    permission = {"permission": {"toolCall": call, "options": OPTIONS}, "then": {"b": [{"text": "got b"}]}}
    configure(environ, {"prompts": [[permission]]})
    async with LspClient.run(env=environ, root=workspace) as client:
        uri = await new_thread(client)
        client.documents.type(uri, client.documents.texts[uri] + "hello\n")
        assert set(await command(client, "send", uri=uri)) == {"sessionId", "turnId", "uri"}
        [asked] = await client.wait_for(lambda: client.received("window/showMessageRequest"))
        titles = [action["title"] for action in asked["actions"]]
        assert titles == ["Decide later", "Allow", "Allow (2)", "Decide later (2)"]
        assert "ls -la" in asked["message"] and str(workspace) in asked["message"]
        await client.wait_for(lambda: client.received("window/showMessage"))
        offered = await actions(client, uri)
        assert all(set(action) == {"title", "command", "arguments"} for action in offered)
        assert await actions(client, uri, triggerKind=2) == []
        assert await actions(client, uri, only=["source"]) == []
        assert await actions(client, uri, only=["refactor"]) == []
        assert await actions(client, uri, only=["quickfix"], triggerKind=1) == offered
        chosen = next(action for action in offered if action["title"].startswith("Allow (2)"))
        answered = await client.request("workspace/executeCommand", chosen)
        assert answered["outcome"] == {"outcome": "selected", "optionId": "b"}
        await client.wait_for(lambda: client.documents.texts[uri].count(MARKER) == 2)
        assert "got b" in client.documents.texts[uri]
        assert len(client.received("window/showMessageRequest")) == 1


async def test_a_client_with_literal_support_gets_code_actions_that_are_never_preferred(
    environ: dict[str, str], workspace: Path
) -> None:
    literals = {"codeActionKind": {"valueSet": ["quickfix", "refactor"]}}
    capabilities = {
        **DEFAULT_CAPABILITIES,
        "textDocument": {"codeAction": {"codeActionLiteralSupport": literals}},
    }
    async with LspClient.run(env=environ, root=workspace, capabilities=capabilities) as client:
        uri = client.documents.open(workspace / "a.py", "x = 1\n")
        start = {"line": 0, "character": 0}
        problem = {"range": {"start": start, "end": start}, "message": "x is unused"}
        offered = await actions(client, uri, diagnostics=[problem])
        assert {action["kind"] for action in offered} == {"refactor", "quickfix"}
        assert not [action for action in offered if action.get("isPreferred")]
        [fix] = [action for action in offered if action["kind"] == "quickfix"]
        assert "x is unused" in fix["title"] and fix["diagnostics"][0]["message"] == "x is unused"
        assert fix["command"]["arguments"][0]["uri"] == uri


async def test_the_next_prompt_can_be_sent_the_moment_its_marker_is_there(
    environ: dict[str, str], workspace: Path
) -> None:
    configure(environ, {"prompts": [[{"text": "one"}], [{"text": "two"}], [{"text": "three"}]]})
    async with LspClient.run(env=environ, root=workspace) as client:
        uri = await new_thread(client)
        for number, answer in enumerate(("one", "two", "three"), 2):
            client.documents.type(uri, client.documents.texts[uri] + f"prompt for {answer}\n")
            await command(client, "send", uri=uri)
            await client.wait_for(lambda: client.documents.texts[uri].count(MARKER) == number)  # noqa: B023
            assert client.documents.texts[uri].rstrip().endswith("-->")
        written = [
            line for line in client.documents.texts[uri].splitlines() if line in ("one", "two", "three")
        ]
        assert written == ["one", "two", "three"]


async def test_commands_take_one_object_and_say_what_is_wrong_with_it(
    environ: dict[str, str], workspace: Path
) -> None:
    configure(environ, {"prompts": [[{"text": "x"}]]})
    bad: list[tuple[str, Any, str]] = [
        ("ask", [{"agent": "it"}], "prompt"),
        ("ask", ["hello"], "params"),
        ("ask", [], "prompt"),
        ("newThread", [{"agent": 7}], "agent"),
        ("newThread", [{"agent": "it", "cwd": "relative"}], "cwd"),
        ("send", [{}], "uri"),
        ("cancel", [{"sessionId": 7}], "sessionId"),
        ("permission.answer", [{"optionId": "a"}], "requestId"),
        ("permission.answer", [{"requestId": "r"}], "optionId"),
        ("agent.select", [{}], "agent"),
        ("dance", [{}], "command"),
    ]
    async with LspClient.run(env=environ, root=workspace) as client:
        for name, arguments, param in bad:
            with pytest.raises(LspError) as raised:
                await client.request(
                    "workspace/executeCommand", {"command": f"acpBridge.{name}", "arguments": arguments}
                )
            told = (raised.value.code, raised.value.kind, raised.value.data.get("param"))
            assert told == (-32602, "badParam", param), (name, raised.value)
        for name, argument in (("cancel", {"sessionId": "ses-none"}), ("openThread", {"sessionId": "s"})):
            with pytest.raises(LspError) as raised:
                await command(client, name, **argument)
            assert (raised.value.code, raised.value.kind) == (-32002, "unknownSession")
