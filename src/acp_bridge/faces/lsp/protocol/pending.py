"""What waits for the user: permissions and elicitations."""

from __future__ import annotations

from typing import Literal

from pydantic import Field
from typing_extensions import TypeAliasType

from acp_bridge.faces.lsp.protocol.base import Json, Kept, Wire


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
    """`outside_roots`: a file it names lies outside the session's folders."""

    request_id: str
    session_id: str
    entry_id: str
    tool_call_id: str | None = None
    title: str
    action: PermissionAction
    options: list[PermissionOption]
    remember_scopes: list[str]
    outside_roots: bool = False


class PermissionOutcome(Wire):
    outcome: Literal["selected", "cancelled"]
    option_id: str | None = None


DecidedBy = TypeAliasType("DecidedBy", Literal["user", "policy", "cancel", "agent", "exit"])


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


class PermissionAnswerParams(Wire):
    """`option_id` null cancels the turn; `remember` is the bridge's policy only."""

    request_id: str
    option_id: str | None
    remember: Literal["session", "workspace"] | None = None


class PermissionAnswered(Wire):
    accepted: bool
    outcome: PermissionOutcome
    by: DecidedBy


class ElicitationAnswerParams(Wire):
    request_id: str
    action: Literal["accept", "decline", "cancel"]
    content: Json | None = None


class ElicitationAnswered(Wire):
    accepted: bool
    by: str


class PermissionRequested(Wire):
    request: PermissionRequest


class PermissionResolved(Wire):
    request_id: str
    outcome: PermissionOutcome
    by: DecidedBy


class ElicitationRequested(Wire):
    request: ElicitationRequest


class ElicitationResolved(Wire):
    request_id: str
    action: str
    by: str
