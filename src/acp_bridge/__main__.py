"""The command `acp-bridge`: looks at argv and imports only the face that is asked for.

`lsp` and `--version` import neither Typer nor Rich, so that an editor gets its answer at once. The global
options may stand before the command or behind it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_GLOBAL = ("--config", "--log-level")


def main() -> int:
    """Entry point; returns the exit status."""
    argv = sys.argv[1:]
    if argv in (["--version"], ["-V"]):
        from acp_bridge import __version__

        sys.stdout.write(f"acp-bridge {__version__}\n")
        return 0
    before, command = _split(argv)
    if not command or command[0] == "lsp":
        from acp_bridge.faces.lsp.main import main as lsp_main

        return lsp_main([*before, *command[1:]])
    with _stdout_to_stderr():
        from acp_bridge.faces.terminal.main import main as terminal_main
    return terminal_main(argv)


@contextmanager
def _stdout_to_stderr() -> Iterator[None]:
    """What a library prints while it is imported is none of our output (`run --json` has readers)."""
    try:
        stdout = os.dup(1)
    except OSError:
        yield
        return
    os.dup2(2, 1)
    try:
        yield
    finally:
        if sys.stdout is not None:
            sys.stdout.flush()
        os.dup2(stdout, 1)
        os.close(stdout)


def _split(argv: list[str]) -> tuple[list[str], list[str]]:
    """(leading global options with their values, the command and the rest)."""
    at = 0
    while at < len(argv) and argv[at].split("=")[0] in _GLOBAL:
        at += 1 if "=" in argv[at] else 2
    return argv[:at], argv[at:]


if __name__ == "__main__":
    sys.exit(main())
