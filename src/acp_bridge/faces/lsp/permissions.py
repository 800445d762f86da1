"""Permission in plain LSP: `window/showMessageRequest`, one at a time; code actions and a command beside it.

Guarantees
- Only an option that was chosen decides. null, an error, `Decide later` (the first action, because some
  editors preselect the first) or anything unknown leaves the request pending, and the user is told where to
  decide.
- A request that is settled otherwise takes its message back; what is answered to it then decides nothing.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio

from acp_bridge.host.errors import HostError
from acp_bridge.host.session import Session
from acp_bridge.jsonrpc.messages import ConnectionClosed, RpcError

if TYPE_CHECKING:
    from acp_bridge.faces.lsp.editor import Editor

log = logging.getLogger(__name__)
Json = dict[str, Any]

LATER = "Decide later"
INFO = 3


@dataclass(slots=True)
class Asked:
    """One request that waits; `scope` is open while its message is shown."""

    session: Session
    request: Json
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    @property
    def id(self) -> str:
        return str(self.request["requestId"])


class PermissionMessages:
    """Everything that waits for this editor's user, oldest first."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._queue: list[Asked] = []
        self._shown: Asked | None = None
        self._more = anyio.Event()

    def add(self, session: Session, request: Json) -> None:
        """Ask as soon as no other message is shown."""
        self._queue.append(Asked(session, request))
        self._more.set()

    def resolved(self, request_id: str) -> None:
        """Somebody has decided: nothing is asked any more."""
        self._queue = [asked for asked in self._queue if asked.id != request_id]
        if self._shown is not None and self._shown.id == request_id:
            self._shown.scope.cancel()

    async def run(self) -> None:
        """Show one message after the other, for ever."""
        while True:
            while not self._queue:
                self._more = anyio.Event()
                await self._more.wait()
            self._shown = asked = self._queue.pop(0)
            with asked.scope:
                await self._ask(asked)
            self._shown = None

    async def _ask(self, asked: Asked) -> None:
        titles = titles_of(asked.request["options"])
        actions = [{"title": LATER}, *({"title": title} for title in titles)]
        params = {"type": INFO, "message": message_of(asked.session, asked.request), "actions": actions}
        try:
            answer = await self._editor.peer.call("window/showMessageRequest", params)
        except (RpcError, ConnectionClosed) as error:
            log.info("window/showMessageRequest: %s", error)
            answer = None
        title = answer.get("title") if isinstance(answer, dict) else None
        option_id = titles.get(title) if isinstance(title, str) else None
        if option_id is None:
            self._tell_where(asked)
            return
        try:
            self._editor.host.answer_permission(asked.id, option_id)
        except HostError as error:
            self._editor.tell_error("the permission was not given", error)

    def _tell_where(self, asked: Asked) -> None:
        where = self._editor.threads.path_of(asked.session)
        place = f"in {where} or " if where else ""
        text = (
            f"{asked.request['title']}: still waiting for your permission. Decide by code action {place}"
            "in the file concerned, or by the command acpBridge.permission.answer."
        )
        self._editor.tell(INFO, text)


def titles_of(options: list[Json]) -> dict[str, str]:
    """Unique titles to option ids, in the agent's order."""
    titles: dict[str, str] = {}
    for option in options:
        title = name = option["name"]
        number = 2
        while title in titles or title == LATER:
            title = f"{name} ({number})"
            number += 1
        titles[title] = option["optionId"]
    return titles


def message_of(session: Session, request: Json) -> str:
    """What is asked, in words: the exact command or path under the title."""
    return f"{session.agent_id} asks: {request['title']}{details_of(request)}"


def details_of(request: Json) -> str:
    """The exact command or paths of a request, on lines of their own; "" where the title says all."""
    details = request["action"]["details"]
    if "command" in details:
        return f"\n{details['command']}\nin {details['cwd']}"
    return "".join(f"\n{path['path']}" for path in details.get("paths", []))
