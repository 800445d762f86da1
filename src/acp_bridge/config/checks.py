"""What must hold of an entry beyond its shape, whichever file it stands in. Pure.

A finding names the field as the record has it (`("cmd", 0)`); the reader of each file format turns that into
the field as the user wrote it.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from pathlib import PurePosixPath, PureWindowsPath
from typing import NamedTuple

from acp_bridge.config.protocols import PROTOCOLS, known_words
from acp_bridge.config.server import AgentServer

NO_COMMAND = "agent type requires either image (Docker) or cmd (standalone)"


class Finding(NamedTuple):
    """One thing that makes an entry unusable."""

    loc: tuple[int | str, ...]
    message: str
    hint: str = ""


def check_entry(server: AgentServer) -> list[Finding]:
    """Everything wrong with `server`; empty when it can be used."""
    return [*_protocol(server), *_command(server), *_model_flag(server), *_unsendable(server)]


def _protocol(server: AgentServer) -> Iterator[Finding]:
    if server.protocol in PROTOCOLS:
        return
    near = difflib.get_close_matches(server.protocol.lower(), PROTOCOLS, n=1)
    meant = f"did you mean {near[0]!r}? " if near else ""
    yield Finding(("protocol",), f"unknown protocol {server.protocol!r}", f"{meant}known: {known_words()}")


def _command(server: AgentServer) -> Iterator[Finding]:
    if server.image or server.protocol == "demo":
        return
    if not server.cmd or not server.cmd[0].strip():
        yield Finding(("cmd",), NO_COMMAND, "give the program and its arguments as a list of strings")
        return
    command = server.cmd[0]
    if command.startswith("~"):
        hint = "no such user: write ~/ for your own home folder, or an absolute path"
        yield Finding(("cmd", 0), f"{command!r} cannot be expanded", hint)
    elif _is_relative_path(command):
        hint = "write an absolute path, one that starts with ~/, or a bare name that is on PATH"
        yield Finding(("cmd", 0), f"{command!r} is a relative path", hint)


def _is_relative_path(command: str) -> bool:
    if os.name == "nt":
        path = PureWindowsPath(command)
        return len(path.parts) > 1 and not path.is_absolute()
    return "/" in command and not PurePosixPath(command).is_absolute()


def _model_flag(server: AgentServer) -> Iterator[Finding]:
    if server.model_flag and "{model}" not in server.model_flag:
        hint = 'write where the model\'s id goes, as in "--model {model}"'
        yield Finding(("model_flag",), "has no {model} placeholder", hint)


def _unsendable(server: AgentServer) -> Iterator[Finding]:
    """What no operating system takes as an argument or an environment variable."""
    for index, argument in enumerate(server.cmd):
        if not _sendable(argument):
            yield Finding(("cmd", index), "holds a character that no program can be given")
    for name, value in server.env.items():
        if not name or "=" in name or not _sendable(name):
            yield Finding(("env", name), "is no name for an environment variable")
        elif not _sendable(value):
            yield Finding(("env", name), "holds a character that no program can be given")


def _sendable(text: str) -> bool:
    """No NUL, no lone surrogate."""
    if "\0" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
