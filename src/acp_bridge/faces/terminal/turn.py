"""One turn in a terminal: start the agent, send the prompt, show what comes, end with an exit status.

The first SIGINT cancels the turn, a second one kills. SIGTERM, SIGHUP and a stdout that nobody reads cancel
it too, and then the agent has `GRACE` seconds. Whatever happens, the last thing printed is how it ended, and
no process is left.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shlex
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio

from acp_bridge import __version__
from acp_bridge.config.load import Configuration
from acp_bridge.faces.terminal.keyboard import Keyboard
from acp_bridge.faces.terminal.outlet import Outlet
from acp_bridge.faces.terminal.permission import Policy
from acp_bridge.faces.terminal.show import TerminalShow
from acp_bridge.faces.terminal.signals import signals_to
from acp_bridge.faces.terminal.status import CANCELLED, Ended, Failed, Outcome
from acp_bridge.faces.terminal.streams import make_printer, open_trace, own_stdout
from acp_bridge.host.errors import HostError
from acp_bridge.host.host import Host
from acp_bridge.host.ports import NoDocuments
from acp_bridge.host.secrets import Masker
from acp_bridge.host.session import Session

Json = dict[str, Any]
CLIENT = {"name": "acp-bridge", "version": __version__}
GRACE = 3.0
FLUSH_WHEN_KILLED = 1.0
STDERR_LINES = 20


@dataclass(frozen=True, slots=True)
class TurnOptions:
    """What `run` was told. `agent` None: the default one. `trace`: a file, or `-` for stderr."""

    prompt: str
    agent: str | None = None
    cwd: Path = field(default_factory=Path.cwd)
    policy: Policy = Policy.ask
    as_json: bool = False
    trace: str | None = None
    config_options: Mapping[str, str] = field(default_factory=dict)
    auth_method: str | None = None


async def play(options: TurnOptions, configuration: Configuration) -> int:
    """Play the turn; returns the exit status."""
    mask = Masker(os.environ, [server.env for server in configuration.servers.values()])
    with own_stdout() as stdout:
        turn = _Turn(options, configuration, mask, stdout)
        with signals_to(turn.signal):
            return await turn.play()


class _Turn:
    def __init__(self, options: TurnOptions, configuration: Configuration, mask: Masker, stdout: int) -> None:
        self._options = options
        self._host = Host(configuration, client_info=CLIENT, default_cwd=str(options.cwd))
        self._mask = mask
        self._outlet = Outlet(stdout, self._nobody_reads, self._drained)
        self._printer = make_printer(self._outlet, stdout, as_json=options.as_json)
        self._show: TerminalShow | None = None
        self._scope = anyio.CancelScope()
        self._session: Session | None = None
        self._agent_id = ""
        self._signals = 0
        self._status_when_cancelled = CANCELLED
        self._outcome: Outcome | None = None

    async def play(self) -> int:
        """Play it, print how it ended, return the exit status."""
        with self._scope:
            try:
                await self._with_host()
            except HostError as error:
                self._end(Failed.of(error))
            except Exception as error:
                logging.getLogger(__name__).debug("the turn failed", exc_info=True)
                self._end(Failed("internal", f"acp-bridge failed: {error!r}", "please report this"))
            await self._outlet.flushed()
        outcome = self._end(Ended("cancelled"))
        with anyio.move_on_after(FLUSH_WHEN_KILLED):
            await self._outlet.flushed()
        self._outlet.close()
        return self._status_when_cancelled if outcome.status == CANCELLED else outcome.status

    async def _with_host(self) -> None:
        with open_trace(self._options.trace, self._outlet, self._mask) as trace:
            keyboard = Keyboard.of_stdin()
            show = TerminalShow(
                self._host, self._printer, self._outlet, self._options.policy, keyboard, trace, self._mask
            )
            self._host.tracer = trace
            async with self._host.running():
                self._host.attach(show)
                self._show = show
                try:
                    outcome = await self._turn(show)
                    await self._outlet.flushed()
                except HostError as error:
                    outcome = Failed.of(error)
                finally:
                    self._host.detach(show)
                    self._show = None
                    show.close()
                self._end(outcome)
                await self._outlet.flushed()

    async def _turn(self, show: TerminalShow) -> Outcome:
        options = self._options
        self._agent_id = options.agent or self._host.default_agent()
        if options.auth_method is not None:
            await self._host.authenticate(self._agent_id, options.auth_method)
        session = await self._host.new_session(
            agent=self._agent_id, cwd=str(options.cwd), documents=NoDocuments()
        )
        self._session = session
        self._printer.session(session.summary())
        for config_id, word in options.config_options.items():
            await session.set_config_option(config_id, _config_value(session, config_id, word))
        session.prompt(options.prompt)
        last = await session.wait_idle()
        return _outcome(last or {}, show.tokens)

    def _end(self, outcome: Outcome) -> Outcome:
        """Print how it ended, unless that is done; returns how it ended."""
        if self._outcome is not None:
            return self._outcome
        if isinstance(outcome, Failed):
            outcome = self._explained(outcome)
        self._outcome = outcome
        self._printer.end(outcome)
        return outcome

    def _explained(self, failure: Failed) -> Failed:
        """The failure with the agent's last stderr lines, and what to type next where we know it."""
        detail = self._mask(failure.detail or "\n".join(self._stderr()))
        if failure.kind != "authRequired":
            return replace(failure, detail=detail)
        agents = {agent["id"]: agent for agent in self._host.list_agents()}
        methods = agents.get(self._agent_id, {}).get("authMethods") or []
        here = [str(method["id"]) for method in methods if method.get("type") != "terminal"]
        ways = " or ".join(f"--auth-method {shlex.quote(method_id)}" for method_id in here)
        return replace(failure, detail=detail, hint=f"add {ways}" if ways else failure.hint)

    def _stderr(self) -> list[str]:
        try:
            lines = self._host.agent_log(self._agent_id)
        except HostError:
            return []
        return [line["text"] for line in lines if line["stream"] == "stderr"][-STDERR_LINES:]

    # what interrupts it

    def signal(self, number: signal.Signals) -> None:
        """A signal came in."""
        self._signals += 1
        if number != signal.SIGINT:
            self._status_when_cancelled = 128 + number
        if self._signals > 1 or self._session is None:
            self._scope.cancel()
        elif number == signal.SIGINT:
            self._cancel("User requested cancellation")
            self._printer.note("cancelling (Ctrl-C again to kill the agent)")
        else:
            self._cancel_soon(f"The bridge was ended by {number.name}")

    def _nobody_reads(self) -> None:
        if self._session is not None:
            self._cancel_soon("Nobody reads the output any more")

    def _cancel_soon(self, reason: str) -> None:
        self._cancel(reason)
        asyncio.get_running_loop().call_later(GRACE, self._scope.cancel)

    def _cancel(self, reason: str) -> None:
        if self._session is not None and not self._session.cancel(reason=reason):
            self._scope.cancel()

    def _drained(self) -> None:
        if self._show is not None:
            self._host.drained(self._show)


def _outcome(last: Json, tokens: Json | None) -> Outcome:
    error = last.get("error")
    if error is not None and last.get("stopReason") == "error":
        return Failed(error["kind"], error["message"], error.get("hint") or "", error.get("detail") or "")
    return Ended(last.get("stopReason", "cancelled"), tokens, cancelled=last.get("cancelled", False))


def _config_value(session: Session, config_id: str, word: str) -> str | bool:
    """What `--config-option id=word` means for this option: a boolean one wants true or false."""
    option = next((option for option in session.config_options if option.get("id") == config_id), {})
    if option.get("type") != "boolean":
        return word
    if word not in ("true", "false"):
        message = f"--config-option {config_id} must be true or false, not {word!r}"
        raise HostError("badParam", message, f"write --config-option {config_id}=true", param="configId")
    return word == "true"
