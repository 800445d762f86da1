"""What keeps secrets out of what the terminal prints: see host.secrets."""

from __future__ import annotations

from acp_bridge.host.secrets import MASK, Masker, key_like

__all__ = ["MASK", "Masker", "key_like"]
