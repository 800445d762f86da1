"""`acp-bridge lsp`: a language server on stdio, and what guards its stdout.

At the very start the protocol gets stdin and stdout for itself alone: both are duplicated, descriptor 1 and
`sys.stdout` lead to stderr, descriptor 0 to nothing. So nothing that any library prints, or any child reads,
touches the protocol. The handshake is answered before anything heavy is imported.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

from acp_bridge.faces.lsp.connection import Connection
from acp_bridge.faces.lsp.life import on_signals, parent_gone
from acp_bridge.jsonrpc.transport import open_fds

log = logging.getLogger(__name__)
USAGE = "usage: acp-bridge lsp [--stdio] [--config FILE]... [--log-level debug|info|warning|error]"
PERSON = (
    "acp-bridge: this is the language server; it waits for an editor on stdin (Ctrl-C ends it).\n"
    "For commands to type, see: acp-bridge --help\n"
)
LEVELS = ("debug", "info", "warning", "error")
LAST_WORDS_SECONDS = 1.0


class UsageError(Exception):
    """An argument that makes no sense."""


@dataclass(slots=True)
class Options:
    """What the command line said."""

    configs: list[Path] = field(default_factory=list)
    log_level: str = "warning"
    help: bool = False


def main(argv: list[str]) -> int:
    """Run the language server until its editor is gone; returns the exit status (2 for a bad argument)."""
    try:
        options = parse(argv)
    except UsageError as error:
        sys.stderr.write(f"acp-bridge lsp: {error}\n{USAGE}\n")
        return 2
    if options.help:
        sys.stdout.write(f"{USAGE}\nA language server on stdio; editors start it.\n")
        return 0
    if sys.stdin is not None and sys.stdin.isatty():
        sys.stderr.write(PERSON)
    read_fd, write_fd = claim_stdio()
    logging.basicConfig(
        stream=sys.stderr, level=options.log_level.upper(), format="acp-bridge: %(levelname)s: %(message)s"
    )
    _leave_lost_folder()
    return asyncio.run(serve(options, read_fd, write_fd))


def parse(argv: list[str]) -> Options:
    """Read the arguments. Raises UsageError."""
    options = Options()
    rest = list(argv)
    while rest:
        word, _, value = rest.pop(0).partition("=")
        if word in ("--config", "--log-level") and not value:
            if not rest:
                raise UsageError(f"{word} needs a value")
            value = rest.pop(0)
        if word == "--config":
            options.configs.append(Path(value))
        elif word == "--log-level":
            if value.lower() not in LEVELS:
                raise UsageError(f"--log-level is one of {', '.join(LEVELS)}, not {value!r}")
            options.log_level = value.lower()
        elif word in ("--help", "-h"):
            options.help = True
        elif word != "--stdio":
            raise UsageError(f"unknown argument {word!r}")
    return options


def claim_stdio() -> tuple[int, int]:
    """Take stdin and stdout away from everybody else; returns their duplicates."""
    sys.stdout.flush()
    read_fd, write_fd = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return read_fd, write_fd


def _leave_lost_folder() -> None:
    """An editor may start us in a folder that is gone by now; it names those of the workspace itself."""
    for folder in (os.curdir, os.path.expanduser("~"), os.path.abspath(os.sep)):
        with contextlib.suppress(OSError):
            os.chdir(folder)
            os.getcwd()
            return


async def serve(options: Options, read_fd: int, write_fd: int) -> int:
    """One connection, from the first byte to the exit status."""
    connection = Connection()
    transport = await open_fds(read_fd, write_fd, connection)
    connection.transport = transport
    with on_signals(connection.end):
        await connection.initialized.wait()
        if not connection.ended.is_set():
            await _work(connection, options)
    try:
        async with asyncio.timeout(LAST_WORDS_SECONDS):
            await transport.flushed()
    except TimeoutError:
        log.warning("the editor did not read the last answers")
    transport.close()
    return connection.exit_code


async def _work(connection: Connection, options: Options) -> None:
    watch = asyncio.create_task(_watch_parent(connection))
    try:
        host = await asyncio.get_running_loop().run_in_executor(None, _load)
        if not connection.ended.is_set():
            await host(connection, options.configs)
    except Exception:
        log.exception("the bridge failed")
        message = {"type": 1, "message": "acp-bridge failed; its log (stderr) says why. Restart it."}
        connection.peer.notify("window/showMessage", message)
        connection.end("failure", 1)
    finally:
        watch.cancel()


def _load():  # type: ignore[no-untyped-def]
    from acp_bridge.faces.lsp.editor import run

    return run


async def _watch_parent(connection: Connection) -> None:
    if connection.features.process_id is not None:
        await parent_gone(connection.features.process_id)
        connection.end("the editor's process ended")
