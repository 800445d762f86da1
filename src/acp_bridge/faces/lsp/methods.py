"""Every `acp/*` request as a plain function of the editor and its validated params; one table at the end.

docs/editor-protocol.md says what each means; the host does the work.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from msgspec import Raw

from acp_bridge.faces.lsp.protocol.agents import AgentLogParams, AgentParams, AuthenticateParams
from acp_bridge.faces.lsp.protocol.base import Nothing
from acp_bridge.faces.lsp.protocol.pending import ElicitationAnswerParams, PermissionAnswerParams
from acp_bridge.faces.lsp.protocol.sessions import (
    CancelParams,
    ConfigOptionParams,
    ExportParams,
    PromptParams,
    QueueParams,
    RenameParams,
    SessionListParams,
    SessionNewParams,
    SessionParams,
    ThreadGetParams,
)
from acp_bridge.faces.lsp.protocol.tables import REQUESTS, parse
from acp_bridge.host.errors import HostError
from acp_bridge.host.session import Session
from acp_bridge.jsonrpc.messages import METHOD_NOT_FOUND, RpcError, loads

if TYPE_CHECKING:
    from acp_bridge.faces.lsp.editor import Editor

Json = dict[str, Any]
Method = Callable[["Editor", Any], Any]


def work(editor: Editor, method: str, params: Raw) -> Any:
    """What `method` gives: a result, or a coroutine of it. Raises HostError or RpcError."""
    known = REQUESTS.get(method)
    if known is None:
        data = {"kind": "unknownMethod", "hint": "docs/editor-protocol.md lists what this version knows"}
        raise RpcError(METHOD_NOT_FOUND, f"unknown method {method!r}", data)
    return METHODS[method](editor, parse(known[0], loads(params)))


def prompt_of(prompt: Any) -> Any:
    """A validated prompt as the host takes it: a string or a list of blocks."""
    return prompt if isinstance(prompt, str) else [block.model_dump(exclude_unset=True) for block in prompt]


async def _agents_list(editor: Editor, params: Nothing) -> Json:
    await editor.host.resolved_environ()
    listed: Json = {"agents": editor.host.list_agents()}
    with suppress(HostError):
        listed["defaultAgent"] = editor.agent(None)
    return listed


async def _agents_restart(editor: Editor, params: AgentParams) -> Json:
    await editor.host.restart_agent(params.agent)
    return {}


async def _agents_authenticate(editor: Editor, params: AuthenticateParams) -> Json:
    await editor.host.authenticate(params.agent, params.method_id)
    return {}


async def _agents_logout(editor: Editor, params: AgentParams) -> Json:
    await editor.host.logout(params.agent)
    return {}


def _agents_log(editor: Editor, params: AgentLogParams) -> Json:
    lines = editor.host.agent_log(params.agent, params.tail)
    if params.follow is not None:
        editor.ui.follow(params.agent, params.follow)
    return {"lines": lines}


async def _session_new(editor: Editor, params: SessionNewParams) -> Json:
    session = await editor.host.new_session(
        agent=params.agent,
        cwd=editor.folder(params.cwd),
        additional_directories=params.additional_directories,
        mcp_servers=params.mcp_servers,
        config_options=params.config_options,
        profile=params.profile,
        documents=editor.documents,
    )
    return _opened(session)


def _session_open(editor: Editor, params: SessionParams) -> Json:
    session = editor.host.session(params.session_id)
    editor.ui.catch_up()
    return _opened(session)


def _opened(session: Session) -> Json:
    thread = session.thread
    return {
        "sessionId": session.id,
        "session": session.summary(),
        "thread": {"epoch": thread.epoch, "rev": thread.rev, "entries": thread.entries()},
    }


def _session_list(editor: Editor, params: SessionListParams) -> Any:
    return editor.host.list_sessions(
        agent=params.agent, cwd=params.cwd, query=params.query, cursor=params.cursor
    )


async def _session_close(editor: Editor, params: SessionParams) -> Json:
    await editor.host.close_session(params.session_id)
    return {}


def _session_rename(editor: Editor, params: RenameParams) -> Json:
    editor.host.session(params.session_id).rename(params.title)
    return {}


def _session_export(editor: Editor, params: ExportParams) -> Json:
    return {"text": editor.host.session(params.session_id).export(params.format)}


def _session_prompt(editor: Editor, params: PromptParams) -> Json:
    session = editor.host.session(params.session_id)
    return session.prompt(prompt_of(params.prompt), params.client_message_id, params.mode)


def _session_cancel(editor: Editor, params: CancelParams) -> Json:
    session = editor.host.session(params.session_id)
    return {"cancelled": session.cancel(params.turn_id, params.reason)}


def _session_queue(editor: Editor, params: QueueParams) -> Json:
    session = editor.host.session(params.session_id)
    prompt = None if params.prompt is None else prompt_of(params.prompt)
    return {"queue": session.queue_action(params.action, params.turn_id, prompt)}


async def _session_config_option(editor: Editor, params: ConfigOptionParams) -> Json:
    session = editor.host.session(params.session_id)
    return {"configOptions": await session.set_config_option(params.config_id, params.value)}


def _thread_get(editor: Editor, params: ThreadGetParams) -> Json:
    session = editor.host.session(params.session_id)
    editor.ui.catch_up()
    return session.thread.get(params.epoch, params.since_rev, params.before, params.limit)


def _permission_answer(editor: Editor, params: PermissionAnswerParams) -> Json:
    return editor.host.answer_permission(params.request_id, params.option_id, params.remember)


def _elicitation_answer(editor: Editor, params: ElicitationAnswerParams) -> Json:
    return editor.host.answer_elicitation(params.request_id, params.action, params.content)


def _unsupported(what: str, instead: str) -> Method:
    def refuse(editor: Editor, params: Any) -> Any:
        if isinstance(params, SessionParams):
            editor.host.session(params.session_id)
        if isinstance(params, AgentParams):
            editor.host.runner(params.agent)
        raise HostError("unsupported", f"this version cannot {what}", instead)

    return refuse


REVIEW = _unsupported("review changes", "look at them with your version control")
CHECKPOINT = _unsupported("keep checkpoints", "use your version control to go back")
_TERMINAL = _unsupported("serve terminals", "see the output of the tool call in the thread")

METHODS: dict[str, Method] = {
    "acp/agents/list": _agents_list,
    "acp/agents/restart": _agents_restart,
    "acp/agents/authenticate": _agents_authenticate,
    "acp/agents/logout": _agents_logout,
    "acp/agents/install": _unsupported("install agents", "install its program yourself, then restart it"),
    "acp/agents/log": _agents_log,
    "acp/session/new": _session_new,
    "acp/session/list": _session_list,
    "acp/session/open": _session_open,
    "acp/session/fork": _unsupported("fork a session", "start a new one"),
    "acp/session/close": _session_close,
    "acp/session/delete": _session_close,
    "acp/session/rename": _session_rename,
    "acp/session/export": _session_export,
    "acp/session/prompt": _session_prompt,
    "acp/session/cancel": _session_cancel,
    "acp/session/queue": _session_queue,
    "acp/session/setConfigOption": _session_config_option,
    "acp/thread/get": _thread_get,
    "acp/permission/answer": _permission_answer,
    "acp/elicitation/answer": _elicitation_answer,
    "acp/review/list": REVIEW,
    "acp/review/decide": REVIEW,
    "acp/review/text": REVIEW,
    "acp/checkpoint/list": CHECKPOINT,
    "acp/checkpoint/restore": CHECKPOINT,
    "acp/checkpoint/diff": CHECKPOINT,
    "acp/terminal/output": _TERMINAL,
    "acp/terminal/kill": _TERMINAL,
}
