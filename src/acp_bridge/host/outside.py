"""The bridge's own question: may the agent touch a path outside the session's folders?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import anyio

from acp_bridge.host.content import file_ref
from acp_bridge.host.ids import mint
from acp_bridge.host.permissions import CANCELLED, Pending
from acp_bridge.host.visible import one_line, visible

if TYPE_CHECKING:
    from acp_bridge.host.session import Session
    from acp_bridge.host.turns import Turn

Json = dict[str, Any]
ALLOW = "acp-bridge-allow-once"
REJECT = "acp-bridge-reject"


async def ask_outside(
    session: Session, turn: Turn | None, what: Literal["read", "edit"], path: str, real: str, text: str | None
) -> bool:
    """Ask the user; True only for an explicit yes to this one access.

    `real` is where `path` leads, `turn` the one the request came in: once that is cancelled nobody is asked.
    Cancelled (the agent has taken its request back), the question is taken back too.
    """
    if session.live() is None or (turn is not None and turn.cancelled):
        return False
    verb = "read" if what == "read" else "write"
    where = _where(path, real)
    title = one_line(f"{session.runner.label} wants to {verb} outside the workspace: {where}", 400)
    entry = session.transcript.put("permission", {"title": title})
    details: Json = {"paths": [file_ref(path) | {"path": visible(path)}]}
    if text is not None:
        details["newText"] = visible(text)
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
    try:
        await answered.wait()
    finally:
        session.host.permissions.resolve(request["requestId"], CANCELLED, "agent")
    return chosen[0].get("optionId") == ALLOW


def _where(path: str, real: str) -> str:
    """The path, and where it really leads if that is somewhere else."""
    return path if real == path else f"{path} (leads to {real})"
