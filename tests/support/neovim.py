"""A real Neovim in tests: driven by keystrokes, watched on its screen, ended by its process id."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pynvim

from support.nvim_screen import Screen

PLUGIN = Path(__file__).resolve().parents[2] / "editors" / "neovim"
PATIENCE = 30.0


class Neovim:
    """One Neovim with no configuration but `init` (Lua), working in `folder`, with a UI of its own."""

    def __init__(
        self, program: Path, folder: Path, home: Path, init: str, environ: dict[str, str], *files: str
    ) -> None:
        home.mkdir(parents=True, exist_ok=True)
        (home / "init.lua").write_text(init)
        self.home = home
        self.folder = folder
        # A socket's path must be short, and pytest's folders are not.
        self.address = str(Path(tempfile.mkdtemp(prefix="nvim")) / "s")
        names = ("CONFIG", "DATA", "STATE", "CACHE")
        private = {f"XDG_{name}_HOME": str(home / name.lower()) for name in names}
        self.errors = (home / "nvim.err").open("wb")
        options = ["--clean", "-u", str(home / "init.lua"), "--headless", "--listen", self.address]
        self.process = subprocess.Popen(
            [program, *options, *files],
            cwd=folder,
            env={**environ, **private, "TERM": "xterm-256color"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self.errors,
        )
        self.nvim = self.until(self._attached, "no socket that listens")
        self.screen = Screen(self.address, 130, 40)

    def _attached(self) -> Any:
        """A socket is there a moment before anybody listens on it."""
        try:
            return pynvim.attach("socket", path=self.address)
        except OSError:
            return None

    def keys(self, keys: str) -> None:
        """Type, in the notation of `:help keycodes`; `<` itself is `<lt>`."""
        while keys:
            keys = keys[self.nvim.input(keys) :]

    def lua(self, code: str, *arguments: Any) -> Any:
        return self.nvim.exec_lua(code, *arguments)

    def until(self, condition: Callable[[], Any], what: str, seconds: float = PATIENCE) -> Any:
        """Look again and again until `condition` gives something true; returns it."""
        end = time.monotonic() + seconds
        while True:
            found = condition()
            if found:
                return found
            if self.process.poll() is not None:
                raise AssertionError(f"{what}: Neovim ended with status {self.process.returncode}")
            if time.monotonic() > end:
                raise AssertionError(f"{what}\n{self.screen.text() if hasattr(self, 'screen') else ''}")
            time.sleep(0.02)

    def sees(self, text: str, seconds: float = PATIENCE) -> None:
        """Wait until `text` stands on the screen, within one line."""
        self.until(lambda: text in self.screen.text(), f"not on the screen: {text!r}", seconds)

    def buffer(self, name: str) -> list[str]:
        """The lines of the buffer whose name ends with `name`."""
        for buffer in self.nvim.buffers:
            if buffer.name.endswith(name):
                return list(buffer[:])
        raise AssertionError(f"no buffer {name}: {[buffer.name for buffer in self.nvim.buffers]}")

    def close(self) -> int:
        """Quit as a user does; returns the exit status."""
        if self.process.poll() is None:
            try:
                self.keys("<C-\\><C-n>:qa!<CR>")
                self.process.wait(15)
            except (OSError, EOFError, subprocess.TimeoutExpired):
                self.process.kill()
        self.errors.close()
        status = self.process.wait(15)
        shutil.rmtree(Path(self.address).parent, ignore_errors=True)
        return status
