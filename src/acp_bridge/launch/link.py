"""The bridge's end of a guard: start it, tell it what to run, hear how the agent fares.

`start_guard` makes the pipes and the guard process; `GuardLink` speaks its side of the socket (the wire is
described in `guard`). A guard is never waited for: its socket says everything, `reap` collects it.
POSIX only: Windows has neither the signals nor the inherited socket this is built on.
"""

from __future__ import annotations

import asyncio
import marshal
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from acp_bridge.launch.process import LaunchError

_GUARD = Path(__file__).with_name("guard.py")
_REAP_INTERVAL = 0.02


@dataclass(slots=True)
class Started:
    """A running guard and the bridge's ends of everything; whoever holds it closes them."""

    guard: subprocess.Popen[bytes]
    control: socket.socket
    stdin: int
    stdout: int
    stderr: int


@dataclass(frozen=True, slots=True)
class Program:
    """What the guard executes. `path` is the resolved file, `argv[0]` the word it was called by; `grace` is
    the time in seconds between TERM and KILL when the bridge dies."""

    path: str
    argv: Sequence[str]
    cwd: str
    env: Mapping[str, str]
    grace: float

    def encoded(self) -> bytes:
        """The request as the guard reads it."""
        argv = [os.fsencode(word) for word in self.argv]
        env = {os.fsencode(name): os.fsencode(value) for name, value in self.env.items()}
        body = marshal.dumps((os.fsencode(self.path), argv, os.fsencode(self.cwd), env, self.grace))
        return len(body).to_bytes(8, "big") + body


def start_guard(label: str) -> Started:
    """Start a guard that waits for its Program. `label` is only for people who read a process list.

    Raises LaunchError. No descriptor but the guard's own four reaches it.
    """
    if sys.platform == "win32":
        raise LaunchError(
            "Agents cannot be started locally on Windows yet.", "Run acp-bridge inside WSL, with the agent."
        )
    if not sys.executable:
        raise LaunchError(
            "The Python interpreter that runs acp-bridge is unknown.", "Start acp-bridge by its full path."
        )
    with ExitStack() as undo, ExitStack() as theirs:
        try:
            stdin_read, stdin_write = os.pipe()
            theirs.callback(os.close, stdin_read)
            undo.callback(os.close, stdin_write)
            stdout_read, stdout_write = os.pipe()
            theirs.callback(os.close, stdout_write)
            undo.callback(os.close, stdout_read)
            stderr_read, stderr_write = os.pipe()
            theirs.callback(os.close, stderr_write)
            undo.callback(os.close, stderr_read)
            ours, guards = socket.socketpair()
            theirs.callback(guards.close)
            undo.callback(ours.close)
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_GUARD), str(guards.fileno()), label],
                stdin=stdin_read,
                stdout=stdout_write,
                stderr=stderr_write,
                pass_fds=[guards.fileno()],
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            raise LaunchError(
                f"The system could not start another process: {error.strerror}.",
                "Close other programs, or raise the limits on processes, memory, files (ulimit -u, -v, -n).",
            ) from error
        undo.pop_all()
        ours.setblocking(False)
        return Started(process, ours, stdin_write, stdout_read, stderr_read)


class GuardLink(asyncio.Protocol):
    """Reads the guard's reports. `started` resolves to the first one, split in words ([] if the guard ended
    without any), and `agent` is the pid from then on; later ones go to `on_report`; `on_lost` is called once,
    when the guard has ended."""

    def __init__(
        self, program: Program, on_report: Callable[[str, int], None], on_lost: Callable[[], None]
    ) -> None:
        self.started: asyncio.Future[list[str]] = asyncio.get_running_loop().create_future()
        self.agent = 0
        self._program = program
        self._on_report = on_report
        self._on_lost = on_lost
        self._partial = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self._program.encoded())

    def data_received(self, data: bytes) -> None:
        *lines, self._partial = (self._partial + data).split(b"\n")
        for line in lines:
            words = line.decode().split()
            if words[0] in ("exit", "signal"):
                self._on_report(words[0], int(words[1]))
                continue
            if words[0] == "started":
                self.agent = int(words[1])
            if not self.started.done():
                self.started.set_result(words)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.started.done():
            self.started.set_result([])
        self._on_lost()

    def stop(self, grace: float) -> None:
        """TERM to the whole tree now, KILL after `grace` seconds."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(f"stop {grace}\n".encode())

    def abandon(self, control: socket.socket) -> None:
        """Hang up without a word to anyone: the guard ends the tree on its own."""
        self._on_lost = lambda: None
        if self._transport is None:
            control.close()
        else:
            self._transport.abort()


def reap(guard: subprocess.Popen[bytes]) -> None:
    """Collect a guard that has ended or is about to, without waiting for it."""
    if guard.poll() is None:
        asyncio.get_running_loop().call_later(_REAP_INTERVAL, reap, guard)
