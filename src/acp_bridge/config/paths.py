"""Where configuration stands: the user's folder, a project's, and the agents that come with the program."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Final

from platformdirs import user_config_path

AGENTS_JSON: Final = "agents.json"
ACP_JSON: Final = "acp.json"
SETTINGS_JSON: Final = "settings.json"
PROJECT_FOLDER: Final = ".acp-bridge"


def user_folder(environ: Mapping[str, str] | None = None) -> Path:
    """The user's configuration folder, there or not: $ACP_BRIDGE_CONFIG_DIR, else the platform's
    (`~/.config/acp-bridge` on Linux)."""
    named = (os.environ if environ is None else environ).get("ACP_BRIDGE_CONFIG_DIR")
    return Path(named).expanduser() if named else user_config_path("acp-bridge", appauthor=False)


def shipped_agents() -> tuple[str, bytes]:
    """(name, content) of the shipped agents.json: beside this module in an installed wheel, at the top of
    the repository in a checkout. Raises FileNotFoundError if the installation is broken."""
    packaged = resources.files(__package__) / AGENTS_JSON
    if packaged.is_file():
        return str(packaged), packaged.read_bytes()
    checkout = Path(__file__).parents[3] / AGENTS_JSON
    return str(checkout), checkout.read_bytes()
