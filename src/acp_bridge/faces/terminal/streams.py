"""From the options of `run` to where things are printed: an outlet, a printer, a trace."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from rich.console import Console

from acp_bridge.faces.terminal.jsonlines import JsonLines
from acp_bridge.faces.terminal.outlet import Outlet
from acp_bridge.faces.terminal.paper import Paper
from acp_bridge.faces.terminal.screen import Screen
from acp_bridge.faces.terminal.show import Printer
from acp_bridge.faces.terminal.trace import Trace
from acp_bridge.host.errors import HostError
from acp_bridge.host.secrets import Masker

STDERR = 2
TO_STDERR = "-"


@contextmanager
def own_stdout() -> Iterator[int]:
    """stdout for the turn alone (a file descriptor): what else this process prints goes to stderr."""
    sys.stdout.flush()
    stdout = os.dup(1)
    os.dup2(STDERR, 1)
    try:
        yield stdout
    finally:
        sys.stdout.flush()
        os.dup2(stdout, 1)
        os.close(stdout)


def make_printer(outlet: Outlet, stdout: int, *, as_json: bool) -> Printer:
    """`JsonLines` or `Screen`; a question to the person goes to stderr in either case."""
    out, err = outlet.file(stdout), outlet.file(STDERR)
    paper = Paper(
        out.put,
        Console(file=cast("IO[str]", err)),
        out_is_terminal=out.isatty(),
        shared=not as_json and os.path.sameopenfile(stdout, STDERR),
    )
    screen = Screen(paper)
    if as_json:
        return JsonLines(lambda line: outlet.write(stdout, line), screen)
    return screen


@contextmanager
def open_trace(where: str | None, outlet: Outlet, mask: Masker) -> Iterator[Trace | None]:
    """The trace into a file (replaced) or, for `-`, to stderr. Raises HostError for a file that cannot be."""
    if where is None:
        yield None
        return
    if where == TO_STDERR:
        trace = Trace(lambda line: outlet.write(STDERR, line), mask)
        yield trace
        trace.flush()
        return
    try:
        file = Path(where).open("wb", buffering=0)  # noqa: SIM115
    except OSError as error:
        message = f"the trace file {where} cannot be written: {error.strerror}"
        raise HostError("config", message, "name another file, or - for stderr") from error
    with file:
        trace = Trace(lambda line: _put(file.write(line)), mask)
        yield trace
        trace.flush()


def _put(written: int | None) -> None:
    """A writer's return value is of no interest."""
