"""Sessions: what is told of them, and what can be asked of them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field
from typing_extensions import TypeAliasType

from acp_bridge.faces.lsp.protocol.base import ContentBlock, Json, Prompt, Wire
from acp_bridge.faces.lsp.protocol.pending import PendingRequest
from acp_bridge.faces.lsp.protocol.thread import ThreadState


class Usage(Wire):
    """Tokens of the context window; `percent` is null where the size is unknown."""

    used: int | None = None
    size: int | None = None
    remaining: int | None = None
    percent: float | None = None
    cost: Json | None = None
    tokens: Json | None = None


class QueueItem(Wire):
    turn_id: str
    blocks: list[ContentBlock]
    queued_at: str
    client_message_id: str | None = None


class Queue(Wire):
    held: bool
    items: list[QueueItem]


SessionState = TypeAliasType(
    "SessionState", Literal["idle", "running", "requires_action", "cancelling", "detached", "readonly"]
)


class Session(Wire):
    """`config_options` and `commands` as in ACP v1."""

    session_id: str
    agent: str
    profile: str | None = None
    cwd: str
    title: str | None = None
    state: SessionState
    task_state: Literal["IN_PROGRESS", "REVIEW"]
    turn_id: str | None = None
    config_options: list[Json]
    commands: list[Json]
    usage: Usage | None = None
    queue: Queue
    pending: list[PendingRequest]


class SessionNewParams(Wire):
    """`cwd` absent: the first workspace folder."""

    agent: str
    profile: str | None = None
    cwd: str | None = None
    additional_directories: list[str] = Field(default_factory=list)
    mcp_servers: list[Json] = Field(default_factory=list)
    config_options: dict[str, str | bool] | None = None


class SessionOpened(Wire):
    session_id: str
    session: Session
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
    prompt: Prompt
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
    prompt: Prompt | None = None


class QueueResult(Wire):
    queue: Queue


class ConfigOptionParams(SessionParams):
    config_id: str
    value: str | bool


class ConfigOptionResult(Wire):
    config_options: list[Json]


class ThreadGetParams(SessionParams):
    epoch: str | None = None
    since_rev: int | None = None
    before: str | None = None
    limit: int = Field(default=200, ge=1)


class SessionChanged(Wire):
    session: Session
