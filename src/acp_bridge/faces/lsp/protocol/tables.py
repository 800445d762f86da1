"""The editor protocol's messages in four tables: params and results of requests, notifications, commands.

`REQUESTS` go from the editor to the bridge, `CLIENT_REQUESTS` the other way and only where `ui` announces
them.
"""

from __future__ import annotations

from typing import Any

from acp_bridge.faces.lsp.protocol.agents import (
    AgentChanged,
    AgentList,
    AgentLog,
    AgentLogged,
    AgentLogParams,
    AgentParams,
    AuthenticateParams,
    Installed,
)
from acp_bridge.faces.lsp.protocol.base import Nothing, Wire
from acp_bridge.faces.lsp.protocol.editor import (
    AskCommand,
    AuthenticateCommand,
    CheckpointCommand,
    ConfigSetCommand,
    Done,
    HunkCommand,
    NewThreadCommand,
    OptionalUri,
    QueueCommand,
    TargetCommand,
    TerminalRan,
    TerminalRunParams,
)
from acp_bridge.faces.lsp.protocol.pending import (
    ElicitationAnswered,
    ElicitationAnswerParams,
    ElicitationRequested,
    ElicitationResolved,
    PermissionAnswered,
    PermissionAnswerParams,
    PermissionRequested,
    PermissionResolved,
)
from acp_bridge.faces.lsp.protocol.review import (
    CheckpointDiff,
    CheckpointList,
    CheckpointParams,
    CheckpointRestored,
    ReviewDecided,
    ReviewDecideParams,
    ReviewListParams,
    ReviewState,
    ReviewText,
    TerminalChanged,
    TerminalParams,
    TerminalState,
    UriParams,
)
from acp_bridge.faces.lsp.protocol.sessions import (
    CancelParams,
    CancelResult,
    ConfigOptionParams,
    ConfigOptionResult,
    Exported,
    ExportParams,
    PromptAccepted,
    PromptParams,
    QueueParams,
    QueueResult,
    RenameParams,
    SessionChanged,
    SessionList,
    SessionListParams,
    SessionNewParams,
    SessionOpened,
    SessionParams,
    ThreadGetParams,
)
from acp_bridge.faces.lsp.protocol.thread import ThreadChanged, ThreadPage

Shape = type[Wire]

REQUESTS: dict[str, tuple[Shape, Shape]] = {
    "acp/agents/list": (Nothing, AgentList),
    "acp/agents/restart": (AgentParams, Nothing),
    "acp/agents/authenticate": (AuthenticateParams, Nothing),
    "acp/agents/logout": (AgentParams, Nothing),
    "acp/agents/install": (AgentParams, Installed),
    "acp/agents/log": (AgentLogParams, AgentLog),
    "acp/session/new": (SessionNewParams, SessionOpened),
    "acp/session/list": (SessionListParams, SessionList),
    "acp/session/open": (SessionParams, SessionOpened),
    "acp/session/fork": (SessionParams, SessionOpened),
    "acp/session/close": (SessionParams, Nothing),
    "acp/session/delete": (SessionParams, Nothing),
    "acp/session/rename": (RenameParams, Nothing),
    "acp/session/export": (ExportParams, Exported),
    "acp/session/prompt": (PromptParams, PromptAccepted),
    "acp/session/cancel": (CancelParams, CancelResult),
    "acp/session/queue": (QueueParams, QueueResult),
    "acp/session/setConfigOption": (ConfigOptionParams, ConfigOptionResult),
    "acp/thread/get": (ThreadGetParams, ThreadPage),
    "acp/permission/answer": (PermissionAnswerParams, PermissionAnswered),
    "acp/elicitation/answer": (ElicitationAnswerParams, ElicitationAnswered),
    "acp/review/list": (ReviewListParams, ReviewState),
    "acp/review/decide": (ReviewDecideParams, ReviewDecided),
    "acp/review/text": (UriParams, ReviewText),
    "acp/checkpoint/list": (SessionParams, CheckpointList),
    "acp/checkpoint/restore": (CheckpointParams, CheckpointRestored),
    "acp/checkpoint/diff": (CheckpointParams, CheckpointDiff),
    "acp/terminal/output": (TerminalParams, TerminalState),
    "acp/terminal/kill": (TerminalParams, Nothing),
}

CLIENT_REQUESTS: dict[str, tuple[Shape, Shape]] = {
    "acp/document/save": (UriParams, Done),
    "acp/document/reload": (UriParams, Done),
    "acp/editor/state": (Nothing, Nothing),
    "acp/diagnostics/get": (OptionalUri, Nothing),
    "acp/terminal/run": (TerminalRunParams, TerminalRan),
}

NOTIFICATIONS: dict[str, Shape] = {
    "acp/thread/changed": ThreadChanged,
    "acp/session/changed": SessionChanged,
    "acp/agent/changed": AgentChanged,
    "acp/permission/requested": PermissionRequested,
    "acp/permission/resolved": PermissionResolved,
    "acp/elicitation/requested": ElicitationRequested,
    "acp/elicitation/resolved": ElicitationResolved,
    "acp/review/changed": ReviewState,
    "acp/terminal/changed": TerminalChanged,
    "acp/log": AgentLogged,
}

COMMANDS: dict[str, Shape] = {
    "acpBridge.ask": AskCommand,
    "acpBridge.newThread": NewThreadCommand,
    "acpBridge.openThread": TargetCommand,
    "acpBridge.send": UriParams,
    "acpBridge.cancel": TargetCommand,
    "acpBridge.permission.answer": PermissionAnswerParams,
    "acpBridge.elicitation.answer": ElicitationAnswerParams,
    "acpBridge.authenticate": AuthenticateCommand,
    "acpBridge.session.open": TargetCommand,
    "acpBridge.session.list": SessionListParams,
    "acpBridge.config.set": ConfigSetCommand,
    "acpBridge.queue": QueueCommand,
    "acpBridge.review.accept": HunkCommand,
    "acpBridge.review.reject": HunkCommand,
    "acpBridge.review.acceptAll": TargetCommand,
    "acpBridge.review.rejectAll": TargetCommand,
    "acpBridge.checkpoint.list": TargetCommand,
    "acpBridge.checkpoint.restore": CheckpointCommand,
    "acpBridge.agent.select": AgentParams,
}


def parse(shape: Shape, params: Any) -> Any:
    """`params` as `shape` (null or absent counts as no fields); no value is taken for one of another type.

    Raises HostError("badParam"), whose `param` is the first one that is missing or wrong; the message tells
    where in it.
    """
    from pydantic import ValidationError

    from acp_bridge.host.errors import HostError

    try:
        return shape.model_validate({} if params is None else params, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        where = [str(part) for part in first["loc"]] or ["params"]
        wrong = "must be an object" if first["type"] == "model_type" else first["msg"]
        message = f"{'.'.join(where)}: {wrong}"
        raise HostError("badParam", message, _fields(shape), param=where[0]) from None


def _fields(shape: Shape) -> str:
    """What the params are made of, as a hint."""
    fields = shape.model_fields.values()
    needed = ", ".join(str(field.alias) for field in fields if field.is_required())
    others = ", ".join(str(field.alias) for field in fields if not field.is_required())
    told = [f"needed: {needed}" if needed else "", f"possible: {others}" if others else ""]
    return "an object; " + "; ".join(part for part in told if part)
