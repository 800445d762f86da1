"""`AcpAgent`: one running ACP v1 agent program behind the `Agent` interface.

Thin: bytes come from launch.local, messages from jsonrpc.Peer, meaning from this package's codec (`chunks`,
`updates`, `requests`, `handshake`, `faults`). What is here is order and life:
- whatever the agent says reaches the client in wire order, the answers to our calls included: their effects
  are applied in the peer's own callback, and text gathered so far is handed over before anything else;
- a call that is pending when the program ends raises AgentError("agentDied") at once, with its last words;
- nothing here times a call out; `close` ends everything.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from msgspec import Raw

from acp_bridge.agents.acp import faults, handshake, lenient, requests, sessions, updates
from acp_bridge.agents.acp.chunks import ChunkRun
from acp_bridge.agents.acp.options import SessionOptions
from acp_bridge.agents.acp.prepare import prepare
from acp_bridge.agents.agent import AgentError, AgentInfo, Capabilities, Client, Exit, SessionParams
from acp_bridge.agents.events import AuthStatus, ConfigOptions, Json, Log, Notice, TurnState, Unknown
from acp_bridge.config.server import AgentServer
from acp_bridge.jsonrpc.framing import Ndjson
from acp_bridge.jsonrpc.messages import METHOD_NOT_FOUND, Answer, ConnectionClosed, RpcError, loads
from acp_bridge.jsonrpc.peer import IncomingCall, Peer
from acp_bridge.launch.local import launch
from acp_bridge.launch.process import AgentProcess, LaunchError

T = TypeVar("T")

SLOW_START = 30.0
"""Seconds after which an unanswered initialize is told to the user; it is never given up."""
HANG_UP = 2.0
"""Seconds an agent may live on after it has closed its stdout."""
_NOISE_SHOWN = 500
_UNREAD = 1024 * 1024


@dataclass(slots=True, eq=False)
class _Turn:
    """One prompt that waits for its answer."""

    cancelled: bool = False


class AcpAgent:
    """An agent that speaks ACP v1 over stdio. `cwd` is the workspace it is started for."""

    def __init__(
        self,
        server: AgentServer,
        client: Client,
        *,
        cwd: str,
        client_info: Mapping[str, Any],
        slow_start: float = SLOW_START,
    ) -> None:
        self.capabilities = Capabilities()
        self.info = AgentInfo()
        self._server = server
        self._client = client
        self._cwd = cwd
        self._client_info = client_info
        self._slow_start = slow_start
        files = server.protocol_config.get("client_fs") is not False
        self._served = requests.Served(read=files, write=files)
        self._chunks = ChunkRun(client.event)
        self._peer = Peer(
            Ndjson(),
            self._write,
            self,
            intercept=self._intercept,
            intercept_read=self._intercept_read,
            batches=False,
        )
        self._process: AgentProcess | None = None
        self._exit: Exit | None = None
        self._closing = False
        self._hung_up: asyncio.Task[None] | None = None
        self._noise = ""
        self._requests = 0
        self._turns: dict[str, _Turn] = {}
        self._options: dict[str, SessionOptions] = {}
        self._ignored: set[str] = set()

    # Agent

    async def start(self) -> None:
        spec = prepare(self._server, cwd=self._cwd, model=self._server.default_model or None)
        try:
            self._process = await launch(spec, self)
        except LaunchError as error:
            raise AgentError(
                "agentUnavailable", f"{self._server.label}: {error.message}", hint=error.hint
            ) from error

    async def initialize(self) -> None:
        params = handshake.params(self._client_info, self._served)
        call = asyncio.ensure_future(self._exchange("initialize", params, handshake.read))
        try:
            done, _ = await asyncio.wait({call}, timeout=self._slow_start)
            if not done:
                self._tell_slow_start()
            self.info, self.capabilities = await call
        except asyncio.CancelledError:
            call.cancel()
            raise
        except handshake.NotAcp as error:
            await self.close()
            raise self._no_acp(str(error)) from error
        except ConnectionClosed as error:
            raise self._died_early() from error
        except RpcError as error:
            if error.code == METHOD_NOT_FOUND:
                raise self._no_acp("it does not know the method initialize") from error
            raise faults.of_call(self._server.label, "initialize", error, []) from error

    async def authenticate(self, method_id: str) -> None:
        self._check_alive()
        faults.check_auth_method(self._server, method_id, self.info.auth_methods)
        await self._call("authenticate", {"methodId": method_id})

    async def logout(self) -> None:
        self._require(self.capabilities.logout, "log out")
        await self._call("logout", {})

    async def new_session(self, params: SessionParams) -> str:
        return await self._call("session/new", self._session_params(params), self._session_made)

    async def load_session(self, session_id: str, params: SessionParams) -> None:
        self._require(self.capabilities.load, "load a session")
        await self._reopen("session/load", session_id, params)

    async def resume_session(self, session_id: str, params: SessionParams) -> None:
        self._require(self.capabilities.resume, "resume a session")
        await self._reopen("session/resume", session_id, params)

    async def fork_session(self, session_id: str, params: SessionParams) -> str:
        self._require(self.capabilities.fork, "fork a session")
        wire = {"sessionId": session_id, **self._session_params(params)}
        return await self._call("session/fork", wire, self._session_made)

    async def list_sessions(self, cwd: str | None, cursor: str | None) -> Json:
        self._require(self.capabilities.list, "list its sessions")
        given = {"cwd": cwd, "cursor": cursor}
        params = {key: value for key, value in given.items() if value is not None}
        return await self._call("session/list", params, sessions.listing)

    async def close_session(self, session_id: str) -> None:
        self._require(self.capabilities.close, "close a session")
        await self._call("session/close", {"sessionId": session_id})
        self._options.pop(session_id, None)

    async def delete_session(self, session_id: str) -> None:
        self._require(self.capabilities.delete, "delete a session")
        await self._call("session/delete", {"sessionId": session_id})
        self._options.pop(session_id, None)

    async def prompt(self, session_id: str, blocks: list[Json]) -> None:
        self._check_alive()
        turn = self._turns[session_id] = _Turn()

        def answered(answer: Answer) -> None:
            self._turn_over(session_id, turn, answer)

        self._client.event(session_id, TurnState(state="running"))
        self._peer.request("session/prompt", {"sessionId": session_id, "prompt": blocks}, answered)

    async def steer(self, session_id: str, blocks: list[Json]) -> None:
        raise self._cannot("be steered in mid-turn")

    def cancel(self, session_id: str, reason: str) -> None:
        turn = self._turns.get(session_id)
        if turn is not None:
            turn.cancelled = True
        self._peer.notify("session/cancel", {"sessionId": session_id})

    async def set_config_option(self, session_id: str, config_id: str, value: Any) -> None:
        options = self._options_of(session_id)
        method, params = options.setter(session_id, config_id, value)

        def changed(result: Any) -> None:
            if isinstance(result, dict) and isinstance(result.get("configOptions"), list):
                options.replace(result["configOptions"])
            else:
                options.select(config_id, value)
            self._client.event(session_id, ConfigOptions(options=options.current()))

        await self._call(method, params, changed)

    def pause(self) -> None:
        if self._process is not None:
            self._process.transport.pause_reading()

    async def room(self) -> None:
        transport = self._process.transport if self._process is not None else None
        while transport is not None and transport.unsent > _UNREAD:
            await transport.flushed()

    def resume(self) -> None:
        if self._process is not None:
            self._process.transport.resume_reading()

    def stderr_tail(self, lines: int = 20) -> list[str]:
        return self._process.stderr_tail(lines) if self._process is not None else []

    async def close(self) -> None:
        if self._process is None:
            return
        if not self._closing and self._exit is None:
            for session_id in self._turns:
                self.cancel(session_id, "")
        self._closing = True
        await self._process.stop()

    # ProcessOwner

    def data_received(self, data: bytes) -> None:
        self._peer.receive(data)

    def eof_received(self) -> None:
        asyncio.get_running_loop().call_later(HANG_UP, self._hang_up)

    def drained(self) -> None:
        """The agent reads again; what waits to be written is the transport's affair."""

    def stderr_line(self, line: str) -> None:
        self._client.wire("stderr", line.encode("utf-8", "replace"))

    def exited(self, code: int | None, signal: str | None) -> None:
        last = self.stderr_tail()
        if self._hung_up is not None and not self._closing:
            self._exit = Exit(stderr=last, reason="closed its output and was ended")
        else:
            self._exit = Exit(code=code, signal=signal, stderr=last)
        self._chunks.flush()
        self._peer.eof(self._exit.describe())
        self._turns.clear()
        if not self._closing:
            self._client.exited(self._exit)

    # jsonrpc Handler

    def on_request(self, call: IncomingCall) -> None:
        params = loads(call.params)
        if call.method == "session/update":
            self._update(params)
            call.answer({})
            return
        if call.method == "initialize":
            raise RpcError(METHOD_NOT_FOUND, "This is the client; an agent is asked for initialize.")
        self._requests += 1
        session_id, request = requests.read(call, params, f"acp-{self._requests}", self._served)
        self._client.event(session_id, request)

    def on_notification(self, method: str, params: Raw) -> None:
        if method == "session/update":
            self._update(loads(params))
        elif method == "auth/status_update":
            self._auth_status(loads(params))
        elif method not in self._ignored:
            self._ignored.add(method)
            self._client.event(None, Log(level="debug", text=f"ignored the notification {method}"))

    def on_noise(self, reason: str, data: bytes) -> None:
        self._noise = self._noise or data[:_NOISE_SHOWN].decode("utf-8", "replace").strip()
        self._client.wire("noise", data)

    def on_read_end(self) -> None:
        self._chunks.flush(more_to_come=True)
        self._client.flush()

    def _intercept_read(self, lines: list[bytes]) -> bool:
        return not self._client.tracing and self._chunks.take_all(lines)

    def _intercept(self, line: bytes) -> bool:
        """Sees every line first. A trace shows each beside what came of it, so nothing is joined then."""
        if self._client.tracing:
            self._chunks.flush(more_to_come=True)
            self._client.wire("in", line)
        if self._chunks.take(line):
            return True
        self._chunks.flush()
        return False

    def _write(self, data: bytes) -> None:
        if self._client.tracing:
            for line in data.splitlines():
                self._client.wire("out", line)
        if self._process is not None:
            self._process.transport.write(data)

    # Calls

    async def _exchange(self, method: str, params: Json, apply: Callable[[Any], T]) -> T:
        """Call the agent; `apply` turns the result into what is returned, in wire order. Raises RpcError,
        ConnectionClosed and what `apply` raises."""
        self._check_alive()
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()

        def answered(answer: Answer) -> None:
            if future.done():
                return
            try:
                future.set_result(apply(answer.value()))
            except Exception as error:
                future.set_exception(error)

        request_id = self._peer.request(method, params, answered)
        try:
            return await future
        except asyncio.CancelledError:
            self._peer.cancel(request_id)
            raise

    async def _call(self, method: str, params: Json, apply: Callable[[Any], T] = lambda result: result) -> T:
        """`_exchange` with every failure as an AgentError."""
        try:
            return await self._exchange(method, params, apply)
        except RpcError as error:
            self._learn_auth_methods(error)
            raise faults.of_call(self._server.label, method, error, self.info.auth_methods) from error
        except ConnectionClosed as error:
            raise faults.of_death(self._server.label, self._exit or Exit()) from error

    def _session_params(self, params: SessionParams) -> Json:
        wire, left_out = sessions.wire_params(params, self.capabilities)
        if left_out:
            names = ", ".join(left_out)
            title = f"{self._server.label} cannot use the MCP servers {names}"
            why = "It did not announce their transport."
            self._client.event(None, Notice(severity="warning", title=title, description=why))
        return wire

    def _session_made(self, result: Any) -> str:
        session_id = sessions.session_id(self._server.label, result)
        self._session_opened(session_id, result)
        return session_id

    async def _reopen(self, method: str, session_id: str, params: SessionParams) -> None:
        wire = {"sessionId": session_id, **self._session_params(params)}
        await self._call(method, wire, lambda result: self._session_opened(session_id, result))

    def _session_opened(self, session_id: str, result: Any) -> None:
        options = self._options_of(session_id)
        if isinstance(result, dict) and options.opened(result):
            self._client.event(session_id, ConfigOptions(options=options.current()))

    def _turn_over(self, session_id: str, turn: _Turn, answer: Answer) -> None:
        """The answer to a prompt. One that comes after a newer prompt was sent ends nothing."""
        if self._turns.get(session_id) is not turn:
            return
        del self._turns[session_id]
        if isinstance(answer.error, RpcError):
            self._learn_auth_methods(answer.error)
        state = faults.turn_end(answer, cancelled=turn.cancelled, methods=self.info.auth_methods)
        if state is not None:
            self._client.event(session_id, state)

    def _learn_auth_methods(self, error: RpcError) -> None:
        """An error -32000 may list the log-in methods, more exactly than initialize did."""
        if not isinstance(error.data, dict):
            return
        told = {method["id"]: method for method in handshake.auth_methods(error.data)}
        known = {method["id"]: method for method in self.info.auth_methods}
        self.info.auth_methods = [{**known.get(key, {}), **told.get(key, {})} for key in known | told]

    # What the agent says

    def _update(self, params: Any) -> None:
        session_id = lenient.text_or_none(params, "sessionId") if isinstance(params, dict) else None
        if session_id is None:
            self._client.event(None, Unknown(kind="session/update", raw=params))
            return
        for event in updates.read(params.get("update"), self._options_of(session_id)):
            self._client.event(session_id, event)

    def _auth_status(self, params: Any) -> None:
        state = lenient.text_or_none(params, "state") if isinstance(params, dict) else None
        meaning = {"authenticated": True, "not_required": True, "unauthenticated": False}
        self._client.event(None, AuthStatus(authenticated=meaning.get(state or ""), message=state))

    def _options_of(self, session_id: str) -> SessionOptions:
        return self._options.setdefault(session_id, SessionOptions())

    # Trouble

    def _tell_slow_start(self) -> None:
        said = f" It printed: {self._noise}" if self._noise else ""
        self._client.event(
            None,
            Notice(
                severity="info",
                title=f"{self._server.label} is still starting",
                description=f"No answer to initialize after {self._slow_start:.0f} s.{said}",
            ),
        )
        self._client.flush()

    def _hang_up(self) -> None:
        """It has closed its stdout: nothing more can come from it, so it must not live on unseen."""
        if self._exit is None and self._process is not None and self._hung_up is None:
            self._hung_up = asyncio.ensure_future(self._process.stop())

    def _died_early(self) -> AgentError:
        exit = self._exit or Exit()
        if not self._noise:
            return faults.of_early_death(self._server.label, shlex.join(self._server.cmd), exit)
        return self._no_acp(f"it printed something else and {exit.describe()}")

    def _no_acp(self, why: str) -> AgentError:
        command = shlex.join(self._server.cmd)
        return faults.no_acp(self._server.label, command, why, noise=self._noise, exit=self._exit)

    def _check_alive(self) -> None:
        if self._process is None:
            raise AgentError("agentDied", f"{self._server.label} is not running", hint="Start it.")
        if self._exit is not None or self._closing:
            raise faults.of_death(self._server.label, self._exit or Exit(reason="is being stopped"))

    def _require(self, able: bool, what: str) -> None:
        self._check_alive()
        if not able:
            raise self._cannot(what)

    def _cannot(self, what: str) -> AgentError:
        return AgentError("unsupported", f"{self._server.label} cannot {what}", hint="Start a new session.")
