"""Run an agent on this machine: `launch` starts it under a guard and returns it as one pipe.

Guarantees
- argv never passes through a shell; a program that cannot be started is a LaunchError, never an exit status.
- stdout and stderr are read from the first byte to the last; stderr goes to a bounded ring and can never
  stall the agent.
- However the bridge ends, the guard ends the agent and all its descendants (see `guard` for what escapes
  outside Linux). If the guard is killed the bridge kills what it can recognise (see `leftovers`). Stopping
  an agent ends also where the agent has suspended its guard.
- Everything here runs in callbacks of the event loop that called `launch`, in any thread; no task, thread or
  signal handler is left behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path

from acp_bridge.jsonrpc.transport import Backend, Transport, open_fds
from acp_bridge.launch import command, environment, leftovers
from acp_bridge.launch.link import GuardLink, Program, Started, reap, start_guard
from acp_bridge.launch.process import LaunchError, ProcessOwner
from acp_bridge.launch.spec import LaunchSpec
from acp_bridge.launch.stderr import StderrRing

START_LIMIT = 30.0
DRAIN_LIMIT = 0.5
ORPHAN_GRACE = 2.0
GUARD_LIMIT = 12.0
"""Seconds beyond the grace after which a guard that does not end is killed; itself it gives up after ten."""
_SWEEP_INTERVAL = 0.05
_SWEEPS = 40


async def launch(
    spec: LaunchSpec,
    owner: ProcessOwner,
    *,
    backend: Backend | None = None,
    environ: Mapping[str, str] | None = None,
) -> LocalProcess:
    """Start `spec` and return it running: its program has been executed, its output goes to `owner`.

    `environ` replaces the inherited environment (`environment.inherited`) that `spec.env` lies over; a name
    in both `unset_env` and `env` keeps the value of `env`. `owner` hears nothing before the caller has
    had the process and come to its next await. Raises LaunchError; nothing is left running then, nor
    when the call is cancelled.
    """
    inherited = dict(environ) if environ is not None else await environment.inherited_async()
    mark = f"{os.getpid()}-{os.urandom(16).hex()}"
    program = _program(spec, inherited, mark)
    _write_files(spec)
    started = start_guard(spec.argv[0])
    process = LocalProcess(owner, started, program, mark)
    try:
        await process.open(backend)
    except BaseException:
        process.abandon()
        raise
    return process


class LocalProcess:
    """One running agent (AgentProcess). Made by `launch` alone."""

    transport: Transport

    def __init__(self, owner: ProcessOwner, started: Started, program: Program, mark: str) -> None:
        self._owner = owner
        self._started = started
        self._program = program
        self._mark = mark
        self._loop = asyncio.get_running_loop()
        self._link = GuardLink(program, self._reported, self._guard_lost)
        self._ring = StderrRing()
        self._stderr: asyncio.ReadTransport | None = None
        self._stdout_open = True
        self._stderr_open = True
        self._held: list[Callable[[], None]] | None = []
        self._status: tuple[int | None, str | None] | None = None
        self._exit: tuple[int | None, str | None] | None = None
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._gone: asyncio.Future[None] = self._loop.create_future()
        self._term_timer: asyncio.TimerHandle | None = None
        self._term_at: float | None = None
        self._guard_timer: asyncio.TimerHandle | None = None

    # AgentProcess

    @property
    def pid(self) -> int:
        """The agent's own process id, which is also its process group."""
        return self._link.agent

    def stderr_tail(self, lines: int = 20) -> list[str]:
        """The newest stderr lines, decoded with replacement, ANSI escapes removed."""
        return self._ring.tail(lines)

    @property
    def exit(self) -> tuple[int | None, str | None] | None:
        """(code, None) or (None, signal name) once the owner has been told."""
        return self._exit

    async def wait(self) -> tuple[int | None, str | None]:
        """The exit, once the owner has been told."""
        await asyncio.shield(self._ended)
        assert self._exit is not None
        return self._exit

    async def stop(self, grace: float = 2.0) -> None:
        """Close stdin, wait `grace` seconds, TERM, wait as long again, KILL: the whole tree.

        Returns when nothing is left and the owner has been told. May be called again, also at the same time;
        a smaller `grace` then hastens the end. Cancelling the caller does not stop the stopping.
        """
        self.transport.close_write()
        if not self._gone.done():
            self._schedule_term(grace)
        await asyncio.shield(self._gone)
        await asyncio.shield(self._ended)

    # Receiver (stdout)

    def data_received(self, data: bytes) -> None:
        if self._held is not None:
            self._held.append(lambda: self._owner.data_received(data))
        elif self._exit is None:
            self._owner.data_received(data)
            if self._status is not None:
                self.transport.resume_reading()

    def eof_received(self) -> None:
        if self._stdout_open:
            self._stdout_open = False
            self._deliver(self._owner.eof_received)
            self._settle()

    def drained(self) -> None:
        self._deliver(self._owner.drained)

    # From start to end

    async def open(self, backend: Backend | None) -> None:
        """Have the guard start the program and connect everything. Raises LaunchError."""
        await self._loop.create_connection(lambda: self._link, sock=self._started.control)
        try:
            async with asyncio.timeout(START_LIMIT):
                words = await self._link.started
        except TimeoutError:
            self._started.guard.kill()
            raise LaunchError(
                f"{self._program.argv[0]} did not start within {START_LIMIT:.0f} s.",
                f"Look whether {self._program.path} or {self._program.cwd} is on a file system that hangs.",
            ) from None
        if words[:1] == ["failed"]:
            raise command.explain(
                int(words[1]),
                words[2],
                self._program.path,
                self._program.argv,
                self._program.cwd,
                self._program.env,
            )
        if words[:1] != ["started"]:
            raise self._guard_failed()
        stderr = os.fdopen(self._take("stderr"), "rb", buffering=0)
        self._stderr, _ = await self._loop.connect_read_pipe(lambda: _Stderr(self), stderr)
        self.transport = await open_fds(self._take("stdout"), self._take("stdin"), self, backend=backend)
        self._loop.call_soon(self._release)

    def abandon(self) -> None:
        """Give up a start: the guard ends whatever it has begun."""
        self._link.abandon(self._started.control)
        for name in ("stdin", "stdout", "stderr"):
            if getattr(self._started, name) >= 0:
                os.close(self._take(name))
        if self._stderr is not None:
            self._stderr.close()
        if hasattr(self, "transport"):
            self.transport.close()
        reap(self._started.guard)

    def stderr_received(self, data: bytes) -> None:
        """Bytes from the agent's stderr, for the ring and the owner."""
        for line in self._ring.feed(data):
            self._say(line)

    def stderr_ended(self) -> None:
        """The agent's stderr is at its end."""
        if not self._stderr_open:
            return
        for line in self._ring.end():
            self._say(line)
        self._stderr_open = False
        self._settle()

    def _schedule_term(self, grace: float) -> None:
        now = self._loop.time()
        if self._term_at is not None and self._term_at <= now:
            self._terminate(grace)  # TERM is out; the guard takes the earlier time for KILL
        elif self._term_at is None or now + grace < self._term_at:
            self._term_at = now + grace
            if self._term_timer is not None:
                self._term_timer.cancel()
            self._term_timer = self._loop.call_at(self._term_at, self._terminate, grace)

    def _terminate(self, grace: float) -> None:
        """Have the guard end the tree. An agent may have stopped its guard: wake it, and do not wait long."""
        with contextlib.suppress(OSError):
            self._started.guard.send_signal(signal.SIGCONT)
        self._link.stop(grace)
        if self._guard_timer is None:
            self._guard_timer = self._loop.call_later(grace + GUARD_LIMIT, self._started.guard.kill)

    def _take(self, name: str) -> int:
        """One of our descriptors, from now on owned by the caller."""
        fd: int = getattr(self._started, name)
        setattr(self._started, name, -1)
        return fd

    def _say(self, line: str) -> None:
        self._deliver(lambda: self._owner.stderr_line(line))

    def _deliver(self, callback: Callable[[], None]) -> None:
        if self._held is not None:
            self._held.append(callback)
        elif self._exit is None:
            callback()

    def _release(self) -> None:
        """The caller of `launch` has its process: tell what has happened meanwhile, then what happens."""
        for callback in self._held or []:
            try:
                callback()
            except Exception as error:
                self._loop.call_exception_handler(
                    {"message": "owner of an agent process failed", "exception": error}
                )
        self._held = None
        if self._status is not None:
            self._drain()

    def _reported(self, word: str, number: int) -> None:
        self._died((number, None) if word == "exit" else (None, _signal_name(number)))

    def _died(self, status: tuple[int | None, str | None]) -> None:
        self._status = status
        if self._held is None:
            self._drain()

    def _drain(self) -> None:
        """The agent has ended; its last words may still lie in the pipes. Nobody needs protection from the
        little that is left, so a paused stdout is read on."""
        if self._stdout_open:
            self.transport.resume_reading()
        self._loop.call_later(DRAIN_LIMIT, self._cut_off)
        self._settle()

    def _cut_off(self) -> None:
        """Something else holds the pipes open: end them from our side."""
        self.stderr_ended()
        self.eof_received()

    def _settle(self) -> None:
        """Tell the owner of the end once everything before it has been told."""
        if self._status is None or self._exit is not None or self._held is not None:
            return
        if self._stdout_open or self._stderr_open:
            return
        self._exit = self._status
        self.transport.close()
        if self._stderr is not None:
            self._stderr.close()
        try:
            self._owner.exited(*self._exit)
        finally:
            if not self._ended.done():
                self._ended.set_result(None)

    def _guard_lost(self) -> None:
        reap(self._started.guard)
        if self.pid and self._status is None:
            self._ring.note("acp-bridge: the guard of this agent was killed, so the agent was ended too.")
            self._sweep(_SWEEPS)
            return
        self._all_gone()

    def _sweep(self, remaining: int) -> None:
        """The guard was killed: kill what belonged to the agent until nothing is found any more."""
        if leftovers.kill(self._mark, self.pid) and remaining:
            self._loop.call_later(_SWEEP_INTERVAL, self._sweep, remaining - 1)
            return
        self._all_gone()
        self._died((None, "SIGKILL"))

    def _all_gone(self) -> None:
        for timer in (self._term_timer, self._guard_timer):
            if timer is not None:
                timer.cancel()
        if not self._gone.done():
            self._gone.set_result(None)

    def _guard_failed(self) -> LaunchError:
        leftovers.kill(self._mark, None)
        os.set_blocking(self._started.stderr, False)
        try:
            said = os.read(self._started.stderr, 65536).decode("utf-8", "replace")
        except BlockingIOError:
            said = ""
        last = next((line for line in reversed(said.split("\n")) if line.strip()), "it said nothing")
        return LaunchError(
            f"The process that watches over {self._program.argv[0]} could not run: {last}",
            "Check that the Python that runs acp-bridge is whole; reinstall acp-bridge if not.",
        )


class _Stderr(asyncio.Protocol):
    def __init__(self, process: LocalProcess) -> None:
        self._process = process

    def data_received(self, data: bytes) -> None:
        self._process.stderr_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._process.stderr_ended()


def _program(spec: LaunchSpec, inherited: Mapping[str, str], mark: str) -> Program:
    """The spec made exact: the environment laid over, the command found. Raises LaunchError."""
    if not spec.argv:
        raise LaunchError("The agent has no command.", "Give it a program to run in `command`.")
    env = {name: value for name, value in inherited.items() if name not in spec.unset_env}
    env.update(spec.env)
    env[leftovers.MARK] = mark
    for name, value in env.items():
        if not name or "=" in name or "\0" in name:
            raise LaunchError(
                f"{name!r} cannot be the name of an environment variable.", "Correct the agent's `env`."
            )
        if "\0" in value:
            raise LaunchError(
                f"The environment variable {name} contains a NUL character.", "Correct the agent's `env`."
            )
    for place, word in enumerate(spec.argv):
        if "\0" in word:
            raise LaunchError(
                f"Argument {place} of the agent's command contains a NUL character.", "Correct its `command`."
            )
    command.check_folder(spec.cwd)
    path = command.resolve(spec.argv[0], spec.cwd, env)
    return Program(path, spec.argv, spec.cwd, env, ORPHAN_GRACE)


def _write_files(spec: LaunchSpec) -> None:
    """Write the spec's files, readable by the user alone, each complete or not at all. Raises LaunchError."""
    for name, text in spec.files.items():
        path = Path(spec.cwd, name)
        draft = path.with_name(f".{path.name}.{os.urandom(16).hex()}")
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(fd, "wb") as file:
                file.write(text.encode("utf-8", "surrogateescape"))
            draft.replace(path)
        except OSError as error:
            with contextlib.suppress(OSError):
                draft.unlink()
            raise LaunchError(
                f"The file {path}, which the agent needs, cannot be written: {error.strerror}.",
                "Check its folder and permissions.",
            ) from error


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"
