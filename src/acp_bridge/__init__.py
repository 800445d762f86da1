"""acp-bridge: a language-server-style bridge between editors and coding agents."""

__version__ = "0.1.0"
