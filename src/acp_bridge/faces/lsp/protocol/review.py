"""Review, checkpoints and terminals: answered `unsupported` until the bridge keeps them."""

from __future__ import annotations

from typing import Literal

from acp_bridge.faces.lsp.protocol.base import FileName, Json, Range, Wire
from acp_bridge.faces.lsp.protocol.sessions import SessionParams


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


class ReviewListParams(Wire):
    session_id: str | None = None
    uri: str | None = None


class ReviewState(Wire):
    epoch: str
    rev: int
    files: list[ReviewFile]


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
    skipped: list[Skipped]


class UriParams(Wire):
    uri: str


class ReviewText(Wire):
    base: str | None
    now: str


class CheckpointParams(SessionParams):
    checkpoint_id: str | None = None


class CheckpointList(Wire):
    checkpoints: list[Checkpoint]


class CheckpointRestored(Wire):
    """`checkpoint_id` is of the state before."""

    checkpoint_id: str
    restored: list[str]
    skipped: list[Skipped]


class CheckpointDiff(Wire):
    files: list[FileDiff]


class TerminalParams(Wire):
    terminal_id: str


class TerminalState(Wire):
    output: str
    truncated: bool
    exit_status: Json | None = None


class TerminalChanged(Wire):
    terminal_id: str
    append: str
    exit_status: Json | None = None
