"""A raw language client for tests: Content-Length frames over a subprocess's pipes, nothing of acp_bridge.

Every message is recorded in wire order. The threads are rebuilt here from the ops alone, by the rules of
docs/editor-protocol.md, so that what a test compares was not made by the code under test. Any byte on the
server's stdout that is not part of a frame fails the client (`ProtocolBroken`).

    async with LspClient.run([sys.executable, "-m", "acp_bridge"], acp=rich(servers)) as client:
        session = await client.new_session("demo", cwd)
        turn = await client.turn(session, "hello", on_permission="allow_once")
        assert turn.stop_reason == "end_turn"
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from support.editor_documents import EditorDocuments
from support.lsp_wire import DEFAULT_CAPABILITIES, LspError, ProtocolBroken, ServerGone, body_length
from support.thread_model import ThreadModel

__all__ = [
    "BRIDGE",
    "DEFAULT_CAPABILITIES",
    "LEAVE",
    "TIMEOUT",
    "Choice",
    "Json",
    "LspClient",
    "LspError",
    "ProtocolBroken",
    "ServerGone",
    "Turn",
    "rich",
]

T = TypeVar("T")
Json = dict[str, Any]
TIMEOUT = 60.0
BRIDGE = (sys.executable, "-m", "acp_bridge", "lsp")
EVERYTHING_DRAWN = {"thread": True, "permission": True, "elicitation": True, "review": True}

Choice = str | Callable[[Json], Any] | None
LEAVE = object()
"""Returned by an `on_permission` callable that answers nothing (the test does, or nobody)."""


@dataclass(slots=True)
class Turn:
    """One finished turn as the thread shows it; `text` joins its agent entries in order."""

    turn_id: str
    stop: Json
    entries: list[Json]
    permissions: list[Json] = field(default_factory=list)

    @property
    def stop_reason(self) -> str:
        return str(self.stop.get("stopReason"))

    @property
    def text(self) -> str:
        return "".join(e.get("text", "") for e in self.entries if e["kind"] == "agent")

    @property
    def tools(self) -> list[Json]:
        return [e for e in self.entries if e["kind"] == "tool"]

    @property
    def errors(self) -> list[Json]:
        return [e for e in self.entries if e["kind"] == "error"]


def rich(
    servers: Mapping[str, Json] | None = None,
    *,
    ui: Mapping[str, bool] | None = None,
    settings: Json | None = None,
    trusted: bool = False,
) -> Json:
    """`initializationOptions.acp` of an editor that draws everything itself."""
    return {
        "ui": {**EVERYTHING_DRAWN, **(ui or {})},
        "agentServers": dict(servers or {}),
        "settings": settings or {},
        "trusted": trusted,
    }


class LspClient:
    """One connection. `messages` holds `("in"|"out", message)` of everything, oldest first."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.messages: list[tuple[str, Json]] = []
        self.threads: dict[str, ThreadModel] = {}
        self.sessions: dict[str, Json] = {}
        self.agents: dict[str, Json] = {}
        self.documents = EditorDocuments(self.notify)
        self.stderr: list[str] = []
        self.initialize_result: Json = {}
        self.handlers: dict[str, Callable[[Any], Any]] = {
            "workspace/applyEdit": self.documents.apply,
            "workspace/configuration": lambda params: [None for _ in params.get("items", [])],
            "workspace/workspaceFolders": lambda _: None,
            "window/showDocument": lambda _: {"success": True},
            "client/registerCapability": lambda _: None,
            "client/unregisterCapability": lambda _: None,
            "window/workDoneProgress/create": lambda _: None,
            "window/showMessageRequest": lambda _: None,
        }
        self._next_id = 0
        self._calls: dict[int, asyncio.Future[Any]] = {}
        self._changed = asyncio.Condition()
        self._failure: Exception | None = None
        self._strangers: set[str] = set()
        self._tasks: set[asyncio.Task[Any]] = set()

    @classmethod
    @asynccontextmanager
    async def run(
        cls,
        argv: Sequence[str] = BRIDGE,
        *,
        acp: Json | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | str | None = None,
        root: Path | str | None = None,
        capabilities: Json | None = None,
        client_info: Json | None = None,
        initialize: bool = True,
        **params: Any,
    ) -> AsyncIterator[LspClient]:
        """Start the server, shake hands, and stop it at the end whatever happened (by its own pid)."""
        client = await cls.spawn(argv, env=env, cwd=cwd)
        try:
            if initialize:
                await client.initialize(
                    acp=acp, root=root, capabilities=capabilities, client_info=client_info, **params
                )
            yield client
        finally:
            await client.stop()

    @classmethod
    async def spawn(
        cls,
        argv: Sequence[str] = BRIDGE,
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | str | None = None,
    ) -> LspClient:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=dict(env) if env is not None else None,
            cwd=cwd,
            limit=1 << 20,
        )
        client = cls(process)
        client._keep(client._read())
        client._keep(client._read_stderr())
        return client

    async def initialize(
        self,
        *,
        acp: Json | None = None,
        root: Path | str | None = None,
        capabilities: Json | None = None,
        client_info: Json | None = None,
        **params: Any,
    ) -> Json:
        options: Json = {
            "processId": os.getpid(),
            "clientInfo": client_info or {"name": "raw-test-client", "version": "1"},
            "capabilities": capabilities if capabilities is not None else DEFAULT_CAPABILITIES,
            "rootUri": None,
            **params,
        }
        if root is not None:
            uri = Path(root).as_uri()
            options |= {"rootUri": uri, "workspaceFolders": [{"uri": uri, "name": Path(root).name}]}
        if acp is not None:
            options["initializationOptions"] = {"acp": acp}
        self.initialize_result = await self.request("initialize", options)
        self.notify("initialized", {})
        return self.initialize_result

    def send(self, message: Json) -> None:
        self.messages.append(("out", message))
        body = json.dumps(message).encode()
        stdin = self.process.stdin
        assert stdin is not None
        stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def notify(self, method: str, params: Any) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def start_request(self, method: str, params: Any) -> asyncio.Future[Any]:
        """Send now; the future is the answer (LspError if it is an error)."""
        self._next_id += 1
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._calls[self._next_id] = future
        if self._failure is not None:
            future.set_exception(self._failure)
        self.send({"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": params})
        return future

    def cancel_request(self, asked: asyncio.Future[Any]) -> None:
        """Send $/cancelRequest for a request that `start_request` made; its answer still comes."""
        number = next(number for number, future in self._calls.items() if future is asked)
        self.notify("$/cancelRequest", {"id": number})

    async def request(self, method: str, params: Any, timeout: float = TIMEOUT) -> Any:
        try:
            return await asyncio.wait_for(self.start_request(method, params), timeout)
        except TimeoutError:
            raise AssertionError(f"{method} was not answered in {timeout} s; {self.evidence()}") from None

    async def wait_for(
        self, what: Callable[[], T | None], timeout: float = TIMEOUT, why: str = "what was waited for"
    ) -> T:
        """Wait until `what()` is true (checked after every message); returns its value."""

        async def loop() -> T:
            async with self._changed:
                while not (value := what()):
                    if self._failure is not None:
                        raise self._failure
                    await self._changed.wait()
                return value

        try:
            return await asyncio.wait_for(loop(), timeout)
        except TimeoutError:
            raise AssertionError(f"{why} did not come in {timeout} s; {self.evidence()}") from None

    def received(self, method: str) -> list[Json]:
        """Params of every notification or request of that method so far."""
        return [m.get("params") or {} for d, m in self.messages if d == "in" and m.get("method") == method]

    def evidence(self) -> str:
        tail = [json.dumps([d, m], ensure_ascii=False)[:400] for d, m in self.messages[-12:]]
        return "last messages:\n" + "\n".join(tail) + "\nstderr:\n" + "\n".join(self.stderr[-20:])

    async def new_session(self, agent: str, cwd: Path | str | None = None, **params: Any) -> str:
        """`acp/session/new`; returns the session id, its thread is in `threads`."""
        asked = {"agent": agent, **({"cwd": str(cwd)} if cwd is not None else {}), **params}
        result = await self.request("acp/session/new", asked)
        return str(result["sessionId"])

    async def prompt(self, session_id: str, prompt: str | list[Json], **params: Any) -> str:
        result = await self.request(
            "acp/session/prompt", {"sessionId": session_id, "prompt": prompt, **params}
        )
        return str(result["turnId"])

    async def turn(
        self,
        session_id: str,
        prompt: str | list[Json],
        *,
        on_permission: Choice = None,
        timeout: float = TIMEOUT,
        **params: Any,
    ) -> Turn:
        """Prompt, answer permissions, return when the turn has its stop entry and the session has told of it.

        `on_permission` is an option kind ("allow_once", "reject_once": the first option of that kind), None
        (cancel the turn), or a function of the request that returns an optionId, None or LEAVE.
        """
        seen = len(self.received("acp/permission/requested"))
        turn_id = await self.prompt(session_id, prompt, **params)
        asked: list[Json] = []

        def next_step() -> Json | None:
            fresh = self.received("acp/permission/requested")[seen + len(asked) :]
            if fresh:
                return {"permission": fresh[0]["request"]}
            stop = self.stop_of(session_id, turn_id)
            return {"stop": stop} if stop and self._told_of_stop(session_id, turn_id) else None

        while True:
            step = await self.wait_for(next_step, timeout, f"the end of turn {turn_id}")
            if "stop" in step:
                entries = [e for e in self.threads[session_id].entries if e.get("turnId") == turn_id]
                return Turn(turn_id, step["stop"], entries, asked)
            asked.append(step["permission"])
            await self.answer_permission(step["permission"], on_permission)

    def _told_of_stop(self, session_id: str, turn_id: str) -> bool:
        """Whether the `acp/session/changed` that follows every stop entry is here."""
        told = False
        for way, message in reversed(self.messages):
            params = message.get("params")
            if way != "in" or not isinstance(params, dict):
                continue
            if message.get("method") == "acp/session/changed":
                told = told or params["session"]["sessionId"] == session_id
            elif message.get("method") == "acp/thread/changed" and params["sessionId"] == session_id:
                entries = [op["entry"] for op in params["ops"] if op["op"] == "put"]
                if any(e["kind"] == "stop" and e["turnId"] == turn_id for e in entries):
                    return told
        return True

    def stop_of(self, session_id: str, turn_id: str) -> Json | None:
        entries = self.threads[session_id].entries
        return next((e for e in entries if e["kind"] == "stop" and e.get("turnId") == turn_id), None)

    async def answer_permission(self, request: Json, choice: Choice) -> Json | None:
        if callable(choice):
            decided = choice(request)
            option = await decided if inspect.isawaitable(decided) else decided
        elif choice is None:
            option = None
        else:
            option = next((o["optionId"] for o in request["options"] if o.get("kind") == choice), LEAVE)
            assert option is not LEAVE, f"no option of kind {choice} in {request['options']}"
        if option is LEAVE:
            return None
        return dict(
            await self.request(
                "acp/permission/answer", {"requestId": request["requestId"], "optionId": option}
            )
        )

    async def shutdown(self) -> int:
        """The orderly end: shutdown, exit, wait. Returns the exit status."""
        await self.request("shutdown", None)
        self.notify("exit", None)
        return await asyncio.wait_for(self.process.wait(), TIMEOUT)

    async def stop(self) -> None:
        if self.process.returncode is None and self._failure is None:
            try:
                await self.shutdown()
            except (Exception, asyncio.CancelledError):
                if self.process.returncode is None:
                    self.process.kill()
        elif self.process.returncode is None:
            self.process.kill()
        await self.process.wait()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _keep(self, coroutine: Any) -> None:
        task = asyncio.ensure_future(coroutine)
        self._tasks.add(task)

    async def _read(self) -> None:
        stdout = self.process.stdout
        assert stdout is not None
        try:
            while True:
                length = await body_length(stdout)
                if length is None:
                    break
                await self._handle(json.loads(await stdout.readexactly(length)))
        except Exception as error:
            await self._fail(error)
        else:
            await self._fail(ServerGone(f"the server closed its stdout; stderr: {self.stderr[-20:]}"))

    async def _fail(self, error: Exception) -> None:
        self._failure = error
        for future in self._calls.values():
            if not future.done():
                future.set_exception(error)
                future.exception()
        async with self._changed:
            self._changed.notify_all()

    async def _read_stderr(self) -> None:
        stderr = self.process.stderr
        assert stderr is not None
        async for line in stderr:
            self.stderr.append(line.decode("utf-8", "replace").rstrip())

    async def _handle(self, message: Json) -> None:
        self.messages.append(("in", message))
        method = message.get("method")
        if method is None:
            self._answered(message)
        elif "id" in message:
            self._keep(self._serve(message))
        else:
            self._notified(method, message.get("params") or {})
        async with self._changed:
            self._changed.notify_all()

    def _answered(self, message: Json) -> None:
        future = self._calls.get(message["id"])
        assert future is not None, f"an answer nobody asked for: {message}"
        assert not future.done() or future.cancelled(), f"answered twice: {message}"
        result = message.get("result")
        if isinstance(result, dict) and "thread" in result and "sessionId" in result:
            session_id = result["sessionId"]
            if session_id in self._strangers:
                raise ProtocolBroken(f"something about {session_id} came before the answer that names it")
            self.threads[session_id] = ThreadModel.of(result["thread"])
            self.sessions[session_id] = result.get("session") or {}
        if future.cancelled():
            return
        if "error" in message:
            future.set_exception(LspError(message["error"]))
            future.exception()
        else:
            future.set_result(result)

    def _notified(self, method: str, params: Json) -> None:
        if method == "acp/thread/changed" and params["sessionId"] not in self.threads:
            self._strangers.add(params["sessionId"])
        elif method == "acp/thread/changed":
            self.threads[params["sessionId"]].changed(params)
        elif method == "acp/session/changed":
            self.sessions[params["session"]["sessionId"]] = params["session"]
        elif method == "acp/agent/changed":
            self.agents[params["agent"]["id"]] = params["agent"]

    async def _serve(self, message: Json) -> None:
        handler = self.handlers.get(message["method"])
        if handler is None:
            error = {"code": -32601, "message": f"the test client does not serve {message['method']}"}
            self.send({"jsonrpc": "2.0", "id": message["id"], "error": error})
            return
        result = handler(message.get("params") or {})
        if inspect.isawaitable(result):
            result = await result
        self.send({"jsonrpc": "2.0", "id": message["id"], "result": result})
