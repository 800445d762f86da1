"""What agents say, in one language whatever they speak: small Structs shaped like ACP v2.

Upserts by id plus a turn state machine. ACP v1 and every other dialect map *up* to this; what does not fit
arrives as `Unknown` with its raw form and is shown in a generic way. JSON-shaped values (content blocks,
options, commands) stay dicts in ACP v1 wire spelling, unknown fields and all.

UNSET means "not said", None means "cleared" (v2's three states); v1 codecs turn null into UNSET.
Paths are absolute host paths, `line` in locations is 1-based as on the wire. Source: ACP schema v1 and v2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol

from msgspec import UNSET, Struct, UnsetType

Json = dict[str, Any]
Role = Literal["user", "agent"]


class Event(Struct, kw_only=True, gc=False):
    """Base of all events; `parent` is the tool call id of the subagent that said it."""

    parent: str | None = None


class MessageChunk(Event):
    """Text (or one non-text content block) to append to a message.

    The same `message_id` is the same message; None groups by run of one role.
    """

    role: Role
    text: str = ""
    block: Json | None = None
    message_id: str | None = None


class Message(Event):
    """Upsert of a whole message (v2): UNSET keeps, None or [] clears, a list replaces."""

    role: Role | Literal["thought"]
    message_id: str
    content: list[Json] | UnsetType | None = UNSET


class ThoughtChunk(Event):
    """Reasoning text to append."""

    text: str
    message_id: str | None = None


class ToolCall(Event):
    """Upsert of a tool call by id: the first sight creates it, whatever came first.

    `name` is the machine's word (policy goes by it), `title` what a person reads. `content` and `locations`
    replace the whole list. Statuses: pending, in_progress, completed, failed, cancelled, or an unknown word.
    `announced` marks the wire form that opens a call (v1 `tool_call`): after a finished call of the same id
    it means another call, where an update never reopens one.
    """

    id: str
    announced: bool = False
    name: str | UnsetType | None = UNSET
    title: str | UnsetType | None = UNSET
    kind: str | UnsetType | None = UNSET
    status: str | UnsetType | None = UNSET
    content: list[Json] | UnsetType | None = UNSET
    locations: list[Json] | UnsetType | None = UNSET
    raw_input: Any = UNSET
    raw_output: Any = UNSET
    meta: Any = UNSET


class ToolContent(Event):
    """One content item to append to a tool call (v2)."""

    tool_call_id: str
    item: Json


class ToolOutput(Event):
    """Text a tool printed, to append to its output (terminal display forms, Codex outputDelta)."""

    tool_call_id: str
    text: str


class Diff(Event):
    """A change to files outside a tool call's content (Codex turn/diff): texts where known, else a patch."""

    path: str | None = None
    old_text: str | None = None
    new_text: str | None = None
    changes: list[Json] | None = None
    patch: str | None = None


class Plan(Event):
    """A whole plan, replacing the one of the same id. `entries` as in ACP v1."""

    entries: list[Json]
    plan_id: str = "plan"
    content: str | None = None
    uri: str | None = None


class PlanRemoved(Event):
    """A plan is no longer shown."""

    plan_id: str


class Usage(Event):
    """Context window now (tokens) and cumulative cost `{amount, currency}`; overwrite, never add.

    `tokens` holds the agent's own breakdown under the names of ACP `usage`.
    """

    used: int | None = None
    size: int | None = None
    cost: Json | None = None
    tokens: Json | None = None


class Commands(Event):
    """The whole list of slash commands, as in ACP v1."""

    commands: list[Json]


class ConfigOptions(Event):
    """The whole list of config options, as in ACP v1; legacy modes and models are folded in."""

    options: list[Json]


class SessionInfo(Event):
    """What the agent says of the session; `native_session_id` is its resume token."""

    title: str | UnsetType | None = UNSET
    updated_at: str | UnsetType | None = UNSET
    native_session_id: str | UnsetType = UNSET
    meta: Any = UNSET


class Notice(Event):
    """Something for the user to read now; changes no state."""

    severity: str
    title: str
    description: str | None = None


class Compaction(Event):
    """One row about the agent compacting its context; UNSET keeps."""

    compaction_id: str
    status: str | UnsetType = UNSET
    summary: str | UnsetType | None = UNSET
    summary_append: str | None = None
    error: str | UnsetType | None = UNSET


class Progress(Event):
    """How far the agent says it is; percent 0 to 100. Changes no entry."""

    percent: float | None = None
    message: str | None = None


class Log(Event):
    """A line for the agent's log. Changes no entry."""

    level: str
    text: str


class Error(Event):
    """Something failed; `terminal` errors end the turn (a TurnState still follows)."""

    message: str
    details: str | None = None
    hint: str | None = None
    terminal: bool = False


class AuthStatus(Event):
    """What the agent says about being logged in."""

    authenticated: bool | None = None
    message: str | None = None


class TurnState(Event):
    """running | requires_action | idle. Idle carries the stop reason and ends the turn.

    `error` (an Error) accompanies stop_reason "error"; `auth_required` marks a prompt refused for want of a
    log-in; `tokens` is the usage of the turn where the agent tells it.
    """

    state: Literal["running", "requires_action", "idle"]
    stop_reason: str | None = None
    error: Error | None = None
    auth_required: bool = False
    tokens: Json | None = None


class TerminalOutput(Event):
    """Output of a terminal the agent owns: `data` appends (or replaces, if `snapshot`)."""

    terminal_id: str
    data: str = ""
    snapshot: bool = False
    command: str | None = None
    cwd: str | None = None
    exit_status: Json | None = None


class Unknown(Event):
    """A kind this version does not know, kept raw."""

    kind: str
    raw: Any


class Reply(Protocol):
    """How a request is answered, exactly once; later answers return False and send nothing."""

    def answer(self, result: Any) -> bool: ...
    def fail(self, code: int, message: str, data: Any = None) -> bool: ...
    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Run `callback` when the agent withdraws the request (at once if it already has)."""
        ...


class Request(Struct, kw_only=True):
    """Base of what an agent asks of us. Travels in the session's order like every other event."""

    id: str
    reply: Reply
    parent: str | None = None


class PermissionRequest(Request):
    """May I? `tool_call` is the update that came with it (None if the dialect has none).

    `options` are `{optionId, name, kind?}` in the agent's order. Answer with `{"outcome": "selected",
    "optionId": …}` or `{"outcome": "cancelled"}`; the dialect puts it in its own form.
    """

    options: list[Json]
    tool_call: ToolCall | None = None
    title: str | None = None
    command: Json | None = None


class ElicitationRequest(Request):
    """A question to the user. Answer `{"action": accept|decline|cancel, "content"?}`."""

    mode: str
    message: str
    schema: Json | None = None
    url: str | None = None
    elicitation_id: str | None = None
    tool_call_id: str | None = None


class ReadFile(Request):
    """Answer with the text (str). `line` is 1-based, `limit` in lines."""

    path: str
    line: int | None = None
    limit: int | None = None


class WriteFile(Request):
    """Answer with None once the text is where the user will find it."""

    path: str
    content: str


class TerminalRequest(Request):
    """terminal/* of ACP v1: `method` is the last word, `params` the wire params."""

    method: Literal["create", "output", "wait_for_exit", "kill", "release"]
    params: Json


class ExtensionRequest(Request):
    """Any other request; a host that does not know it fails it with -32601."""

    method: str
    params: Any


AnyEvent = Event | Request
