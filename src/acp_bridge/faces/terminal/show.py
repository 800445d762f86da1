"""`TerminalShow`: the host's picture of a turn, handed to a printer, and the answers it wants.

Permissions are answered by `--permission`, or one after the other by the person at the keyboard.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any, Protocol

from acp_bridge.faces.terminal.keyboard import Keyboard
from acp_bridge.faces.terminal.outlet import Outlet
from acp_bridge.faces.terminal.permission import Decision, Policy, decide, option_of_answer, reject
from acp_bridge.faces.terminal.status import Outcome
from acp_bridge.faces.terminal.trace import Trace
from acp_bridge.host.secrets import Masker

if TYPE_CHECKING:
    from acp_bridge.host.host import Host
    from acp_bridge.host.session import Session
    from acp_bridge.host.thread import Delta

Json = dict[str, Any]


class Printer(Protocol):
    """What `Screen` and `JsonLines` do with a turn."""

    def session(self, summary: Json) -> None: ...
    def ops(self, message: Json) -> None: ...
    def permission_requested(self, request: Json, asked: bool) -> None: ...
    def permission_resolved(self, request: Json, outcome: Json, by: str, why: str) -> None: ...
    def note(self, text: str) -> None: ...
    def question(self, text: str) -> None: ...
    def answered(self) -> None: ...
    def progress(self, percent: float | None, message: str | None) -> None: ...
    def log(self, agent: str, stream: str, text: str) -> None: ...
    def end(self, outcome: Outcome) -> None: ...


class TerminalShow:
    """The `Show` of one turn in one terminal. `keyboard` None: nobody can be asked."""

    def __init__(
        self,
        host: Host,
        printer: Printer,
        outlet: Outlet,
        policy: Policy,
        keyboard: Keyboard | None,
        trace: Trace | None,
        mask: Masker,
    ) -> None:
        self._host = host
        self._printer = printer
        self._outlet = outlet
        self._policy = policy
        self._keyboard = keyboard
        self._trace = trace
        self._mask = mask
        self._loop = asyncio.get_running_loop()
        self._requests: dict[str, Json] = {}
        self._reasons: dict[str, str] = {}
        self._questions: deque[tuple[Session, Json]] = deque()
        self._told_nobody = False
        self.tokens: Json | None = None

    @property
    def congested(self) -> bool:
        return self._outlet.congested

    def thread_changed(self, session: Session, delta: Delta) -> None:
        message = delta.message()
        if self._trace is not None:
            self._trace.ops(message)
        for op in message["ops"]:
            if op["op"] == "put" and op["entry"]["kind"] == "stop":
                self.tokens = op["entry"].get("tokens")
        self._printer.ops(message)

    def session_changed(self, session: Session) -> None:
        """The thread tells everything a turn in a terminal shows."""

    def agent_changed(self, agent: Json) -> None:
        """See session_changed."""

    def permission_requested(self, session: Session, request: Json) -> None:
        self._requests[request["requestId"]] = request
        if self._policy is Policy.ask and self._keyboard is not None:
            self._questions.append((session, request))
            if len(self._questions) == 1:
                self._ask()
            return
        if self._policy is Policy.ask and not self._told_nobody:
            self._told_nobody = True
            self._printer.note(
                "stdin is no terminal, so nobody can be asked: --permission ask acts as reject "
                "(--permission allow lets the agent go on inside its folder)"
            )
        self._printer.permission_requested(request, asked=False)
        decision = decide(request, self._policy)
        self._loop.call_soon(self._decided, session, request["requestId"], decision)

    def _decided(self, session: Session, request_id: str, decision: Decision) -> None:
        if request_id in self._requests:
            self._reasons[request_id] = decision.why
            self._answer(session, request_id, decision.option_id)

    def _answer(self, session: Session, request_id: str, option_id: str | None) -> None:
        self._host.answer_permission(request_id, option_id)

    def _ask(self) -> None:
        session, request = self._questions[0]
        assert self._keyboard is not None
        self._keyboard.ask(lambda line: self._typed(session, request, line))
        self._printer.permission_requested(request, asked=True)
        self._question(request)

    def _question(self, request: Json) -> None:
        count = len(request.get("options", []))
        self._printer.question(f"  Your answer (1-{count}, Ctrl-C cancels the turn): ")

    def _typed(self, session: Session, request: Json, line: str | None) -> None:
        if line is not None:
            self._printer.answered()
        if line is None:
            decision = reject(request, "end of input")
            self._reasons[request["requestId"]] = decision.why
            self._answer(session, request["requestId"], decision.option_id)
        elif (option_id := option_of_answer(request, line)) is not None:
            self._answer(session, request["requestId"], option_id)
        else:
            self._printer.note(f"  {line.strip()!r} is none of the options: type one of the numbers")
            self._question(request)

    def permission_resolved(self, session: Session, request_id: str, outcome: Json, by: str) -> None:
        request = self._requests.pop(request_id, None)
        if request is None:
            return
        why = self._reasons.pop(request_id, "")
        asked = bool(self._questions) and self._questions[0][1] is request
        self._questions = deque(item for item in self._questions if item[1] is not request)
        if asked and self._keyboard is not None:
            self._keyboard.stop()
        self._printer.permission_resolved(request, outcome, "policy" if why and by == "user" else by, why)
        if asked and self._questions:
            self._ask()

    def elicitation_requested(self, session: Session | None, request: Json) -> None:
        """No agent is offered elicitation yet."""

    def elicitation_resolved(self, request_id: str, action: str, by: str) -> None:
        """See elicitation_requested."""

    def progress(self, session: Session, percent: float | None, message: str | None) -> None:
        self._printer.progress(percent, message)

    def log(self, agent_id: str, stream: str, text: str) -> None:
        self._printer.log(agent_id, stream, self._mask(text))

    def close(self) -> None:
        """Listen to nobody any more."""
        if self._keyboard is not None:
            self._keyboard.stop()
