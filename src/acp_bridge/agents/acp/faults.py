"""What an ACP agent's refusals, odd answers and death mean, in words for the user. No I/O."""

from __future__ import annotations

import shlex
from typing import Any

from acp_bridge.agents.acp import lenient
from acp_bridge.agents.agent import AgentError, Exit
from acp_bridge.agents.events import Error, Json, TurnState
from acp_bridge.config.server import AgentServer
from acp_bridge.jsonrpc.messages import (
    AUTH_REQUIRED,
    METHOD_NOT_FOUND,
    REQUEST_CANCELLED,
    Answer,
    ConnectionClosed,
    RpcError,
    dumps,
)

_TEXT_KEYS = ("details", "detail", "message", "error", "reason")
_DETAIL_LIMIT = 4000
_MANY_NEED = "Many agents need a word such as `acp` or a flag such as `--acp`"


def describe(error: RpcError) -> tuple[str, str]:
    """(message, detail) of an agent's error. Where its message says little more than "Internal error", the
    text agents put into `data` is added to it; the detail holds the code and the whole of `data`."""
    extra = _text_in(error.data)
    message = error.message.strip() or f"error {error.code}"
    if extra and extra not in message:
        message = f"{message}: {extra}"
    detail = f"code {error.code}"
    if error.data is not None:
        detail = f"{detail}, data {dumps(error.data).decode()}"
    return message[:_DETAIL_LIMIT], detail[:_DETAIL_LIMIT]


def _text_in(data: Any) -> str:
    if isinstance(data, str):
        return data.strip()
    if isinstance(data, dict):
        return next((data[key].strip() for key in _TEXT_KEYS if isinstance(data.get(key), str)), "")
    return ""


def of_call(label: str, method: str, error: RpcError, methods: list[Json]) -> AgentError:
    """The AgentError of a call the agent answered with an error."""
    message, detail = describe(error)
    if error.code == AUTH_REQUIRED:
        return AgentError("authRequired", message, hint=login_hint(methods), detail=detail, code=error.code)
    if error.code == METHOD_NOT_FOUND:
        return AgentError(
            "unsupported",
            f"{label} does not know {method}",
            hint="A newer version of the agent may.",
            detail=detail,
            code=error.code,
        )
    hint = "The log of the agent may say more; `acp-bridge doctor` looks at how it is started."
    return AgentError("internal", f"{label}: {message}", hint=hint, detail=detail, code=error.code)


def login_hint(methods: list[Json]) -> str:
    """How to log in, as far as the agent told."""
    names = ", ".join(f"{method['name']} ({method['id']})" for method in methods)
    return f"Log in with: {names}." if names else "Log in with the agent's own command, then try again."


def check_auth_method(server: AgentServer, method_id: str, methods: list[Json]) -> None:
    """Raises AgentError for a log-in that must not be called: one that needs a terminal, or of a type that
    is not known. A method the agent did not list is its own to judge; `env_var` is how older agents wrote it.
    """
    method: Json = next((method for method in methods if method["id"] == method_id), {})
    kind = method.get("type")
    if kind in (None, "agent", "env_var"):
        return
    if kind == "terminal":
        given = lenient.strings_in(method, "args")
        command = shlex.join([*server.cmd, *given])
        hint = f"Run this in a terminal, then restart {server.label}: {command}"
        raise AgentError(
            "unsupported", f"The log-in {method_id!r} of {server.label} needs a terminal", hint=hint
        )
    raise AgentError(
        "unsupported",
        f"The log-in {method_id!r} of {server.label} is of the unknown type {kind!r}",
        hint=f"Log in with {server.label}'s own command, then restart it.",
    )


def of_death(label: str, exit: Exit) -> AgentError:
    """A call was pending, or made, when the agent was gone."""
    hint = "Try again: a new prompt starts it anew. `acp-bridge doctor` looks at how it is started."
    return AgentError("agentDied", f"{label} {exit.describe()}", hint=hint, detail="\n".join(exit.stderr))


def of_early_death(label: str, command: str, exit: Exit) -> AgentError:
    """It was gone before it had said a word."""
    message = f"{label} {exit.describe()} before it said anything"
    hint = f"Run it in a terminal to see why: {command}. {_MANY_NEED}."
    return AgentError("agentDied", message, hint=hint, detail="\n".join(exit.stderr))


def no_acp(label: str, command: str, why: str, *, noise: str = "", exit: Exit | None = None) -> AgentError:
    """The program runs, or ran, but is no ACP agent as it was started."""
    lines = [f"It printed: {noise}"] if noise else []
    lines += exit.stderr if exit is not None else []
    return AgentError(
        "agentSpeaksNoAcp",
        f"{label} speaks no ACP: {why}",
        hint=f"Check that the command starts it as an ACP agent. {_MANY_NEED}. The command was: {command}",
        detail="\n".join(lines),
    )


def turn_end(answer: Answer, *, cancelled: bool, methods: list[Json]) -> TurnState | None:
    """What the answer to session/prompt makes of the turn; None if the agent is gone (its owner ends it).

    An answer without a stop reason still says that the turn is over, and no more: it counts as end_turn."""
    if isinstance(answer.error, ConnectionClosed):
        return None
    if answer.error is not None:
        return _failed_turn(answer.error, cancelled, methods)
    try:
        result = answer.value()
    except ValueError:
        result = None
    result = result if isinstance(result, dict) else {}
    reason = lenient.text_or_none(result, "stopReason") or ("cancelled" if cancelled else "end_turn")
    return TurnState(state="idle", stop_reason=reason, tokens=lenient.obj(result, "usage") or None)


def _failed_turn(error: RpcError, cancelled: bool, methods: list[Json]) -> TurnState:
    if cancelled or error.code == REQUEST_CANCELLED:
        return TurnState(state="idle", stop_reason="cancelled")
    message, detail = describe(error)
    login = error.code == AUTH_REQUIRED
    hint = login_hint(methods) if login else "Send the prompt again; the log of the agent may say more."
    shown = Error(message=message, details=detail, hint=hint, terminal=True)
    return TurnState(state="idle", stop_reason="error", error=shown, auth_required=login)
