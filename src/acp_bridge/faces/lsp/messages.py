"""The editor protocol's messages: params and result of every request, notification and command, in tables.

The second half of module `protocol`; generated from together with it. `REQUESTS` go from the editor to the
bridge, `CLIENT_REQUESTS` the other way and only where `ui` announces them.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from acp_bridge.faces.lsp import protocol as p
from acp_bridge.faces.lsp.protocol import Json, Nothing, Wire


class Ui(Wire):
    """What the editor draws or serves itself; for the rest the bridge uses standard LSP."""

    thread: bool = False
    permission: bool = False
    elicitation: bool = False
    review: bool = False
    terminal: bool = False
    save: bool = False
    reload: bool = False
    editor_state: bool = False
    diagnostics: bool = False


class InitializationOptions(Wire):
    """`initializationOptions.acp`. `workspace` is what the editor knows to be workspace scope; it counts only
    where the folder is trusted."""

    ui: Ui = Field(default_factory=Ui)
    agent_servers: dict[str, Json] = Field(default_factory=dict)
    settings: Json = Field(default_factory=dict)
    workspace: Json | None = None
    trusted: bool = False


class AgentParams(Wire):
    agent: str


class AuthenticateParams(AgentParams):
    method_id: str


class AgentLogParams(AgentParams):
    """`follow` true starts `acp/log` notifications for the agent, false stops them."""

    tail: int | None = Field(default=None, ge=0)
    follow: bool | None = None


class AgentList(Wire):
    agents: list[p.Agent]


class AgentLog(Wire):
    lines: list[p.LogLine]


class Installed(Wire):
    version: str


class SessionNewParams(Wire):
    """`cwd` absent: the first workspace folder."""

    agent: str
    profile: str | None = None
    cwd: str | None = None
    additional_directories: list[str] = Field(default_factory=list)
    mcp_servers: list[Json] = Field(default_factory=list)
    config_options: dict[str, str | bool] | None = None


class ThreadState(Wire):
    epoch: str
    rev: int
    entries: list[p.Entry]


class SessionOpened(Wire):
    session_id: str
    session: p.Session
    thread: ThreadState


class SessionListParams(Wire):
    agent: str | None = None
    cwd: str | None = None
    query: str | None = None
    cursor: str | None = None


class SessionList(Wire):
    sessions: list[Json]
    next_cursor: str | None = None


class SessionParams(Wire):
    session_id: str


class RenameParams(SessionParams):
    title: str


class ExportParams(SessionParams):
    format: Literal["markdown", "json"] = "markdown"


class Exported(Wire):
    text: str


class PromptParams(SessionParams):
    prompt: p.Prompt
    client_message_id: str | None = None
    mode: Literal["queue", "steer"] = "queue"


class PromptAccepted(Wire):
    turn_id: str
    queued_at: str


class CancelParams(SessionParams):
    turn_id: str | None = None
    reason: str | None = None


class CancelResult(Wire):
    cancelled: bool


class QueueParams(SessionParams):
    action: Literal["list", "edit", "remove", "sendNow", "resume"]
    turn_id: str | None = None
    prompt: p.Prompt | None = None


class QueueResult(Wire):
    queue: p.Queue


class ConfigOptionParams(SessionParams):
    config_id: str
    value: str | bool


class ConfigOptionResult(Wire):
    config_options: list[Json]


class ThreadGetParams(SessionParams):
    epoch: str | None = None
    since_rev: int | None = None
    before: str | None = None
    limit: int = 200


class ThreadPage(Wire):
    """`ops` where the log reaches back to `sinceRev`, else `entries` (the newest `limit`)."""

    epoch: str
    rev: int
    ops: list[p.Op] | None = None
    entries: list[p.Entry] | None = None
    prev_cursor: str | None = None


class PermissionAnswerParams(Wire):
    """`option_id` null cancels the turn; `remember` is the bridge's policy only."""

    request_id: str
    option_id: str | None
    remember: Literal["session", "workspace"] | None = None


class PermissionAnswered(Wire):
    accepted: bool
    outcome: p.PermissionOutcome
    by: p.DecidedBy


class ElicitationAnswerParams(Wire):
    request_id: str
    action: Literal["accept", "decline", "cancel"]
    content: Json | None = None


class ElicitationAnswered(Wire):
    accepted: bool
    by: str


class ReviewListParams(Wire):
    session_id: str | None = None
    uri: str | None = None


class ReviewState(Wire):
    epoch: str
    rev: int
    files: list[p.ReviewFile]


class ReviewDecideParams(Wire):
    decision: Literal["accept", "reject", "undo"]
    hunk_id: str | None = None
    uri: str | None = None
    session_id: str | None = None
    decision_id: str | None = None
    expect: str | None = None


class ReviewDecided(Wire):
    epoch: str
    rev: int
    decision_id: str
    done: list[str]
    skipped: list[p.Skipped]


class UriParams(Wire):
    uri: str


class ReviewText(Wire):
    base: str | None
    now: str


class CheckpointParams(SessionParams):
    checkpoint_id: str | None = None


class CheckpointList(Wire):
    checkpoints: list[p.Checkpoint]


class CheckpointRestored(Wire):
    """`checkpoint_id` is of the state before."""

    checkpoint_id: str
    restored: list[str]
    skipped: list[p.Skipped]


class CheckpointDiff(Wire):
    files: list[p.FileDiff]


class TerminalParams(Wire):
    terminal_id: str


class TerminalState(Wire):
    output: str
    truncated: bool
    exit_status: Json | None = None


class ThreadChanged(Wire):
    """Leads from `from_rev` to `rev`; ignore it when `rev` is not above your own, fetch when `from_rev` is
    above your own or `epoch` differs."""

    session_id: str
    epoch: str
    from_rev: int
    rev: int
    ops: list[p.Op]


class SessionChanged(Wire):
    session: p.Session


class AgentChanged(Wire):
    agent: p.Agent


class PermissionRequested(Wire):
    request: p.PermissionRequest


class PermissionResolved(Wire):
    request_id: str
    outcome: p.PermissionOutcome
    by: p.DecidedBy


class ElicitationRequested(Wire):
    request: p.ElicitationRequest


class ElicitationResolved(Wire):
    request_id: str
    action: str
    by: str


class TerminalChanged(Wire):
    terminal_id: str
    append: str
    exit_status: Json | None = None


class AgentLogged(Wire):
    agent: str
    direction: str
    message: str


class Done(Wire):
    ok: bool
    reason: str | None = None


class OptionalUri(Wire):
    uri: str | None = None


class TerminalRunParams(Wire):
    command: str
    args: list[str]
    env: dict[str, str]
    cwd: str


class TerminalRan(Wire):
    exit_code: int | None


class AskCommand(Wire):
    agent: str | None = None
    prompt: str
    uri: str | None = None
    range: p.Range | None = None


class NewThreadCommand(Wire):
    agent: str | None = None
    cwd: str | None = None
    uri: str | None = None
    range: p.Range | None = None


class TargetCommand(Wire):
    """Which session: by id, by the URI of its thread file, or the newest."""

    session_id: str | None = None
    uri: str | None = None


class AuthenticateCommand(AgentParams):
    method_id: str | None = None


class ConfigSetCommand(TargetCommand):
    config_id: str
    value: str | bool


class QueueCommand(TargetCommand):
    action: Literal["list", "edit", "remove", "sendNow", "resume"]
    turn_id: str | None = None
    prompt: p.Prompt | None = None


class CommandResult(Wire):
    """As far as known at once."""

    session_id: str | None = None
    turn_id: str | None = None
    uri: str | None = None


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
    "acpBridge.agent.select": AgentParams,
}


def parse(shape: Shape, params: Any) -> Any:
    """`params` as `shape` (null or absent counts as no fields).

    Raises HostError("badParam"), whose `param` is the path of the first field that is missing or wrong.
    """
    from pydantic import ValidationError

    from acp_bridge.host.errors import HostError

    try:
        return shape.model_validate({} if params is None else params)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        message = f"{field or 'params'}: {first['msg']}"
        raise HostError("badParam", message, "see docs/editor-protocol.md", param=field or "params") from None
