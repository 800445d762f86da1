"""The one table of protocol words: what an entry's `protocol` may say, and which dialect each word means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Word:
    """One protocol word: the `dialect` that speaks it, and a line for a person."""

    dialect: str
    description: str


PROTOCOLS: Final[dict[str, Word]] = {
    "acp": Word("acp", "Agent Client Protocol over stdio"),
    "gemini": Word("acp", "Gemini CLI, which speaks ACP"),
    "opencode": Word("acp", "OpenCode, which speaks ACP"),
    "auggie": Word("acp", "Auggie, which speaks ACP"),
    "copilot": Word("acp", "GitHub Copilot CLI, which speaks ACP"),
    "kandev": Word("kandev", "Kandev's agent protocol"),
    "legacy": Word("legacy", "Kandev's older line messages"),
    "claude-code": Word("claude-code", "Claude Code's stream-json"),
    "codex": Word("codex", "Codex app-server"),
    "rest": Word("rest", "an agent behind Kandev's REST API"),
    "mcp": Word("mcp", "an agent that is an MCP server"),
    "demo": Word("demo", "the built-in demo agent, in this process"),
}


def dialect(word: str) -> str | None:
    """The dialect a protocol word means; None for an unknown word."""
    known = PROTOCOLS.get(word)
    return known.dialect if known else None


def known_words() -> str:
    """Every protocol word, for an error message."""
    return ", ".join(PROTOCOLS)
