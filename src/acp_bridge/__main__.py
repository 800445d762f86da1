"""The command `acp-bridge`: looks at argv and imports only the face that is asked for.

`lsp` and `--version` import neither Typer nor Rich, so that an editor gets its answer at once.
"""

from __future__ import annotations

import sys


def main() -> int:
    """Entry point; returns the exit status."""
    argv = sys.argv[1:]
    if argv in (["--version"], ["-V"]):
        from acp_bridge import __version__

        sys.stdout.write(f"acp-bridge {__version__}\n")
        return 0
    if not argv or argv[0] == "lsp":
        from acp_bridge.faces.lsp.main import main as lsp_main

        return lsp_main(argv[1:])
    from acp_bridge.faces.terminal.main import main as terminal_main

    return terminal_main(argv)


if __name__ == "__main__":
    sys.exit(main())
