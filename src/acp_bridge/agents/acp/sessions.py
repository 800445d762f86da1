"""Params and results of the session calls (session/new, load, resume, fork, list). No I/O."""

from __future__ import annotations

from typing import Any

from acp_bridge.agents.acp import lenient
from acp_bridge.agents.agent import AgentError, Capabilities, SessionParams
from acp_bridge.agents.events import Json


def wire_params(params: SessionParams, able: Capabilities) -> tuple[Json, list[str]]:
    """The params all of them share, and the names of the MCP servers left out because the agent did not
    announce their transport."""
    usable = [server for server in params.mcp_servers if _reachable(server, able)]
    left_out = [str(server.get("name", "?")) for server in params.mcp_servers if server not in usable]
    wire: Json = {"cwd": params.cwd, "mcpServers": usable}
    if able.additional_directories and params.additional_directories:
        wire["additionalDirectories"] = params.additional_directories
    return wire, left_out


def _reachable(server: Json, able: Capabilities) -> bool:
    """stdio needs no capability; another transport needs its own."""
    transport = server.get("type")
    return transport in (None, "stdio") or {"http": able.mcp_http, "sse": able.mcp_sse}.get(transport, False)


def session_id(label: str, result: Any) -> str:
    """The id of a session just made. Raises AgentError."""
    made = lenient.text_or_none(result, "sessionId") if isinstance(result, dict) else None
    if not made:
        raise AgentError(
            "internal",
            f"{label} made a session without a sessionId",
            hint="Update the agent, or report this to its makers.",
        )
    return made


def listing(result: Any) -> Json:
    """`{sessions, nextCursor?}`; sessions without an id or a folder are left out."""
    source = result if isinstance(result, dict) else {}
    found = lenient.objects(source, "sessions") or []
    listed: Json = {"sessions": [item for item in found if lenient.strings(item, "sessionId", "cwd")]}
    if lenient.strings(source, "nextCursor"):
        listed["nextCursor"] = source["nextCursor"]
    return listed
