"""One turn of the demo agent: performs a scenario step by step, as events and requests to the client."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from acp_bridge.agents.agent import Client
from acp_bridge.agents.demo import scenarios
from acp_bridge.agents.events import (
    AnyEvent,
    Compaction,
    ConfigOptions,
    ElicitationRequest,
    Error,
    Json,
    MessageChunk,
    Notice,
    PermissionRequest,
    Plan,
    ReadFile,
    SessionInfo,
    ThoughtChunk,
    ToolCall,
    ToolOutput,
    TurnState,
    Unknown,
    Usage,
    WriteFile,
)
from acp_bridge.jsonrpc.messages import RpcError

_CONTEXT = 200_000
_USED_A_TURN = 1500
_LINES_A_FLUSH = 50
_SLOWEST_LOOP = 0.01
_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class DemoSession:
    """What the demo agent remembers of a session; `emit` sends the client one event of it."""

    def __init__(self, session_id: str, cwd: str, client: Client) -> None:
        self.id = session_id
        self.cwd = cwd
        self.mode = "ask"
        self.thoughts = True
        self.used = 0
        self._client = client
        self._counts: dict[str, int] = {}

    def emit(self, event: AnyEvent) -> None:
        self._client.event(self.id, event)

    def flush(self) -> None:
        self._client.flush()

    def show_options(self) -> None:
        self.emit(ConfigOptions(options=scenarios.config_options(self.mode, self.thoughts)))

    def next_id(self, what: str) -> str:
        """A new id for a "message", "call" or "request"."""
        self._counts[what] = self._counts.get(what, 0) + 1
        return f"{self.id}-{what}-{self._counts[what]}"


class Turn:
    """Performs the scenario that `prompt` chooses. `die(code, stderr)` ends the whole agent."""

    def __init__(
        self,
        session: DemoSession,
        prompt: str,
        *,
        delay: float,
        authenticated: bool,
        die: Callable[[int, tuple[str, ...]], None],
    ) -> None:
        self._session = session
        self._prompt = prompt
        self._delay = delay
        self._authenticated = authenticated
        self._die = die
        self._message_id = session.next_id("message")

    async def run(self) -> TurnState:
        """Play to the end; the state returned ends the turn. Cancelling is cancelling the task."""
        try:
            for step in scenarios.choose(self._prompt):
                await self._play(step)
        except _Ended as ended:
            return ended.state
        session = self._session
        session.used = min(_CONTEXT, session.used + _USED_A_TURN)
        session.emit(Usage(used=session.used, size=_CONTEXT))
        session.emit(SessionInfo(title="A demo turn"))
        tokens = {"inputTokens": 1000, "outputTokens": 500, "totalTokens": _USED_A_TURN}
        return TurnState(state="idle", stop_reason="end_turn", tokens=tokens)

    async def _play(self, step: scenarios.Step) -> None:
        match step:
            case scenarios.Say(text):
                await self._say(text)
            case scenarios.Think(text):
                if self._session.thoughts:
                    await self._stream(text, lambda piece: ThoughtChunk(text=piece))
            case scenarios.ShowPlan(done):
                self._session.emit(Plan(entries=scenarios.plan_entries(done)))
            case scenarios.Read(path):
                await self._read(path)
            case scenarios.Edit(path, line):
                await self._edit(path, line)
            case scenarios.Shell(command, output):
                await self._shell(command, output)
            case scenarios.Question(message, schema):
                await self._question(message, schema)
            case scenarios.Forever(text):
                await self._talk_forever(text)
            case scenarios.Lines(default):
                await self._lines(scenarios.number_in(self._prompt, default))
            case scenarios.Odd():
                self._odd()
            case scenarios.NeedLogin():
                self._need_login()
            case scenarios.Fail(message, details):
                error = Error(message=message, details=details, hint="Send another prompt.", terminal=True)
                raise _Ended("error", error=error)
            case scenarios.Die(code, stderr):
                self._die(code, stderr)
                raise _Ended("error")
            case scenarios.Stop(reason):
                raise _Ended(reason)

    def _chunk(self, text: str) -> MessageChunk:
        return MessageChunk(role="agent", text=text, message_id=self._message_id)

    async def _say(self, text: str) -> None:
        """Each is a message of its own, as agents do that say something between their tool calls."""
        self._message_id = self._session.next_id("message")
        await self._stream(text, self._chunk)

    async def _stream(self, text: str, make: Callable[[str], AnyEvent]) -> None:
        for piece in re.findall(r"\s*\S+\s*", text):
            self._session.emit(make(piece))
            self._session.flush()
            await asyncio.sleep(self._delay)

    async def _talk_forever(self, text: str) -> None:
        while True:
            self._session.emit(self._chunk(text))
            self._session.flush()
            await asyncio.sleep(max(self._delay, _SLOWEST_LOOP))

    async def _lines(self, count: int) -> None:
        for number in range(1, count + 1):
            self._session.emit(self._chunk(f"line {number}\n"))
            if number % _LINES_A_FLUSH == 0:
                self._session.flush()
                await asyncio.sleep(0)

    async def _read(self, path: str) -> None:
        target = self._absolute(path)
        tool = ToolCall(
            id=self._session.next_id("call"),
            announced=True,
            name="read_file",
            title=f"Read {path}",
            kind="read",
            status="in_progress",
            locations=[{"path": target}],
            raw_input={"path": target},
        )
        self._session.emit(tool)
        text = await self._file_text(target)
        shown = {"type": "text", "text": "(no such file yet)" if text is None else text}
        content: list[Json] = [{"type": "content", "content": shown}]
        self._session.emit(ToolCall(id=tool.id, status="completed", content=content))

    async def _edit(self, path: str, line: str) -> None:
        target = self._absolute(path)
        old = await self._file_text(target)
        new = (old or "") + line
        tool = ToolCall(
            id=self._session.next_id("call"),
            announced=True,
            name="edit_file",
            title=f"Edit {path}",
            kind="edit",
            status="pending",
            content=[{"type": "diff", "path": target, "oldText": old, "newText": new}],
            locations=[{"path": target}],
            raw_input={"path": target, "append": line},
        )
        self._session.emit(tool)
        if not await self._permitted(tool):
            return
        try:
            await self._request(
                lambda request_id, reply: WriteFile(id=request_id, reply=reply, path=target, content=new)
            )
        except RpcError as error:
            self._session.emit(ToolCall(id=tool.id, status="failed", raw_output=error.message))
            await self._say(f"I could not write `{path}`: {error.message}\n\n")
            return
        self._session.emit(ToolCall(id=tool.id, status="completed"))

    async def _shell(self, command: str, output: str) -> None:
        tool = ToolCall(
            id=self._session.next_id("call"),
            announced=True,
            name="shell",
            title=command,
            kind="execute",
            status="pending",
            raw_input={"command": command, "cwd": self._session.cwd},
        )
        self._session.emit(tool)
        if not await self._permitted(tool):
            return
        self._session.emit(ToolOutput(tool_call_id=tool.id, text=output))
        self._session.emit(ToolCall(id=tool.id, status="completed", raw_output={"exitCode": 0}))

    async def _question(self, message: str, schema: Json) -> None:
        try:
            answer = await self._request(
                lambda request_id, reply: ElicitationRequest(
                    id=request_id, reply=reply, mode="form", message=message, schema=schema
                )
            )
        except RpcError as error:
            await self._say(f"You cannot be asked: {error.message}\n\n")
            return
        await self._say(f"Your answer: {answer.get('action')} {answer.get('content', '')}\n\n")

    async def _permitted(self, tool: ToolCall) -> bool:
        """Ask unless the mode says not to; closes the call if the answer is no."""
        if self._session.mode == "ask" and not await self._ask(tool):
            self._session.emit(ToolCall(id=tool.id, status="failed"))
            await self._say("Then I leave it as it is.\n\n")
            return False
        self._session.emit(ToolCall(id=tool.id, status="in_progress"))
        self._session.flush()
        return True

    async def _ask(self, tool: ToolCall) -> bool:
        about = ToolCall(id=tool.id, title=tool.title, kind=tool.kind, raw_input=tool.raw_input)
        options = [dict(option) for option in scenarios.ALLOW_OR_REJECT]
        try:
            outcome = await self._request(
                lambda request_id, reply: PermissionRequest(
                    id=request_id, reply=reply, options=options, tool_call=about
                )
            )
        except RpcError:
            return False
        if outcome.get("outcome") == "cancelled":
            raise _Ended("cancelled")
        if outcome.get("optionId") == "always":
            self._session.mode = "auto"
            self._session.show_options()
        return outcome.get("optionId") in ("allow", "always")

    async def _file_text(self, target: str) -> str | None:
        try:
            return str(
                await self._request(
                    lambda request_id, reply: ReadFile(id=request_id, reply=reply, path=target)
                )
            )
        except RpcError:
            return None

    async def _request(self, make: Callable[[str, _Reply], AnyEvent]) -> Any:
        reply = _Reply()
        self._session.emit(make(self._session.next_id("request"), reply))
        self._session.flush()
        return await reply.wait()

    def _need_login(self) -> None:
        if not self._authenticated:
            error = Error(message="Log in first", hint="Use the log-in method demo-login.", terminal=True)
            raise _Ended("error", error=error, auth_required=True)

    def _odd(self) -> None:
        call = self._session.next_id("call")
        raw = {"sessionUpdate": "_demo/weather", "sky": "clear"}
        image = {"type": "image", "data": _PIXEL, "mimeType": "image/png"}
        for event in (
            Unknown(kind="_demo/weather", raw=raw),
            Notice(severity="warning", title="A notice", description="Only to be seen."),
            Compaction(compaction_id="compact-1", status="completed", summary="Nothing to compact."),
            MessageChunk(role="agent", block=image, message_id=self._message_id),
            ToolCall(id=call, title="An odd tool", kind="_demo_kind", status="_demo_status"),
            ToolCall(id=call, status="completed", content=[{"type": "_demo_content", "value": 1}]),
        ):
            self._session.emit(event)
        self._session.flush()

    def _absolute(self, path: str) -> str:
        return os.path.normpath(Path(self._session.cwd) / path)


class _Ended(Exception):
    """A step ended the turn with `state`."""

    def __init__(self, reason: str, *, error: Error | None = None, auth_required: bool = False) -> None:
        super().__init__(reason)
        self.state = TurnState(state="idle", stop_reason=reason, error=error, auth_required=auth_required)


class _Reply:
    """A request's answer as a future; the first answer wins. The demo agent never withdraws a request."""

    def __init__(self) -> None:
        self._future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._answered = False

    def answer(self, result: Any) -> bool:
        return self._settle(lambda: self._future.set_result(result))

    def fail(self, code: int, message: str, data: Any = None) -> bool:
        return self._settle(lambda: self._future.set_exception(RpcError(code, message, data)))

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Never called back."""

    async def wait(self) -> Any:
        return await self._future

    def _settle(self, how: Callable[[], None]) -> bool:
        if self._answered:
            return False
        self._answered = True
        if not self._future.done():
            how()
        return True
