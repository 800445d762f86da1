"""How a session takes turns: from a prompt to the one `stop` entry that ends its turn.

Guarantees
- A turn starts after its prompt has been answered, and ends exactly once: by the agent's word, by an error,
  by the agent's death, or by a cancel before it was sent.
- The agent's late word on a turn that has ended changes nothing.
- A prompt refused for want of a log-in is kept, and sent when the user has logged in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import anyio

from acp_bridge.agents.agent import AgentError, Exit
from acp_bridge.agents.events import Error, TurnState
from acp_bridge.host import prompts
from acp_bridge.host.errors import HostError
from acp_bridge.host.ids import mint, now
from acp_bridge.host.turns import Turn, TurnQueue
from acp_bridge.host.visible import one_line

if TYPE_CHECKING:
    from acp_bridge.host.session import Session

Json = dict[str, Any]


class Turns:
    """The turns of one session. `task_state` is SEED-RULES' IN_PROGRESS or REVIEW."""

    def __init__(self, session: Session) -> None:
        self.queue = TurnQueue()
        self.task_state: Literal["IN_PROGRESS", "REVIEW"] = "IN_PROGRESS"
        self._session = session
        self._last: Json | None = None
        self._refused: Turn | None = None
        self._stopped = False
        self._idle = anyio.Event()
        self._idle.set()

    @property
    def running(self) -> Turn | None:
        """The turn that runs."""
        return self.queue.running

    async def wait_idle(self) -> Json | None:
        """See Session.wait_idle."""
        await self._idle.wait()
        return self._last

    def prompt(self, prompt: Any, client_message_id: str | None, mode: str, turn_id: str | None) -> Json:
        """See Session.prompt."""
        runner = self._session.runner
        if mode == "steer":
            hint = "send it with mode queue, or cancel the turn first"
            message = f"{runner.label} cannot be steered in mid-turn"
            raise HostError("unsupported", message, hint, param="mode")
        if mode != "queue":
            raise HostError("badParam", f"unknown mode {mode!r}", "use queue or steer", param="mode")
        turn = Turn(turn_id or mint("turn"), self._blocks(prompt), now(), client_message_id)
        self.queue.add(turn)
        self._changed()
        return {"turnId": turn.id, "queuedAt": turn.queued_at}

    def _blocks(self, prompt: Any) -> list[Json]:
        """The blocks of a prompt that this agent can take, as far as that is known now. Raises HostError."""
        blocks = prompts.as_blocks(prompt)
        runner = self._session.runner
        if runner.agent is not None:
            prompts.refuse_unsupported(blocks, runner.agent.capabilities, runner.label)
        return blocks

    def cancel(self, turn_id: str | None, reason: str | None) -> bool:
        """See Session.cancel."""
        running = self.running
        if turn_id is not None and (running is None or turn_id != running.id):
            waiting = self.queue.find(turn_id)
            if waiting is not None:
                self._drop(waiting)
                self._changed()
            return waiting is not None
        if running is None:
            return self._cancel_between_turns(reason)
        if running.cancelled:
            return True
        session = self._session
        running.cancelled = True
        if not running.sent or not self._tell_agent(reason):
            running.start.cancel()
        session.host.permissions.resolve_all(session, "cancel")
        session.transcript.close_tools()
        session.changed()
        return True

    def _cancel_between_turns(self, reason: str | None) -> bool:
        """End what the agent began outside a turn: requests that wait, tool calls that are open."""
        session = self._session
        waiting = bool(session.host.permissions.of(session))
        if not session.transcript.open_tools() and not waiting:
            return False
        self._tell_agent(reason)
        session.host.permissions.resolve_all(session, "cancel")
        session.transcript.close_tools()
        session.changed()
        return True

    def _tell_agent(self, reason: str | None) -> bool:
        """Send the cancel; False if there is no agent to hear it. It goes before any request is answered: an
        agent that hears the answer first may take it for a word on that one action (ACP, session/cancel)."""
        live = self._session.live()
        if live is None:
            return False
        agent, native_id = live
        agent.cancel(native_id, reason or "User requested cancellation")
        return True

    def action(self, action: str, turn_id: str | None, prompt: Any) -> Json:
        """See Session.queue_action."""
        if action == "list":
            return self.queue.as_json()
        if action == "resume":
            self.queue.resume()
        elif action in ("edit", "remove", "sendNow"):
            self._act_on(self._waiting(turn_id), action, prompt)
        else:
            hint = "use list, edit, remove, sendNow or resume"
            raise HostError("badParam", f"unknown action {action!r}", hint, param="action")
        self._changed()
        return self.queue.as_json()

    def _waiting(self, turn_id: str | None) -> Turn:
        if turn_id is None:
            raise HostError("badParam", "turnId is needed", "list the queue", param="turnId")
        turn = self.queue.find(turn_id)
        if turn is None:
            hint = "it may have started or been removed; list the queue"
            raise HostError("notFound", f"no queued turn {turn_id!r}", hint, param="turnId")
        return turn

    def _act_on(self, turn: Turn, action: str, prompt: Any) -> None:
        if action == "edit":
            turn.blocks = self._blocks(prompt)
        elif action == "remove":
            self._drop(turn)
        else:
            self.queue.send_now(turn)
            self.cancel(None, "The user sent another prompt now")

    def _drop(self, turn: Turn) -> None:
        """Take a waiting turn out; one that had begun and waits for a log-in ends so."""
        self.queue.remove(turn.id)
        if turn.entry is None:
            return
        self._session.transcript.drop_turn(turn.id)
        if self.running is None and not self.queue.waiting:
            self.task_state = "REVIEW"

    def close(self) -> None:
        """The session ends: nothing waits any more and what runs is over."""
        for waiting in self.queue.clear():
            if waiting.entry is not None:
                self._session.transcript.drop_turn(waiting.id)
        turn = self.running
        if turn is not None:
            self.cancel(None, "The session is being closed")
            self._finish(turn, "cancelled")

    def interrupt(self) -> None:
        """The bridge ends: what runs is over, what waits stays as it is."""
        self._stopped = True
        if self.running is not None:
            self._finish(self.running, "cancelled" if self.running.cancelled else "interrupted")

    def logged_in(self) -> None:
        """Send the prompt that waited for a log-in."""
        turn, self._refused = self._refused, None
        if turn is not None and self.queue.find(turn.id) is turn:
            self.queue.resume()
            self._changed()

    def lost(self, exit: Exit) -> None:
        """The agent is gone."""
        turn = self.running
        if turn is not None and turn.cancelled:
            self._finish(turn, "cancelled")
        elif turn is not None and turn.sent:
            self._finish(turn, "error", self._session.runner.died(exit))

    def state_changed(self, event: TurnState) -> None:
        """The agent's word on the turn; only idle means something, and only for a prompt it was sent."""
        turn = self.running
        if event.state != "idle" or turn is None or not turn.sent:
            return
        if turn.cancelled:
            failed = event.error is not None or event.stop_reason in (None, "error")
            self._finish(turn, "cancelled" if failed else event.stop_reason or "", tokens=event.tokens)
        elif event.auth_required:
            message = event.error.message if event.error else "the agent wants you to log in"
            self._needs_login(turn, self._session.runner.wants_login(message))
        else:
            self._finish(turn, event.stop_reason or "error", self._error_of(event), event.tokens)

    def _error_of(self, event: TurnState) -> HostError | None:
        if event.error is not None:
            error = event.error
            return HostError("internal", error.message, error.hint or "", detail=error.details or "")
        label = self._session.runner.label
        if event.stop_reason == "refusal":
            text = one_line(self._session.transcript.last_text(), 400)
            hint = "the agent has dropped this prompt and what followed from its memory; ask in another way"
            return HostError("internal", f"{label} refused or failed", hint, detail=text)
        if event.stop_reason in (None, "error"):
            return HostError(
                "internal", f"{label} ended the turn without saying how", "send the prompt again"
            )
        return None

    # how a turn goes

    def _changed(self) -> None:
        """The queue changed: start what may start."""
        turn = None if self._stopped else self.queue.next()
        if turn is not None:
            self.task_state = "IN_PROGRESS"
            if self._idle.is_set():
                self._idle = anyio.Event()
            turn.start = anyio.CancelScope()
        self._session.changed()
        if turn is not None:
            self._session.host.spawn(self._run, turn)
        elif self.running is None:
            self._idle.set()

    async def _run(self, turn: Turn) -> None:
        if self.running is not turn:
            return
        try:
            self._show(turn)
            with turn.start:
                await self._send(turn)
        except AgentError as error:
            self._failed(turn, HostError.of_agent(error))
        except HostError as error:
            self._failed(turn, error)
        except Exception:
            self._failed(turn, HostError("internal", "the prompt could not be sent", "see the log"))
            raise
        if turn.cancelled and not turn.sent:
            self._finish(turn, "cancelled")

    def _show(self, turn: Turn) -> None:
        """Its user entry opens the turn in the thread."""
        session = self._session
        if turn.entry is not None:
            session.transcript.resume_turn(turn.id, turn.entry, turn.blocks)
        else:
            turn.entry = session.transcript.begin_turn(turn.id, turn.blocks, turn.client_message_id)
        if session.title is None:
            session.title = prompts.title_of(turn.blocks)
        session.changed()

    async def _send(self, turn: Turn) -> None:
        session = self._session
        await session.attach()
        agent, native_id = session.require()
        prompts.refuse_unsupported(turn.blocks, agent.capabilities, session.runner.label)
        if not turn.cancelled:
            turn.sent = True
            await agent.prompt(native_id, prompts.fit(turn.blocks, agent.capabilities))

    def _failed(self, turn: Turn, error: HostError) -> None:
        if turn.cancelled:
            self._finish(turn, "cancelled")
        elif error.kind == "authRequired":
            self._needs_login(turn, error)
        else:
            self._finish(turn, "error", error)

    def _needs_login(self, turn: Turn, error: HostError) -> None:
        """Keep the prompt as the head of a held queue; its turn goes on after the log-in."""
        if self.running is not turn:
            return
        self._refused = turn
        turn.sent = False
        hint = error.hint or "log in; the prompt is kept"
        session = self._session
        session.host.permissions.resolve_all(session, "cancel")
        session.transcript.close_tools()
        session.transcript.error(Error(message=error.message, details=error.detail, hint=hint))
        self.queue.put_back()
        self._ended(turn, "error", error)

    def _finish(
        self, turn: Turn, stop_reason: str, error: HostError | None = None, tokens: Json | None = None
    ) -> None:
        if self.running is not turn:
            return
        if turn.entry is None:
            self._show(turn)
        if self._refused is turn:
            self._refused = None
        session = self._session
        session.host.permissions.resolve_all(session, "cancel")
        shown = None if error is None else Error(message=error.message, details=error.detail, hint=error.hint)
        session.transcript.end_turn(stop_reason, shown, tokens)
        self.queue.finished("cancelled" if turn.cancelled else stop_reason)
        self._ended(turn, stop_reason, error)

    def _ended(self, turn: Turn, stop_reason: str, error: HostError | None) -> None:
        self._last = {"turnId": turn.id, "stopReason": stop_reason}
        if turn.cancelled:
            self._last["cancelled"] = True
        if error is not None:
            told = {"kind": error.kind, "message": error.message, "hint": error.hint, "detail": error.detail}
            self._last["error"] = told
        if not self.queue.waiting and turn is not self._refused:
            self.task_state = "REVIEW"
        self._changed()
