"""A launched agent as one pipe; implemented by `launch.local` (docker, ssh, … fit beside it)."""

from __future__ import annotations

from typing import Protocol

from acp_bridge.jsonrpc.transport import Transport


class LaunchError(Exception):
    """The program could not be started: `message` names it, `hint` says what to try."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ProcessOwner(Protocol):
    """Gets the agent's bytes and its end. Called on the event loop, in this order:
    data_received…, eof_received, exited (once, after stdout and stderr are drained or 0.5 s later)."""

    def data_received(self, data: bytes) -> None: ...
    def eof_received(self) -> None: ...
    def drained(self) -> None: ...
    def stderr_line(self, line: str) -> None: ...
    def exited(self, code: int | None, signal: str | None) -> None: ...


class AgentProcess(Protocol):
    """One running program under the guard. `transport` is its stdin and stdout."""

    transport: Transport

    @property
    def pid(self) -> int: ...
    def stderr_tail(self, lines: int = 20) -> list[str]:
        """The newest stderr lines, decoded with replacement, ANSI escapes removed."""
        ...

    @property
    def exit(self) -> tuple[int | None, str | None] | None:
        """(code, None) or (None, signal name) once it has ended."""
        ...

    async def wait(self) -> tuple[int | None, str | None]: ...
    async def stop(self, grace: float = 2.0) -> None:
        """Close stdin, wait `grace`, TERM, wait, KILL: the whole tree. Returns when nothing is left."""
        ...
