"""The bridge's own question: may the agent touch a path outside the session's folders?"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

import anyio

from acp_bridge.host.content import file_ref
from acp_bridge.host.ids import mint
from acp_bridge.host.permissions import Pending
from acp_bridge.host.visible import one_line, visible

if TYPE_CHECKING:
    from acp_bridge.host.session import Session

Json = dict[str, Any]
ALLOW = "acp-bridge-allow-once"
REJECT = "acp-bridge-reject"


async def ask_outside(session: Session, what: Literal["read", "edit"], path: str, text: str | None) -> bool:
    """Ask the user; True only for an explicit yes to this one access."""
    running = session.turns.running
    if running is not None and running.cancelled:
        return False
    verb = "read" if what == "read" else "write"
    title = one_line(f"{session.runner.label} wants to {verb} outside the workspace: {_where(path)}", 400)
    entry = session.transcript.put("permission", {"title": title})
    details: Json = {"paths": [file_ref(path) | {"path": visible(path)}]}
    if text is not None:
        details["newText"] = text
    request: Json = {
        "requestId": mint("req"),
        "sessionId": session.id,
        "entryId": entry.id,
        "title": title,
        "action": {"type": what, "details": details},
        "options": [
            {"optionId": ALLOW, "name": f"Allow this {verb} once", "kind": "allow_once"},
            {"optionId": REJECT, "name": "Reject", "kind": "reject_once"},
        ],
        "rememberScopes": [],
        "outsideRoots": True,
    }
    answered = anyio.Event()
    chosen: list[Json] = []

    def settle(outcome: Json, by: str) -> None:
        chosen.append(outcome)
        answered.set()

    session.ask(Pending(request, session, entry, settle))
    session.host.flush()
    await answered.wait()
    return chosen[0].get("optionId") == ALLOW


def _where(path: str) -> str:
    """The path, and where it really leads if that is somewhere else."""
    real = os.path.realpath(path)
    return path if real == path else f"{path} (leads to {real})"
