"""`initialize` of ACP v1: what we say of ourselves, and what the agent's answer means. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from acp_bridge.agents.acp import lenient
from acp_bridge.agents.acp.requests import Served
from acp_bridge.agents.agent import AgentInfo, Capabilities
from acp_bridge.agents.events import Json

VERSION = 1


class NotAcp(Exception):
    """The answer is none that an ACP agent gives; the text says what is wrong with it."""


class OtherVersion(NotAcp):
    """The agent speaks another version of the protocol only."""


def params(client_info: Mapping[str, Any], served: Served) -> Json:
    """The params of our initialize."""
    return {
        "protocolVersion": VERSION,
        "clientCapabilities": served.as_json(),
        "clientInfo": dict(client_info),
    }


def read(result: Any) -> tuple[AgentInfo, Capabilities]:
    """The agent's answer. Raises NotAcp."""
    if not isinstance(result, dict):
        raise NotAcp("its answer to initialize is no object")
    version = _version(result.get("protocolVersion"))
    if version is None:
        raise NotAcp("its answer to initialize holds no protocolVersion")
    if version != VERSION:
        raise OtherVersion(f"it speaks ACP version {version}, this bridge speaks version {VERSION}")
    info = lenient.obj(result, "agentInfo")
    return (
        AgentInfo(
            name=lenient.text_or_none(info, "name"),
            title=lenient.text_or_none(info, "title"),
            version=lenient.text_or_none(info, "version"),
            protocol="acp",
            protocol_version=str(version),
            auth_methods=auth_methods(result),
        ),
        _capabilities(lenient.obj(result, "agentCapabilities")),
    )


def auth_methods(source: Json) -> list[Json]:
    """The log-in methods in `authMethods`, those without an id left out."""
    return lenient.kept(lenient.objects(source, "authMethods") or [], _auth_method)


def _auth_method(method: Json) -> Json | None:
    if not lenient.strings(method, "id"):
        return None
    return {**method, "name": lenient.text_or_none(method, "name") or method["id"]}


def _version(value: Any) -> int | str | None:
    """A whole number, also from "1" or 1.0; another string as it is; None for anything else."""
    if isinstance(value, str):
        return int(value) if value.isdecimal() else value or None
    return lenient.number({"version": value}, "version")


def _capabilities(said: Json) -> Capabilities:
    session = lenient.obj(said, "sessionCapabilities")
    prompt = lenient.obj(said, "promptCapabilities")
    mcp = lenient.obj(said, "mcpCapabilities")
    return Capabilities(
        load=said.get("loadSession") is True,
        resume=_marked(session, "resume"),
        fork=_marked(session, "fork"),
        list=_marked(session, "list"),
        close=_marked(session, "close"),
        delete=_marked(session, "delete"),
        logout=_marked(lenient.obj(said, "auth"), "logout"),
        additional_directories=_marked(session, "additionalDirectories"),
        image=prompt.get("image") is True,
        audio=prompt.get("audio") is True,
        embedded_context=prompt.get("embeddedContext") is True,
        mcp_http=mcp.get("http") is True,
        mcp_sse=mcp.get("sse") is True,
        raw=said,
    )


def _marked(source: Json, key: str) -> bool:
    """An object marks a capability; `true` is taken for one too."""
    value = source.get(key)
    return isinstance(value, dict) or value is True
