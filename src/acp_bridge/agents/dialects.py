"""From a server entry to an Agent: one factory a dialect.

Which `protocol` word means which dialect stands in config.protocols; `DIALECTS` holds those this version has
built. A dialect's module is imported only when an agent needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_bridge.agents.agent import Agent, AgentError, Client
from acp_bridge.config import protocols
from acp_bridge.config.protocols import PROTOCOLS
from acp_bridge.config.server import AgentServer

__all__ = ["DIALECTS", "PROTOCOLS", "create"]

Factory = Callable[[AgentServer, Client, str, Mapping[str, Any]], Agent]


def _acp(server: AgentServer, client: Client, cwd: str, client_info: Mapping[str, Any]) -> Agent:
    from acp_bridge.agents.acp.agent import AcpAgent

    return AcpAgent(server, client, cwd=cwd, client_info=client_info)


def _demo(server: AgentServer, client: Client, cwd: str, client_info: Mapping[str, Any]) -> Agent:
    from acp_bridge.agents.demo import DemoAgent

    return DemoAgent(client, require_auth=server.protocol_config.get("require_auth") is True)


DIALECTS: dict[str, Factory] = {"acp": _acp, "demo": _demo}


def create(server: AgentServer, client: Client, *, cwd: str, client_info: Mapping[str, Any]) -> Agent:
    """The agent of `server`, not yet started. `cwd` is the workspace its program runs in; `client_info` is
    `{name, version, title?}`. Raises AgentError("config") for a protocol this version does not speak."""
    dialect = protocols.dialect(server.protocol)
    make = DIALECTS.get(dialect) if dialect is not None else None
    if make is None:
        raise _not_spoken(server, dialect)
    return make(server, client, cwd, client_info)


def spoken(server: AgentServer) -> bool:
    """Whether this version speaks the protocol of `server`."""
    return protocols.dialect(server.protocol) in DIALECTS


def _not_spoken(server: AgentServer, dialect: str | None) -> AgentError:
    where = f" in {server.file}" if server.file else ""
    spoken = ", ".join(word for word, known in PROTOCOLS.items() if known.dialect in DIALECTS)
    what = "is a known protocol that this version does not speak yet" if dialect else "is no known protocol"
    return AgentError(
        "config",
        f"Agent {server.id!r}{where}: protocol {server.protocol!r} {what}",
        hint=f"This version speaks: {spoken}. Known words: {protocols.known_words()}.",
    )
