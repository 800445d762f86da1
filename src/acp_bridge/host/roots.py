"""Which paths a session may touch without asking: its cwd and additional directories, links followed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path


class Roots:
    """The folders of one session, absolute, its cwd first."""

    def __init__(self, folders: Sequence[str]) -> None:
        self.folders = tuple(dict.fromkeys(os.path.normpath(folder) for folder in folders))
        self._real = tuple(os.path.realpath(folder) for folder in self.folders)

    def contains(self, path: str) -> bool:
        """Whether `path`, with `..` and every symbolic link resolved, lies in one of the folders. A relative
        one starts at the first folder; one that does not exist yet is judged by what of it does."""
        try:
            return self.holds(os.path.realpath(os.path.join(self._real[0], path)))
        except ValueError:
            return False

    def holds(self, real: str) -> bool:
        """`contains` for a path that holds no links."""
        return any(Path(real).is_relative_to(folder) for folder in self._real)
