"""The editor protocol, all of it: every shape that crosses the LSP connection under `acp/` and `acpBridge.`.

`docs/editor-protocol.schema.json` and `editors/vscode/src/protocol.ts` are generated from this module
(`python -m acp_bridge.faces.lsp.generate`); docs/editor-protocol.md says in words what the shapes mean.
Wire names are camelCase. Unknown fields are ignored, except in the shapes that keep an agent's own words
(subclasses of `Kept`). Lines are 0-based, ranges as in LSP in the negotiated encoding, times RFC 3339 with Z.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

VERSION = 1
Json = dict[str, Any]


class Wire(BaseModel):
    """Base of every shape: camelCase on the wire, unknown fields ignored."""

    model_config = ConfigDict(alias_generator=to_camel, extra="ignore")


class Kept(Wire):
    """A shape whose unknown fields are kept and passed on."""

    model_config = ConfigDict(extra="allow")


class Nothing(Wire):
    """No fields."""


class ContentBlock(Kept):
    """A content block of ACP v1: text, image, audio, resource_link or resource."""

    type: str


Prompt = str | list[ContentBlock]


class Position(Wire):
    line: int
    character: int


class Range(Wire):
    start: Position
    end: Position


class Location(Wire):
    uri: str
    path: str
    line: int | None = None


class FileName(Wire):
    uri: str
    path: str


class ToolText(Wire):
    type: Literal["text"]
    text: str


class ToolBlock(Wire):
    type: Literal["block"]
    block: Json


class ToolDiff(Wire):
    """`old_text` null: the file did not exist."""

    type: Literal["diff"]
    uri: str
    path: str
    old_text: str | None
    new_text: str
    changes: list[Json] | None = None
    patch: str | None = None


class ToolTerminal(Wire):
    type: Literal["terminal"]
    terminal_id: str


ToolContent = Annotated[ToolText | ToolBlock | ToolDiff | ToolTerminal, Field(discriminator="type")]


class PlanEntry(Kept):
    content: str
    priority: str | None = None
    status: str | None = None


class EntryBase(Wire):
    """`parent` is the entry's tool call, where a subagent said it."""

    id: str
    turn_id: str | None
    parent: str | None = None


class UserEntry(EntryBase):
    kind: Literal["user"]
    blocks: list[ContentBlock]
    client_message_id: str | None = None
    checkpoint_id: str | None = None


class AgentEntry(EntryBase):
    kind: Literal["agent"]
    text: str
    blocks: list[ContentBlock] | None = None


class ThoughtEntry(EntryBase):
    kind: Literal["thought"]
    text: str


class ToolEntry(EntryBase):
    """`status` is pending, in_progress, completed, failed, cancelled, or the agent's unknown word."""

    kind: Literal["tool"]
    name: str | None = None
    title: str
    tool_kind: str | None = None
    status: str
    content: list[ToolContent]
    locations: list[Location]
    output: str = ""
    raw_input: Any = None
    raw_output: Any = None
    request_id: str | None = None


class PlanEntryList(EntryBase):
    kind: Literal["plan"]
    entries: list[PlanEntry]


class NoticeEntry(EntryBase):
    kind: Literal["notice"]
    severity: str
    title: str
    description: str | None = None


class ErrorEntry(EntryBase):
    kind: Literal["error"]
    message: str
    detail: str | None = None
    hint: str | None = None


class StopEntry(EntryBase):
    """`stop_reason`: end_turn, max_tokens, max_turn_requests, refusal, cancelled, error, interrupted, or the
    agent's unknown word."""

    kind: Literal["stop"]
    stop_reason: str
    tokens: Json | None = None


class CompactionEntry(EntryBase):
    kind: Literal["compaction"]
    status: str | None = None
    summary: str | None = None
    error: str | None = None


class ElicitationEntry(EntryBase):
    kind: Literal["elicitation"]
    request_id: str
    message: str
    action: str | None = None


class PermissionEntry(EntryBase):
    kind: Literal["permission"]
    request_id: str
    title: str
    outcome: Json | None = None


class UnknownEntry(EntryBase):
    kind: Literal["unknown"]
    raw: Any


Entry = Annotated[
    UserEntry
    | AgentEntry
    | ThoughtEntry
    | ToolEntry
    | PlanEntryList
    | NoticeEntry
    | ErrorEntry
    | StopEntry
    | CompactionEntry
    | ElicitationEntry
    | PermissionEntry
    | UnknownEntry,
    Field(discriminator="kind"),
]


class PutOp(Wire):
    """`after` an id: directly behind it; null: first; absent: at the end, or in place if the id exists."""

    op: Literal["put"]
    entry: Entry
    after: str | None = None


class AppendOp(Wire):
    """An absent field starts empty."""

    op: Literal["append"]
    id: str
    field: Literal["text", "output"]
    text: str


class PatchOp(Wire):
    """Whole top-level fields; null clears."""

    op: Literal["patch"]
    id: str
    set: Json


class RemoveOp(Wire):
    op: Literal["remove"]
    id: str


Op = Annotated[PutOp | AppendOp | PatchOp | RemoveOp, Field(discriminator="op")]


class AuthMethod(Kept):
    id: str
    name: str
    description: str | None = None


AgentState = Literal["stopped", "starting", "running", "authRequired", "failed"]


class Agent(Wire):
    id: str
    name: str
    display_name: str
    description: str
    protocol: str
    source: str
    enabled: bool
    available: bool
    reason: str | None = None
    state: AgentState
    version: str | None = None
    auth_methods: list[AuthMethod] | None = None
    profiles: list[Json]


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


class PermissionOption(Kept):
    option_id: str
    name: str
    kind: str | None = None


class PermissionAction(Wire):
    """`details`: shell `{command, cwd}`, files `{paths:[{uri,path}], oldText?, newText?}`, other
    `{rawInput}`."""

    type: Literal["shell", "edit", "read", "delete", "move", "fetch", "mode", "other"]
    details: Json


class PermissionRequest(Wire):
    request_id: str
    session_id: str
    entry_id: str
    tool_call_id: str | None = None
    title: str
    action: PermissionAction
    options: list[PermissionOption]
    remember_scopes: list[str]


class ElicitationRequest(Wire):
    request_id: str
    session_id: str | None = None
    agent: str
    entry_id: str | None = None
    tool_call_id: str | None = None
    mode: Literal["form", "url"]
    message: str
    schema_: Json | None = Field(default=None, alias="schema")
    url: str | None = None
    elicitation_id: str | None = None


class PendingRequest(Wire):
    kind: Literal["permission", "elicitation"]
    request: Json


SessionState = Literal["idle", "running", "requires_action", "cancelling", "detached", "readonly"]


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


class PermissionOutcome(Wire):
    outcome: Literal["selected", "cancelled"]
    option_id: str | None = None


DecidedBy = Literal["user", "policy", "cancel", "agent", "exit"]


class LogLine(Wire):
    time: str
    stream: str
    text: str


class Hunk(Wire):
    """`hash`: first 16 hex digits of the SHA-256 of base lines, NUL, new lines. Ranges are whole lines."""

    id: str
    hash: str
    origin: Literal["agent", "shell", "unknown"]
    sessions: list[str]
    range: Range
    old_range: Range
    edited: bool


class ReviewFile(Wire):
    uri: str
    path: str
    status: Literal["added", "modified", "deleted", "renamed"]
    old_uri: str | None = None
    base: Literal["known", "unknown"]
    added: int
    removed: int
    hunks: list[Hunk]


class Skipped(Wire):
    hunk_id: str | None = None
    uri: str | None = None
    reason: str


class Checkpoint(Wire):
    id: str
    turn_id: str
    created_at: str
    files: int


class FileDiff(FileName):
    patch: str
