"""Agents: what is told of them, and what can be asked of them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field
from typing_extensions import TypeAliasType

from acp_bridge.faces.lsp.protocol.base import Json, Kept, Wire


class AuthMethod(Kept):
    id: str
    name: str
    description: str | None = None


AgentState = TypeAliasType("AgentState", Literal["stopped", "starting", "running", "authRequired", "failed"])


class Agent(Wire):
    id: str
    name: str
    display_name: str
    description: str
    protocol: str
    source: str
    enabled: bool
    available: bool
    reason: str | None = None
    state: AgentState
    version: str | None = None
    auth_methods: list[AuthMethod] | None = None
    profiles: list[Json]


class LogLine(Wire):
    time: str
    stream: str
    text: str


class AgentParams(Wire):
    agent: str


class AuthenticateParams(AgentParams):
    """`method_id` may be left out where the agent has one method only."""

    method_id: str | None = None


class AgentLogParams(AgentParams):
    """`follow` true starts `acp/log` notifications for the agent, false stops them."""

    tail: int | None = Field(default=None, ge=0)
    follow: bool | None = None


class AgentList(Wire):
    agents: list[Agent]
    default_agent: str | None = None


class AgentLog(Wire):
    lines: list[LogLine]


class Installed(Wire):
    version: str


class AgentChanged(Wire):
    agent: Agent


class AgentLogged(Wire):
    agent: str
    direction: str
    message: str
