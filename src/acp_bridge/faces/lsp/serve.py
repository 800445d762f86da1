"""Answer one request: run what it asks, at once or later, and turn whatever goes wrong into its error.

A handler returns the result, or a coroutine of it: that is awaited and answered without a step in between, so
what the host promises to say only later comes later. A request that the editor cancels is answered -32800 and
its coroutine cancelled.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Coroutine
from typing import Any

import anyio

from acp_bridge.host.errors import HostError
from acp_bridge.jsonrpc.messages import INTERNAL_ERROR, REQUEST_CANCELLED, ConnectionClosed, RpcError
from acp_bridge.jsonrpc.peer import IncomingCall

log = logging.getLogger(__name__)
Spawn = Callable[[Callable[[], Coroutine[Any, Any, None]]], None]


def serve(call: IncomingCall, work: Callable[[], Any], spawn: Spawn) -> None:
    """Answer `call` with what `work()` gives."""
    try:
        outcome = work()
    except Exception as error:
        fail(call, error)
        return
    if inspect.iscoroutine(outcome):
        spawn(lambda: _later(call, outcome))
    else:
        call.answer(outcome)


async def _later(call: IncomingCall, outcome: Coroutine[Any, Any, Any]) -> None:
    scope = anyio.CancelScope()
    call.on_cancel(scope.cancel)
    try:
        with scope:
            call.answer(await outcome)
    except Exception as error:
        fail(call, error)
    if scope.cancelled_caught:
        call.fail(REQUEST_CANCELLED, f"{call.method} was cancelled")


def fail(call: IncomingCall, error: Exception) -> None:
    """Answer with the error; what is nobody's expected error is logged with its traceback."""
    known = as_rpc(error)
    if known is None:
        log.error("%s failed", call.method, exc_info=error)
        known = RpcError(
            INTERNAL_ERROR,
            f"{call.method} failed: {type(error).__name__}: {error}",
            {"kind": "internal", "hint": "the log of acp-bridge (stderr) says more"},
        )
    call.fail(known.code, known.message, known.data)


def as_rpc(error: Exception) -> RpcError | None:
    """The wire form of an error that is meant to be told, None for any other."""
    if isinstance(error, RpcError):
        return error
    if isinstance(error, HostError):
        return error.as_rpc()
    if isinstance(error, ConnectionClosed):
        return RpcError(INTERNAL_ERROR, error.reason)
    return None
