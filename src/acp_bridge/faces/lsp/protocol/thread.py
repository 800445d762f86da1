"""A thread: its entries, the ops that change them, the messages that carry them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypeAliasType

from acp_bridge.faces.lsp.protocol.base import ContentBlock, Json, Kept, Location, Wire


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


ToolContent = TypeAliasType(
    "ToolContent", Annotated[ToolText | ToolBlock | ToolDiff | ToolTerminal, Field(discriminator="type")]
)


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


Entry = TypeAliasType(
    "Entry",
    Annotated[
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
    ],
)


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


Op = TypeAliasType("Op", Annotated[PutOp | AppendOp | PatchOp | RemoveOp, Field(discriminator="op")])


class ThreadState(Wire):
    epoch: str
    rev: int
    entries: list[Entry]


class ThreadChanged(Wire):
    """Leads from `from_rev` to `rev`; ignore it when `rev` is not above your own, fetch when `from_rev` is
    above your own or `epoch` differs."""

    session_id: str
    epoch: str
    from_rev: int
    rev: int
    ops: list[Op]


class ThreadPage(Wire):
    """`ops` where the log reaches back to `sinceRev`, else `entries` (the newest `limit`)."""

    epoch: str
    rev: int
    ops: list[Op] | None = None
    entries: list[Entry] | None = None
    prev_cursor: str | None = None
