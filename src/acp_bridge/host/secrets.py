"""Keep secrets out of what is logged and printed: agents' stderr, traces, `acp/log`, doctor.

Masked are the values of environment variables whose names look like keys, every value configured for an agent
that is long enough to be a secret, and what follows `Authorization` or `Bearer` in a header.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

MASK = "•••"
_KEY_LIKE = re.compile(r"(?i)(key|token|secret|passw|pwd$|credential|auth|session_?id$|cookie|private)")
_NOT_SECRET = re.compile(r"(?i)^(true|false|yes|no|on|off|none|null|[0-9.]{1,6}|/[^:]*)$")
_HEADER = re.compile(r"(?i)(authorization[\"']?\s*[:=,]?[^\n]{0,24}?(?:bearer|basic|token)\s+)[^\s\"'\\,}]+")
_BEARER = re.compile(r"(?i)\b(bearer\s+)[A-Za-z0-9._~+/=-]{8,}")
_SHORTEST = 4
_SHORTEST_UNNAMED = 8


def key_like(name: str) -> bool:
    """True when a variable of this name probably holds a secret."""
    return bool(_KEY_LIKE.search(name))


class Masker:
    """Replaces known secrets in text by `•••`; longest first, also in their JSON-escaped form."""

    def __init__(self, environ: Mapping[str, str], configured: Iterable[Mapping[str, str]] = ()) -> None:
        self._secrets = {v for name, v in environ.items() if key_like(name) and _long(v, _SHORTEST)}
        self._known: re.Pattern[str] | None = None
        self.learn(configured)

    def learn(self, configured: Iterable[Mapping[str, str]]) -> None:
        """Mask from now on also what these environments or headers hold."""
        for env in configured:
            for name, value in env.items():
                if _long(value, _SHORTEST if key_like(name) else _SHORTEST_UNNAMED):
                    self._secrets.add(value)
        written = self._secrets | {json.dumps(secret)[1:-1] for secret in self._secrets}
        ordered = sorted(written, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, ordered))) if ordered else None

    def __call__(self, text: str) -> str:
        """`text` without secrets."""
        if self._known is not None:
            text = self._known.sub(MASK, text)
        text = _HEADER.sub(rf"\1{MASK}", text)
        return _BEARER.sub(rf"\1{MASK}", text)

    def json(self, value: object) -> object:
        """A JSON value without secrets in any of its strings."""
        if isinstance(value, str):
            return self(value)
        if isinstance(value, list):
            return [self.json(item) for item in value]
        if isinstance(value, dict):
            return {key: self._member(str(key), item) for key, item in value.items()}
        return value

    def _member(self, key: str, value: object) -> object:
        if key.lower() in ("authorization", "proxy-authorization") and isinstance(value, str):
            return MASK
        return self.json(value)


def _long(value: str, least: int) -> bool:
    return len(value) >= least and not _NOT_SECRET.match(value)
