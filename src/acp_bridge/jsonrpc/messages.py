"""The JSON-RPC 2.0 vocabulary: error codes, the error both sides raise, an incoming answer.

Source: JSON-RPC 2.0 section 5.1; ACP adds -32000 and -32002 and -32800, LSP -32800, -32801 and -32803.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
AUTH_REQUIRED = -32000
NOT_FOUND = -32002
REQUEST_CANCELLED = -32800
CONTENT_MODIFIED = -32801
REQUEST_FAILED = -32803

Id = int | str | float | None


class RpcError(Exception):
    """A JSON-RPC error object, raised by whoever asked and answered by whoever was asked."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    def as_object(self) -> dict[str, Any]:
        """The wire form: `{code, message, data?}`."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        return error

    @classmethod
    def read(cls, raw: bytes | msgspec.Raw) -> RpcError:
        """Read an `error` member, also one that is no error object (`data` is then all of it)."""
        value = loads(raw)
        if not isinstance(value, dict):
            text = value if isinstance(value, str) else bytes(raw).decode("utf-8", "replace")
            return cls(INTERNAL_ERROR, text, value)
        code = value.get("code")
        message = value.get("message")
        if not isinstance(message, str):
            message = f"error {code}" if message is None else dumps(message).decode()
        return cls(_code(code), message, value.get("data"))


def _code(code: Any) -> int:
    try:
        return int(code)
    except (TypeError, ValueError, OverflowError):
        return INTERNAL_ERROR


class ConnectionClosed(Exception):
    """The peer's stream ended while a call was pending; `reason` says how it ended."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(slots=True)
class Answer:
    """What a call came back with: `result` (raw JSON, decode what you act on) or `error`."""

    result: msgspec.Raw | None = None
    error: RpcError | ConnectionClosed | None = None

    def value(self) -> Any:
        """The decoded result; raises the error instead if there is one."""
        if self.error is not None:
            raise self.error
        return loads(self.result) if self.result is not None else None


class Encoded:
    """Params that are JSON already, as bytes in parts; large ones are sent without being joined."""

    __slots__ = ("parts", "size")

    def __init__(self, parts: list[bytes]) -> None:
        self.parts = parts
        self.size = sum(map(len, parts))


def loads(data: bytes | msgspec.Raw) -> Any:
    """Decode JSON, also what msgspec refuses and stdlib json takes (lone surrogates, NaN, control
    characters in a string).

    Raises ValueError (of which msgspec.DecodeError is one) or RecursionError.
    """
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        import json

        return json.loads(bytes(data).decode("utf-8", "replace"), strict=False)


def dumps(value: Any) -> bytes:
    """Encode to compact UTF-8 JSON; a lone surrogate in a string becomes U+FFFD, NaN becomes null.

    Raises TypeError for what is no JSON value, RecursionError for what is too deep or contains itself.
    """
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_without_surrogates(msgspec.to_builtins(value, enc_hook=_decode_raw)))


def _decode_raw(value: Any) -> Any:
    if isinstance(value, msgspec.Raw):
        return loads(value)
    raise TypeError(f"{type(value).__name__} is no JSON value")


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_surrogates(item) for item in value]
    return value
