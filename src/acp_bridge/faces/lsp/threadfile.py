"""One thread file: a conversation as Markdown that the user writes into and the agent answers in.

Guarantees
- The prompt is what stands behind the last marker that the bridge wrote, nothing else.
- At most five edits a second, each awaited and seen before the next; a refused one is planned anew. Where
  the editor says no to one and the same text three times, the user is told and it is left at that.
- While the editor has the file open only the editor is asked to change it; else the file itself is written.
- A text that was on the disk before is known again, with what of the conversation it holds: when the editor
  opens the file while it is being written, or closes it without saving, what is missing is written anew.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import deque
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import anyio

from acp_bridge.faces.lsp import render
from acp_bridge.faces.lsp.layout import Layout, Plan, prompt_block
from acp_bridge.host.content import to_uri
from acp_bridge.host.disk import DiskError, Shape, read_text, write_text
from acp_bridge.host.errors import HostError
from acp_bridge.host.session import Session

if TYPE_CHECKING:
    from acp_bridge.faces.lsp.documents import Document, OpenDocuments
    from acp_bridge.faces.lsp.edits import Edits

log = logging.getLogger(__name__)
Json = dict[str, Any]

PACE_SECONDS = 0.2
SETTLE_SECONDS = 3.0
TRIES = 3
HISTORY = 8
NO_TURN = "-"


class Surroundings(Protocol):
    """What a thread file needs of its editor."""

    documents: OpenDocuments
    edits: Edits

    def tell_error(self, what: str, error: HostError) -> None: ...


@dataclass(frozen=True, slots=True)
class _State:
    """What of the conversation the text holds: `done` for good, `turn` in part. `own`: the prompt of that
    turn was written in the file, so it is not shown again."""

    done: frozenset[str] = frozenset()
    turn: str | None = None
    own: bool = False


class ThreadFile:
    """Made with its first text on the disk; `attach` gives it the session; `run` writes answers until
    cancelled. `live` False: one edit at the end of each turn."""

    def __init__(self, path: Path, title: str, draft: str, around: Surroundings, *, live: bool) -> None:
        nonce = secrets.token_hex(8)
        text = f"# {title}\n\n{prompt_block(nonce)}\n{draft}"
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path = path
        self.uri = to_uri(str(path))
        self.layout = Layout(text, nonce)
        self.session: Session | None = None
        self._around = around
        self._live = live
        self._taken = ""
        self._prompts: dict[str, str] = {}
        self._state = _State()
        self._history: deque[tuple[Layout, _State]] = deque(maxlen=HISTORY)
        self._refusals = 0
        self._dirty = anyio.Event()
        self._written = anyio.Event()
        self._write(text)
        self._remember()

    def attach(self, session: Session) -> None:
        """The session that this file shows."""
        self.session = session
        self.changed()

    @property
    def busy(self) -> bool:
        """A prompt was taken whose answer is not written for good yet, or another turn runs."""
        return self._running or (self.layout.answer is not None and not self._between_turns)

    @property
    def _running(self) -> bool:
        return self.session is not None and self.session.turns.running is not None

    @property
    def _between_turns(self) -> bool:
        """What is being written belongs to no turn, so it has no end of its own."""
        return self._state.turn is not None and self._state.turn.startswith(NO_TURN)

    async def settled(self) -> None:
        """Return once the answer of a turn that is over is written for good, at most after `SETTLE_SECONDS`:
        the user sees the next marker, and may send, before we know that the editor has it."""
        with anyio.move_on_after(SETTLE_SECONDS):
            while self.busy and not self._running:
                await self._written.wait()

    def take_prompt(self) -> str:
        """What the user has written to be sent; its answer will stand behind it. Raises HostError."""
        if self.busy:
            hint = "wait for its end or cancel it; what you write below its answer is kept as the next prompt"
            raise HostError("unsupported", "the agent still works on the last prompt of this thread", hint)
        if self._document() is None:
            self._became(self._read())
            self._remember()
        prompt = self.layout.prompt()
        if prompt is None:
            hint = "undo the change that removed it, or start a new thread"
            raise HostError("notFound", f"the prompt marker is gone from {self.path}", hint)
        if not prompt:
            message = "there is nothing to send below the last <!-- acp-bridge prompt … --> line"
            raise HostError("badParam", message, "write a prompt at the end of the file", param="uri")
        if self._state.turn is not None:
            self._end(self._state.turn)
        self.layout.begin(behind_prompt=True)
        self._taken = prompt
        return prompt

    def send(self, blocks: str | list[Json]) -> str:
        """Prompt the session with what was taken (or `blocks` made of it); the turn's id. Raises HostError;
        the prompt can then be taken again."""
        try:
            assert self.session is not None
            turn_id = str(self.session.prompt(blocks)["turnId"])
        except HostError:
            self.give_back()
            raise
        self._prompts[turn_id] = self._taken
        return turn_id

    def give_back(self) -> None:
        """What was taken will not be sent."""
        self.layout.finish()

    def changed(self) -> None:
        """The session has changed: write what is new at the next pace."""
        self._dirty.set()

    def opened(self, document: Document) -> None:
        """The editor shows the file, perhaps as it was a moment ago."""
        self._became(document.text)
        self.changed()

    def saved(self) -> None:
        """The file is as the editor shows it."""
        self._remember()

    def closed(self) -> None:
        """The editor has let the file go, perhaps without saving."""
        self._became(self._read())
        self.changed()

    async def run(self) -> None:
        """Write what changes, for ever."""
        while True:
            await self._dirty.wait()
            self._dirty = anyio.Event()
            try:
                await self._catch_up()
            except HostError as error:
                self._give_up(error)
            await anyio.sleep(PACE_SECONDS)

    async def _catch_up(self) -> None:
        if self.session is None:
            return
        for key, entries, finished in _groups(self.session, self._state.done):
            if not (self._live or finished):
                return
            if self._state.turn != key:
                self._begin(key)
            if not await self._show(entries, finished):
                self.changed()
                return
            if finished:
                self._end(key)
            if self._document() is None:
                self._remember()
            if not finished:
                return

    def _begin(self, key: str) -> None:
        self._refusals = 0
        taken = self.layout.answer is not None and key in self._prompts
        stands = key in self._prompts and (self.layout.prompt() or "").startswith(self._prompts[key])
        self._state = replace(self._state, turn=key, own=taken or stands)
        if not taken:
            self.layout.begin(behind_prompt=stands)

    def _end(self, key: str) -> None:
        self._state = _State(self._state.done | {key})
        self.layout.finish()
        self._written.set()
        self._written = anyio.Event()

    async def _show(self, entries: list[Json], finished: bool) -> bool:
        """Bring the answer up to date; False if it must be tried again."""
        assert self.session is not None
        own = self._state.own
        pending = {p["request"]["requestId"]: p["request"] for p in self.session.pending()}
        text = render.turn(entries, pending, with_prompt=not own, finished=finished)
        wants_block = finished and not self.layout.followed and (own or self.layout.block is None)
        plan = self.layout.plan(text, secrets.token_hex(8) if wants_block else "")
        if plan.empty:
            return True
        refused = await self._apply(plan)
        if refused is None:
            self._refusals = 0
            return True
        log.info("%s: %s", self.path, refused)
        self._refusals = self._refusals + 1 if self.layout.text == plan.before else 0
        if self._refusals < TRIES or not finished:
            return self._refusals >= TRIES
        hint = "reopen it with the command acpBridge.openThread"
        raise HostError("stale", f"the editor did not take the answer: {refused}", hint)

    async def _apply(self, plan: Plan) -> str | None:
        layout = self.layout
        before = (layout.block, layout.answer)
        document = self._document()
        if document is None:
            text = plan.change.apply(plan.before)
            await asyncio.get_running_loop().run_in_executor(None, self._write, text)
            layout.landed(plan, before, text)
            return self._opened_meanwhile(layout)
        if document.text != plan.before:
            self._became(document.text)
            return "the text changed meanwhile"
        refused = await self._around.edits.apply(document, plan.change)
        if refused is None and self.layout is not layout:
            return "the file was closed or opened anew meanwhile"
        if refused is None:
            layout.landed(plan, before, document.text)
        return refused

    def _opened_meanwhile(self, written: Layout) -> str | None:
        """Whether the editor opened the file while it was being written, and shows it as it was before."""
        self.layout = written
        document = self._document()
        if document is None or document.text == written.text:
            return None
        self._remember()
        self._became(document.text)
        return "the file was opened meanwhile"

    def _give_up(self, error: HostError) -> None:
        """Leave this turn unwritten, or all that follows would wait for it."""
        self._around.tell_error(str(self.path), error)
        if self._state.turn is not None:
            self._end(self._state.turn)
        self.changed()

    def _remember(self) -> None:
        """The disk holds the text as it is now."""
        self._history.append((copy(self.layout), self._state))

    def _became(self, text: str) -> None:
        """The text is another one than it was last."""
        if text == self.layout.text:
            return
        for layout, state in reversed(self._history):
            if layout.text == text:
                self.layout, self._state = copy(layout), state
                return
        self.layout.replaced(text)

    def _document(self) -> Document | None:
        return self._around.documents.find(self.uri)

    def _read(self) -> str:
        try:
            return read_text(str(self.path))[0]
        except DiskError as error:
            raise HostError("notFound", error.message, "start a new thread") from error

    def _write(self, text: str) -> None:
        try:
            write_text(str(self.path), text, Shape())
        except DiskError as error:
            raise HostError("internal", error.message, "see that the folder can be written to") from error


def _groups(session: Session, done: frozenset[str]) -> list[tuple[str, list[Json], bool]]:
    """The entries of each turn that is not written for good yet: `(key, entries, finished)`, oldest first.
    What belongs to no turn makes groups of its own, which the next turn finishes."""
    thread = session.thread
    keys: list[str] = []
    groups: dict[str, list[Json]] = {}
    last = ""
    for entry_id in thread.order:
        entry = thread.entry(entry_id)
        key = entry.turn_id or (last if last.startswith(NO_TURN) else NO_TURN + entry_id)
        last = key
        if key in done:
            continue
        if key not in groups:
            keys.append(key)
            groups[key] = []
        groups[key].append(entry.as_json())
    queue = session.turns.queue
    going_on = {turn.id for turn in queue.items} | ({queue.running.id} if queue.running else set())

    def finished(key: str) -> bool:
        return key != keys[-1] or (key not in going_on and not key.startswith(NO_TURN))

    return [(key, groups[key], finished(key)) for key in keys]
