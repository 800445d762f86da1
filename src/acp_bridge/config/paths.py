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


def expand_home(path: str, environ: Mapping[str, str]) -> str:
    """`~` and `~/…` with the home folder of `environ`, `~name/…` with that user's. As given where none is
    known, so what still starts with `~` could not be expanded."""
    if path == "~" or path.startswith(("~/", "~" + os.sep)):
        home = environ.get("USERPROFILE" if os.name == "nt" else "HOME")
        return (home or _expanduser("~")) + path[1:]
    return _expanduser(path) if path.startswith("~") else path


def _expanduser(path: str) -> str:
    """pathlib's raises where no home is known; this one gives the path back."""
    return os.path.expanduser(path)


def user_folder(environ: Mapping[str, str]) -> Path | None:
    """The user's configuration folder, there or not: $ACP_BRIDGE_CONFIG_DIR, else the platform's
    (`~/.config/acp-bridge` on Linux). None where no home is known: a relative path would mean a folder in
    whatever project we run in, and that must not count as the user's."""
    named = environ.get("ACP_BRIDGE_CONFIG_DIR")
    folder = Path(expand_home(named, environ)) if named else _platform_folder()
    return folder if folder and folder.is_absolute() else None


def _platform_folder() -> Path | None:
    try:
        return user_config_path("acp-bridge", appauthor=False)
    except RuntimeError:
        return None


def shipped_agents() -> tuple[str, bytes]:
    """(name, content) of the shipped agents.json: beside this module in an installed wheel, at the top of
    the repository in a checkout. Raises FileNotFoundError if the installation is broken."""
    packaged = resources.files(__package__) / AGENTS_JSON
    if packaged.is_file():
        return str(packaged), packaged.read_bytes()
    checkout = Path(__file__).parents[3] / AGENTS_JSON
    return str(checkout), checkout.read_bytes()
