"""The `acpBridge.*` commands of workspace/executeCommand, for editors without a plugin; one table at the end.

Each takes one object and answers at once with what is known: an agent that takes its time to start does not
hold the answer (one editor runs commands synchronously, with a limit of 10 s).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Raw

from acp_bridge.faces.lsp.initialize import dig
from acp_bridge.faces.lsp.methods import CHECKPOINT, METHODS, REVIEW, prompt_of
from acp_bridge.faces.lsp.positions import offset_of
from acp_bridge.faces.lsp.protocol.agents import AgentParams
from acp_bridge.faces.lsp.protocol.editor import (
    AskCommand,
    AuthenticateCommand,
    ConfigSetCommand,
    NewThreadCommand,
    QueueCommand,
    TargetCommand,
)
from acp_bridge.faces.lsp.protocol.review import UriParams
from acp_bridge.faces.lsp.protocol.tables import COMMANDS as SHAPES
from acp_bridge.faces.lsp.protocol.tables import parse
from acp_bridge.faces.lsp.threadfiles import Start
from acp_bridge.faces.lsp.uris import path_of
from acp_bridge.host.errors import HostError
from acp_bridge.jsonrpc.messages import loads

if TYPE_CHECKING:
    from acp_bridge.faces.lsp.editor import Editor

Json = dict[str, Any]
Command = Callable[["Editor", Any], Any]


def work(editor: Editor, params: Raw) -> Any:
    """What the command gives: a result, or a coroutine of it. Raises HostError."""
    asked = loads(params)
    name, arguments = dig(asked, "command"), dig(asked, "arguments")
    if not isinstance(name, str) or name not in COMMANDS:
        known = ", ".join(COMMANDS)
        raise HostError("badParam", f"unknown command {name!r}", f"known: {known}", param="command")
    first = arguments[0] if isinstance(arguments, list) and arguments else None
    return COMMANDS[name](editor, parse(SHAPES[name], first))


async def _ask(editor: Editor, params: AskCommand) -> Json:
    path = path_of(params.uri) if params.uri is not None else None
    agent, cwd = editor.agent(params.agent), editor.folder(None, path)
    blocks = _about(editor, params.prompt, params)
    file = None
    if not editor.features.draws("thread"):
        file = editor.threads.create(agent, f"{_as_draft(blocks)}\n")
        editor.threads.show(file)
        file.take_prompt()
    return await _start(editor, Start(agent, cwd, file), blocks)


async def _new_thread(editor: Editor, params: NewThreadCommand) -> Json:
    path = path_of(params.uri) if params.uri is not None else None
    agent, cwd = editor.agent(params.agent), editor.folder(params.cwd, path)
    file = None
    if not editor.features.draws("thread"):
        draft = _as_draft(_about(editor, "", params)) if path is not None else ""
        file = editor.threads.create(agent, draft)
        editor.threads.show(file)
    return await _start(editor, Start(agent, cwd, file), None)


async def _start(editor: Editor, start: Start, prompt: str | list[Json] | None) -> Json:
    """Start a session and prompt it, in the background; what is known of it after a second."""
    file = start.file
    result: Json = {} if file is None else {"uri": file.uri}
    start.begin()
    if file is not None:
        editor.threads.starts[file.uri] = start

    async def work() -> None:
        try:
            session = await editor.host.new_session(
                agent=start.agent, cwd=start.cwd, documents=editor.documents
            )
            result["sessionId"] = session.id
            if file is not None:
                file.attach(session)
            if prompt is not None:
                result["turnId"] = file.send(prompt) if file is not None else session.prompt(prompt)["turnId"]
            start.end()
        except HostError as error:
            if file is not None:
                file.give_back()
            start.end(error)
            editor.tell_error(f"{start.agent} did not start", error)

    editor.spawn(work)
    await start.soon()
    return dict(result)


async def _open_thread(editor: Editor, params: TargetCommand) -> Json:
    session = editor.session_of(params.session_id, params.uri)
    file = editor.threads.of(session)
    if file is None:
        file = editor.threads.create(session.agent_id)
        file.attach(session)
    editor.threads.show(file)
    return {"sessionId": session.id, "uri": file.uri}


async def _send(editor: Editor, params: UriParams) -> Json:
    file = editor.threads.at(params.uri)
    start = editor.threads.starts.get(file.uri)
    if start is not None and not start.over:
        hint = "send it again in a moment"
        raise HostError("agentUnavailable", f"{start.agent} is still starting", hint)
    await file.settled()
    prompt = file.take_prompt()
    if file.session is None and start is not None:
        return await _start(editor, start, prompt)
    turn_id = file.send(prompt)
    return {"sessionId": editor.threads.session_at(file.uri).id, "turnId": turn_id, "uri": file.uri}


def _cancel(editor: Editor, params: TargetCommand) -> Json:
    session = editor.session_of(params.session_id, params.uri)
    session.cancel()
    return {"sessionId": session.id}


async def _authenticate(editor: Editor, params: AuthenticateCommand) -> Json:
    agent = editor.host.runner(params.agent).server.id
    method_id = params.method_id or _only_method(editor, agent)

    async def log_in() -> None:
        try:
            await editor.host.authenticate(agent, method_id)
        except HostError as error:
            editor.tell_error(f"log-in to {agent} failed", error)
        else:
            editor.tell(3, f"Logged in to {agent}.")

    editor.spawn(log_in)
    return {}


def _only_method(editor: Editor, agent: str) -> str | None:
    """None where the methods are not known before the agent runs."""
    methods = editor.host.runner(agent).summary().get("authMethods")
    if methods is None:
        return None
    ids = [str(method["id"]) for method in methods]
    if len(ids) != 1:
        hint = f"one of: {', '.join(ids)}" if ids else f"{agent} offers no way to log in; see its own help"
        raise HostError("badParam", "methodId is needed", hint, param="methodId")
    return ids[0]


async def _config_set(editor: Editor, params: ConfigSetCommand) -> Json:
    session = editor.session_of(params.session_id, params.uri)
    return {"configOptions": await session.set_config_option(params.config_id, params.value)}


def _queue(editor: Editor, params: QueueCommand) -> Json:
    session = editor.session_of(params.session_id, params.uri)
    prompt = None if params.prompt is None else prompt_of(params.prompt)
    return {"queue": session.queue_action(params.action, params.turn_id, prompt)}


def _select(editor: Editor, params: AgentParams) -> Json:
    editor.selected_agent = editor.host.runner(params.agent).server.id
    return {}


def _about(editor: Editor, prompt: str, about: AskCommand | NewThreadCommand) -> list[Json]:
    """The prompt and what it is about: a link to the file, and the lines selected in it."""
    path = path_of(about.uri) if about.uri is not None else None
    blocks: list[Json] = [{"type": "text", "text": prompt}] if prompt else []
    if path is None or about.uri is None:
        return blocks
    blocks.append({"type": "resource_link", "uri": about.uri, "name": Path(path).name})
    document = editor.documents.find(about.uri)
    if about.range is not None and document is not None:
        span = about.range.model_dump()
        start, end = (
            offset_of(document.text, span[edge], editor.features.encoding) for edge in ("start", "end")
        )
        selected = document.text[start:end].strip("\n")
        if selected.strip():
            line = about.range.start.line + 1
            blocks.append({"type": "text", "text": f"\n{path}, line {line}:\n```\n{selected}\n```"})
    return blocks


def _as_draft(blocks: list[Json]) -> str:
    parts = [b["text"] if b["type"] == "text" else f"[{b['name']}]({b['uri']})" for b in blocks]
    return "\n\n".join(parts)


COMMANDS: dict[str, Command] = {
    "acpBridge.ask": _ask,
    "acpBridge.newThread": _new_thread,
    "acpBridge.openThread": _open_thread,
    "acpBridge.send": _send,
    "acpBridge.cancel": _cancel,
    "acpBridge.permission.answer": METHODS["acp/permission/answer"],
    "acpBridge.elicitation.answer": METHODS["acp/elicitation/answer"],
    "acpBridge.authenticate": _authenticate,
    "acpBridge.session.open": _open_thread,
    "acpBridge.session.list": METHODS["acp/session/list"],
    "acpBridge.config.set": _config_set,
    "acpBridge.queue": _queue,
    "acpBridge.review.accept": REVIEW,
    "acpBridge.review.reject": REVIEW,
    "acpBridge.review.acceptAll": REVIEW,
    "acpBridge.review.rejectAll": REVIEW,
    "acpBridge.checkpoint.list": CHECKPOINT,
    "acpBridge.checkpoint.restore": CHECKPOINT,
    "acpBridge.agent.select": _select,
}
