"""From a command word to the file to execute, and from a failed start to words that help.

`resolve` follows the rules of execvp with the agent's own PATH and folder; `explain` turns the errno of a
failed start into a LaunchError. Neither starts anything.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from acp_bridge.config.paths import expand_home
from acp_bridge.launch.process import LaunchError

_DEFAULT_PATH = os.defpath


def resolve(command: str, cwd: str, env: Mapping[str, str]) -> str:
    """The absolute path of the program `command` means: a path (`~` expanded, relative ones from `cwd`) or a
    name looked up in the PATH of `env`. Raises LaunchError."""
    if not command:
        raise LaunchError("The agent's command is empty.", "Give it a program to run in `command`.")
    if command.startswith("~"):
        command = expand_home(command, env)
    if os.sep in command or (os.altsep and os.altsep in command):
        path = Path(cwd, command)
        _check_executable(path, command)
        return str(path)
    return _search(command, env.get("PATH") or _DEFAULT_PATH)


def check_folder(cwd: str) -> None:
    """Raises LaunchError unless `cwd` is an absolute path to a folder that can be entered."""
    path = Path(cwd)
    if not path.is_absolute():
        raise LaunchError(
            f"The folder {cwd!r} to run the agent in is not an absolute path.", "Give a full path."
        )
    try:
        is_folder = stat.S_ISDIR(path.stat().st_mode)
    except OSError as error:
        if error.errno == errno.ENOENT:
            raise LaunchError(
                f"The folder {cwd} to run the agent in does not exist.", "Create it or choose another one."
            ) from None
        raise LaunchError(
            f"The folder {cwd} to run the agent in cannot be used: {error.strerror}.",
            "Check the path and its permissions, or choose another folder.",
        ) from None
    if not is_folder:
        raise LaunchError(f"{cwd}, the folder to run the agent in, is no folder.", "Choose a folder.")


def explain(
    number: int, step: str, path: str, argv: Sequence[str], cwd: str, env: Mapping[str, str]
) -> LaunchError:
    """What the errno of a failed `step` (chdir, exec or fork) means and what to try."""
    if step == "chdir":
        return LaunchError(
            f"The folder {cwd} to run the agent in cannot be entered: {os.strerror(number)}.",
            "Check the path and its permissions, or choose another folder.",
        )
    if step == "fork" or number in (errno.EAGAIN, errno.ENOMEM):
        return LaunchError(
            f"The system could not start another process for {argv[0]}: {os.strerror(number)}.",
            "Close other programs, or raise the limits for processes and memory (ulimit -u, ulimit -v).",
        )
    if number == errno.E2BIG:
        return _too_big(argv, env)
    if number == errno.ENOEXEC:
        return LaunchError(
            f"{path} cannot be executed: it is no program for this machine, nor a script beginning with #!.",
            "Add a first line such as #!/bin/sh, or make the interpreter the command, the file its argument.",
        )
    if number == errno.ENOENT:
        return _missing_interpreter(path)
    if number == errno.EACCES:
        return _not_permitted(path)
    return LaunchError(
        f"{path} cannot be executed: {os.strerror(number)}.", f"Try to run {path} in a terminal."
    )


def _search(command: str, search_path: str) -> str:
    """Look in the absolute folders of PATH only: an empty or relative one would mean the project's own, and a
    project must not choose the program."""
    denied = ""
    for folder in search_path.split(os.pathsep):
        candidate = Path(folder, command)
        if not candidate.is_absolute() or not candidate.is_file():
            continue
        if os.access(candidate, os.X_OK):
            return str(candidate)
        denied = denied or str(candidate)
    if denied:
        raise LaunchError(f"{denied} is not executable.", f"Try: chmod +x {denied}")
    raise LaunchError(
        f"The command {command!r} was not found.",
        f"Install it, or set `command` to its full path. Looked in PATH: {search_path}",
    )


def _check_executable(path: Path, command: str) -> None:
    if path.is_dir():
        raise LaunchError(f"{path} is a folder, not a program.", "Set `command` to the program inside it.")
    if not path.exists():
        shown = str(path) if Path(command).is_absolute() else f"{path} (from {command!r})"
        raise LaunchError(
            f"The command {shown} does not exist.", "Install it, or correct the path in `command`."
        )
    if not os.access(path, os.X_OK):
        raise LaunchError(f"{path} is not executable.", f"Try: chmod +x {path}")


def _too_big(argv: Sequence[str], env: Mapping[str, str]) -> LaunchError:
    sizes = [(len(os.fsencode(word)), f"argument {place} of {argv[0]}") for place, word in enumerate(argv)]
    sizes += [(len(os.fsencode(value)), f"the environment variable {name}") for name, value in env.items()]
    largest, where = max(sizes)
    total = sum(size for size, _ in sizes)
    return LaunchError(
        f"The arguments and environment of {argv[0]} are too long for the system: {total // 1024} KiB, "
        f"the largest is {where} with {largest // 1024} KiB.",
        "Pass long text in a file or over stdin, or unset what is not needed.",
    )


def _missing_interpreter(path: str) -> LaunchError:
    interpreter = _interpreter(path)
    if interpreter:
        return LaunchError(
            f"{path} cannot be executed: its first line names {interpreter}, which does not exist.",
            f"Install {interpreter}, or reinstall the program.",
        )
    return LaunchError(
        f"{path} cannot be executed: it is gone, or the system loader it was built for is missing.",
        "Reinstall it, choosing the build for this system (musl or glibc, x86-64 or arm64).",
    )


def _interpreter(path: str) -> str:
    try:
        with Path(path).open("rb") as file:
            first = file.readline(512)
    except OSError:
        return ""
    words = first[2:].split() if first.startswith(b"#!") else []
    return os.fsdecode(words[0]) if words else ""


def _not_permitted(path: str) -> LaunchError:
    if not os.access(path, os.X_OK):
        return LaunchError(f"{path} is not executable.", f"Try: chmod +x {path}")
    interpreter = _interpreter(path)
    if interpreter and not os.access(interpreter, os.X_OK):
        return LaunchError(
            f"{path} cannot be executed: its first line names {interpreter}, which is not executable.",
            f"Try: chmod +x {interpreter}",
        )
    return LaunchError(
        f"{path} cannot be executed: permission denied.",
        "Check whether it lies on a file system mounted noexec, or a security policy forbids it.",
    )
