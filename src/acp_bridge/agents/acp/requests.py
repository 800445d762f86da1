"""What an ACP agent asks of us: v1 calls to `Request` events, and our answers back to the wire.

Parameters are checked before anyone sees them: what is missing or makes no sense is answered -32602 naming
the parameter; a method whose capability we did not announce is answered -32601. Only `params` count, never
`_meta`. A method not listed in METHODS becomes an ExtensionRequest. No I/O.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from acp_bridge.agents.acp import lenient
from acp_bridge.agents.acp.tools import tool_call
from acp_bridge.agents.events import (
    ElicitationRequest,
    ExtensionRequest,
    Json,
    PermissionRequest,
    ReadFile,
    Request,
    TerminalRequest,
    WriteFile,
)
from acp_bridge.jsonrpc.messages import INVALID_PARAMS, METHOD_NOT_FOUND, RpcError
from acp_bridge.jsonrpc.peer import IncomingCall


@dataclass(frozen=True, slots=True)
class Served:
    """The client capabilities announced to this agent, which gate what it may call."""

    read: bool = True
    write: bool = True
    terminal: bool = False
    elicitation: frozenset[str] = frozenset()

    def as_json(self) -> Json:
        """`clientCapabilities` of initialize."""
        capabilities: Json = {
            "fs": {"readTextFile": self.read, "writeTextFile": self.write},
            "terminal": self.terminal,
            "session": {"configOptions": {"boolean": {}}, "compaction": {}, "notices": {}},
            "plan": {},
        }
        if self.elicitation:
            capabilities["elicitation"] = {mode: {} for mode in sorted(self.elicitation)}
        return capabilities


class WireReply:
    """A `Reply` that puts the host's answer into the method's own result shape."""

    def __init__(self, call: IncomingCall, shape: Callable[[Any], Any]) -> None:
        self._call = call
        self._shape = shape

    def answer(self, result: Any) -> bool:
        return self._call.answer(self._shape(result))

    def fail(self, code: int, message: str, data: Any = None) -> bool:
        return self._call.fail(code, message, data)

    def on_cancel(self, callback: Callable[[], None]) -> None:
        self._call.on_cancel(callback)


def read(call: IncomingCall, params: Any, request_id: str, served: Served) -> tuple[str | None, Request]:
    """(session id, request) for an incoming call. Raises RpcError, the answer to give instead."""
    method = METHODS.get(call.method)
    if method is None:
        session_id = lenient.text_or_none(params, "sessionId") if isinstance(params, dict) else None
        reply = WireReply(call, _as_is)
        return session_id, ExtensionRequest(id=request_id, reply=reply, method=call.method, params=params)
    if not method.gate(served):
        raise RpcError(METHOD_NOT_FOUND, f"{call.method}: this client did not announce it")
    if not isinstance(params, dict):
        raise _bad("params", "must be an object")
    if method.in_session:
        _string(params, "sessionId")
    request = method.read(params, request_id, WireReply(call, method.shape))
    return lenient.text_or_none(params, "sessionId"), request


def _bad(parameter: str, what: str) -> RpcError:
    return RpcError(INVALID_PARAMS, f"{parameter} {what}", {"param": parameter})


def _string(params: Json, name: str) -> str:
    value = params.get(name)
    if isinstance(value, str) and (value or name == "content"):
        return value
    raise _bad(name, "is missing" if value in (None, "") else "must be a string")


def _path(params: Json) -> str:
    path = _string(params, "path")
    if path.startswith("file:"):
        raise _bad("path", f"must be a plain path, not a URI: {path}")
    if "\0" in path:
        raise _bad("path", "holds a NUL character")
    if not lenient.is_absolute(path):
        raise _bad("path", f"must be absolute: {path}")
    return path


def _count(params: Json, name: str) -> int | None:
    value = params.get(name)
    if value is None:
        return None
    number = lenient.number(params, name)
    if number is None:
        raise _bad(name, f"must be a whole number >= 0, not {value!r}")
    return number


def _permission(params: Json, request_id: str, reply: WireReply) -> Request:
    if not isinstance(params.get("options"), list):
        raise _bad("options", "must be a list")
    options = lenient.kept(lenient.objects(params, "options") or [], _option)
    if not options:
        raise _bad("options", "holds no option that could be chosen")
    update = lenient.obj(params, "toolCall")
    call = tool_call(update, announced=False, fallback_id=f"permission-{request_id}") if update else None
    title = lenient.text_or_none(params, "title") or lenient.text_or_none(update, "title")
    return PermissionRequest(id=request_id, reply=reply, options=options, tool_call=call, title=title)


def _option(option: Json) -> Json | None:
    if not lenient.strings(option, "optionId"):
        return None
    cleaned = {**option, "name": lenient.text_or_none(option, "name") or option["optionId"]}
    if not lenient.strings(option, "kind"):
        cleaned.pop("kind", None)
    return cleaned


def _read_file(params: Json, request_id: str, reply: WireReply) -> Request:
    line, limit = _count(params, "line"), _count(params, "limit")
    first = None if line is None else max(line, 1)
    return ReadFile(id=request_id, reply=reply, path=_path(params), line=first, limit=limit)


def _write_file(params: Json, request_id: str, reply: WireReply) -> Request:
    return WriteFile(id=request_id, reply=reply, path=_path(params), content=_string(params, "content"))


def _terminal(
    method: Literal["create", "output", "wait_for_exit", "kill", "release"],
) -> Callable[[Json, str, WireReply], Request]:
    def reader(params: Json, request_id: str, reply: WireReply) -> Request:
        _string(params, "command" if method == "create" else "terminalId")
        return TerminalRequest(id=request_id, reply=reply, method=method, params=params)

    return reader


def _elicitation(params: Json, request_id: str, reply: WireReply) -> Request:
    return ElicitationRequest(
        id=request_id,
        reply=reply,
        mode=_string(params, "mode"),
        message=_string(params, "message"),
        schema=lenient.obj(params, "requestedSchema") or None,
        url=lenient.text_or_none(params, "url"),
        elicitation_id=lenient.text_or_none(params, "elicitationId"),
        tool_call_id=lenient.text_or_none(params, "toolCallId"),
    )


def _as_is(result: Any) -> Any:
    return result


def _empty(result: Any) -> Json:
    return {}


@dataclass(frozen=True, slots=True)
class _Method:
    read: Callable[[Json, str, WireReply], Request]
    shape: Callable[[Any], Any] = _as_is
    gate: Callable[[Served], bool] = lambda served: True
    in_session: bool = True


METHODS: dict[str, _Method] = {
    "session/request_permission": _Method(_permission, shape=lambda outcome: {"outcome": outcome}),
    "fs/read_text_file": _Method(
        _read_file, shape=lambda text: {"content": text}, gate=lambda served: served.read
    ),
    "fs/write_text_file": _Method(_write_file, shape=_empty, gate=lambda served: served.write),
    "terminal/create": _Method(_terminal("create"), gate=lambda served: served.terminal),
    "terminal/output": _Method(_terminal("output"), gate=lambda served: served.terminal),
    "terminal/wait_for_exit": _Method(_terminal("wait_for_exit"), gate=lambda served: served.terminal),
    "terminal/kill": _Method(_terminal("kill"), gate=lambda served: served.terminal),
    "terminal/release": _Method(_terminal("release"), gate=lambda served: served.terminal),
    "elicitation/create": _Method(
        _elicitation, gate=lambda served: bool(served.elicitation), in_session=False
    ),
}
