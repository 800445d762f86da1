"""What can go wrong, in one table for every face: kind to JSON-RPC code (editor side).

Each error names the thing (`message`), says what to try (`hint`) and may quote evidence (`detail`).
"""

from __future__ import annotations

from typing import Any

from acp_bridge.agents.agent import AgentError
from acp_bridge.jsonrpc.messages import INVALID_PARAMS, RpcError

CODES: dict[str, int] = {
    "badParam": -32602,
    "unknownSession": -32002,
    "unknownRequest": -32002,
    "unknownAgent": -32002,
    "notFound": -32002,
    "authRequired": -32000,
    "stale": -32801,
    "agentUnavailable": -32803,
    "agentDied": -32803,
    "agentSpeaksNoAcp": -32803,
    "untrusted": -32803,
    "readonly": -32803,
    "unsupported": -32803,
    "outsideRoots": -32803,
    "config": -32803,
    "internal": -32603,
}


class HostError(Exception):
    """Raised by every public method of the host; `kind` is a key of CODES."""

    def __init__(
        self,
        kind: str,
        message: str,
        hint: str = "",
        *,
        detail: str = "",
        param: str = "",
        data: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.hint = hint
        self.detail = detail
        self.param = param
        self.data = data or {}

    def as_rpc(self) -> RpcError:
        """The JSON-RPC form: `data` = `{kind, hint, detail?, param?, …}`."""
        data: dict[str, Any] = {**self.data, "kind": self.kind, "hint": self.hint}
        if self.detail:
            data["detail"] = self.detail
        if self.param:
            data["param"] = self.param
        return RpcError(CODES.get(self.kind, -32603), self.message, data)

    @classmethod
    def of_param(cls, error: AgentError, param: str) -> HostError:
        """The same, where the agent's -32602 is its word on what the caller gave it in `param`."""
        if error.code != INVALID_PARAMS:
            return cls.of_agent(error)
        return cls("badParam", error.message, error.hint, detail=error.detail, param=param)

    @classmethod
    def of_agent(cls, error: AgentError, **data: Any) -> HostError:
        """Carry an AgentError over, words unchanged."""
        return cls(error.kind, error.message, error.hint, detail=error.detail, data=data)
