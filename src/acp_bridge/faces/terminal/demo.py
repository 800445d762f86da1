"""`acp-bridge demo`: a whole turn with the built-in demo agent in a scratch folder; no network, no key."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

import anyio
from rich.console import Console
from rich.text import Text

from acp_bridge.config.load import Configuration
from acp_bridge.config.server import AgentServer
from acp_bridge.config.settings import Settings
from acp_bridge.faces.terminal.permission import Policy
from acp_bridge.faces.terminal.turn import TurnOptions, play

PROMPT = "Show me a whole turn."
NOTES = "demo-notes.md"
PROGRAM = "acp-bridge"
_START = "# Notes\n\n- A file in a scratch folder.\n"
_NEXT = {
    "agents list": "which agents this machine has",
    'run AGENT "PROMPT"': "one turn with one of them",
    "lsp": "what an editor starts; see the README",
}


def demo(keep: bool, as_json: bool = False) -> int:
    """Play the demo; returns the exit status. The folder is removed at the end unless `keep`."""
    err = Console(stderr=True)
    folder = Path(tempfile.mkdtemp(prefix="acp-bridge-demo-"))
    try:
        (folder / NOTES).write_text(_START, encoding="utf-8")
        interactive = sys.stdin is not None and os.isatty(0)
        _say(err, f"acp-bridge demo: one turn with the built-in agent, in {folder}")
        if not interactive:
            _say(err, "stdin is no terminal: the demo answers its own permission request with yes")
        _say(err, f"> {PROMPT}", "bold")
        policy = Policy.ask if interactive else Policy.allow
        options = TurnOptions(prompt=PROMPT, agent="demo", cwd=folder, policy=policy, as_json=as_json)
        status = anyio.run(play, options, _configuration())
        _farewell(err, folder, keep)
        return status
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def _configuration() -> Configuration:
    """The built-in agent alone, whatever the user has configured."""
    server = AgentServer(id="demo", display_name="Demo agent", protocol="demo")
    return Configuration(servers={"demo": server}, problems=[], settings=Settings())


def _farewell(err: Console, folder: Path, keep: bool) -> None:
    err.print()
    _say(err, f"{folder / NOTES} now reads:", "dim")
    for line in (folder / NOTES).read_text(encoding="utf-8").splitlines():
        _say(err, f"  {line}")
    err.print()
    _say(err, f"The folder {folder} is {'kept' if keep else 'removed now (--keep keeps it)'}.", "dim")
    _say(err, _next(sys.argv[0]), "dim")


def _next(started_as: str) -> str:
    """What to type next, by the word that works here: the program may not be on PATH."""
    on_path = shutil.which(PROGRAM) is not None or Path(started_as).name != PROGRAM
    program = PROGRAM if on_path else shlex.quote(started_as)
    width = max(map(len, _NEXT))
    return "\n".join(["Next:", *(f"  {program} {word:{width}}   {why}" for word, why in _NEXT.items()), ""])


def _say(err: Console, text: str, style: str = "") -> None:
    err.print(Text(text, style), soft_wrap=True)
