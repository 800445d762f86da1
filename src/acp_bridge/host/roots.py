"""Which paths a session may touch without asking: its cwd and additional directories, links followed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path


class Roots:
    """The folders of one session, absolute."""

    def __init__(self, folders: Sequence[str]) -> None:
        self.folders = tuple(dict.fromkeys(os.path.normpath(folder) for folder in folders))
        self._real = tuple(os.path.realpath(folder) for folder in self.folders)

    def contains(self, path: str) -> bool:
        """Whether `path`, with `..` and every symbolic link resolved, lies in one of the folders. A path that
        does not exist yet is judged by what of it does."""
        real = Path(os.path.realpath(path))
        return any(real.is_relative_to(folder) for folder in self._real)
