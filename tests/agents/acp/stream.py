"""An AcpAgent without a program: lines are fed to it as if read from a pipe."""

from __future__ import annotations

import json
from typing import Any

from acp_bridge.agents.acp.agent import AcpAgent
from acp_bridge.agents.events import MessageChunk, ThoughtChunk
from acp_bridge.config.server import AgentServer
from agents.recorder import Recorder


def agent_and_client(*, tracing: bool = False, **protocol_config: Any) -> tuple[AcpAgent, Recorder]:
    client = Recorder(tracing=tracing)
    server = AgentServer(id="piped", cmd=["none"], protocol_config=protocol_config)
    return AcpAgent(server, client, cwd="/w", client_info={"name": "t", "version": "0"}), client


def update_line(update: dict[str, Any], session: str = "s", **members: Any) -> bytes:
    params = {"sessionId": session, "update": update, **members}
    return json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params}).encode() + b"\n"


def chunk_line(text: str, kind: str = "agent_message_chunk", session: str = "s", **members: Any) -> bytes:
    return update_line({"sessionUpdate": kind, "content": {"type": "text", "text": text}, **members}, session)


def events_of(*reads: bytes) -> list[tuple[str | None, Any]]:
    """What the client gets when each of `reads` arrives as one read."""
    agent, client = agent_and_client()
    for read in reads:
        agent.data_received(read)
    return client.events


def joined(events: list[tuple[str | None, Any]]) -> list[tuple[str | None, Any]]:
    """Events with neighbouring text chunks of one message made one, however they were cut into reads."""
    result: list[tuple[str | None, Any]] = []
    for session, event in events:
        if result and isinstance(event, MessageChunk | ThoughtChunk):
            before_session, before = result[-1]
            if before_session == session and _same_message(before, event):
                result[-1] = (session, _with_text(event, before.text + event.text))
                continue
        result.append((session, event))
    return result


def _same_message(one: Any, two: Any) -> bool:
    blocks = (getattr(one, "block", None), getattr(two, "block", None))
    return type(one) is type(two) and blocks == (None, None) and _with_text(one, "") == _with_text(two, "")


def _with_text(event: Any, text: str) -> Any:
    if isinstance(event, ThoughtChunk):
        return ThoughtChunk(text=text, message_id=event.message_id, parent=event.parent)
    return MessageChunk(role=event.role, text=text, message_id=event.message_id, parent=event.parent)
