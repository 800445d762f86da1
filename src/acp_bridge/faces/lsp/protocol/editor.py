"""What the editor announces and is asked for, and the arguments of the `acpBridge.*` commands."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from acp_bridge.faces.lsp.protocol.agents import AgentParams
from acp_bridge.faces.lsp.protocol.base import Json, Prompt, Range, Wire


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
    range: Range | None = None


class NewThreadCommand(Wire):
    agent: str | None = None
    cwd: str | None = None
    uri: str | None = None
    range: Range | None = None


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
    prompt: Prompt | None = None


class HunkCommand(Wire):
    """One hunk by id, or every hunk of a file."""

    hunk_id: str | None = None
    uri: str | None = None


class CheckpointCommand(TargetCommand):
    checkpoint_id: str | None = None


class CommandResult(Wire):
    """As far as known at once."""

    session_id: str | None = None
    turn_id: str | None = None
    uri: str | None = None
