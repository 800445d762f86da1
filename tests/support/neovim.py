"""A real Neovim in tests: driven by keystrokes, watched on its screen, ended by its process id."""

from __future__ import annotations

import os
import subprocess
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
        # A socket's path must be short.
        self.address = str(Path(os.environ.get("TMPDIR", "/tmp")) / f"nv-{os.getpid()}-{id(self) % 10**8}.sock")
        private = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "DATA", "STATE", "CACHE")}
        self.errors = (home / "nvim.err").open("wb")
        self.process = subprocess.Popen(
            [program, "--clean", "-u", str(home / "init.lua"), "--headless", "--listen", self.address, *files],
            cwd=folder,
            env={**environ, **private, "TERM": "xterm-256color"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self.errors,
        )
        self.until(lambda: os.path.exists(self.address), "no socket")
        self.nvim = pynvim.attach("socket", path=self.address)
        self.screen = Screen(self.address, 130, 40)

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
        Path(self.address).unlink(missing_ok=True)
        return status
