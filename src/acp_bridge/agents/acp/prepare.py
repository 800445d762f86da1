"""From a server entry to what is needed to start it; pure: reads no file and no environment."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from acp_bridge.agents.acp.lenient import is_absolute
from acp_bridge.agents.agent import AgentError
from acp_bridge.agents.events import Json
from acp_bridge.config.server import AgentServer
from acp_bridge.launch.spec import LaunchSpec

_WORKSPACE = "{workspace}"
_MODEL = "{model}"


def prepare(
    server: AgentServer,
    *,
    cwd: str,
    mcp_servers: Sequence[Json] = (),
    model: str | None = None,
    resume_token: str | None = None,
    settings: Mapping[str, Any] | None = None,
) -> LaunchSpec:
    """How `server` is started for workspace `cwd` (absolute).

    `mcp_servers` and `resume_token` travel over the protocol (session/new, session/load), never on an ACP
    agent's command line. Raises AgentError("config") naming the entry and the field.
    """
    if server.image:
        raise _config(
            server, "image", "agents in containers are not started by this version", "Set cmd instead."
        )
    if not server.cmd:
        raise _config(
            server,
            "cmd",
            "agent type requires either image (Docker) or cmd (standalone)",
            "Give the entry a command to run.",
        )
    words = [word.replace(_WORKSPACE, cwd) for word in server.cmd]
    argv = (*words, *_model_words(server, model), *_workspace_words(server, words, cwd))
    return LaunchSpec(argv=argv, cwd=_folder(server, cwd), env=dict(server.env))


def _model_words(server: AgentServer, model: str | None) -> list[str]:
    if not server.model_flag:
        return []
    if _MODEL not in server.model_flag:
        raise _config(server, "model_flag", f"holds no {_MODEL}", f"Write it like: --model {_MODEL}")
    if not model:
        return []
    try:
        words = _split(server.model_flag)
    except ValueError as error:
        raise _config(
            server, "model_flag", f"cannot be split into words: {error}", "Check its quotes."
        ) from None
    return [word.replace(_MODEL, model) for word in words]


def _split(flag: str) -> list[str]:
    """The words of a flag. Quotes keep blanks together and stay: `-c model="{model}"` sets a quoted value."""
    lexer = shlex.shlex(flag, posix=False, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    return list(lexer)


def _workspace_words(server: AgentServer, words: Sequence[str], cwd: str) -> list[str]:
    flag = server.workspace_flag
    if not flag or flag in words or any(word.startswith(f"{flag}=") for word in words):
        return []
    return [flag, cwd]


def _folder(server: AgentServer, cwd: str) -> str:
    folder = server.working_dir.replace(_WORKSPACE, cwd) or cwd
    if not is_absolute(folder):
        raise _config(
            server,
            "working_dir",
            f"{folder!r} is not an absolute path",
            f"Write it from / or with {_WORKSPACE}.",
        )
    return folder


def _config(server: AgentServer, field: str, what: str, hint: str) -> AgentError:
    where = f" in {server.file}" if server.file else ""
    return AgentError("config", f"Agent {server.id!r}{where}, {field}: {what}", hint=hint)
