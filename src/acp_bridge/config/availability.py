"""Can this agent be started here, and if not, why not and what to do about it (SEED-RULES 3).

Available = enabled and the command is found: an absolute path, or a name on the PATH of the environment given
(the caller has merged the login shell's into it), unless the entry's own `env` sets another. Discovery files
never make an agent available; they only tell that it was set up once. Nothing is run.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from acp_bridge.config.paths import expand_home
from acp_bridge.config.server import AgentServer


@dataclass(frozen=True, slots=True)
class Availability:
    """`reason` says why not, in a sentence or two, and is empty when available; `command` is the program's
    absolute path, None where none is started or found."""

    available: bool
    reason: str = ""
    command: str | None = None


def check(server: AgentServer, environ: Mapping[str, str]) -> Availability:
    """Look for the agent's program. Reads the file system only."""
    if not server.enabled:
        return Availability(False, f'switched off by "enabled": false in {server.file}')
    if server.protocol == "demo":
        return Availability(True)
    if server.image:
        image = f"{server.image}:{server.tag or 'latest'}"
        return Availability(False, f"runs in a container ({image}), which this version does not start")
    if not server.cmd:
        return Availability(False, f"has no command in {server.file}")
    command, missing = _find(server.cmd[0], {**environ, **server.env})
    if command:
        return Availability(True, command=command)
    return Availability(False, _reason(server, missing, environ))


def _find(command: str, environ: Mapping[str, str]) -> tuple[str | None, str]:
    """(absolute path, "") or (None, what is wrong with it)."""
    command = expand_home(command, environ)
    if _has_folder(command):
        path = Path(command).absolute()
        found = next(_programs(path, environ), None)
        return (found, "") if found else (None, _what_is_wrong(path))
    for folder in _search_path(environ):
        if found := next(_programs(folder / command, environ), None):
            return found, ""
    return None, f"the command {command!r} is not on PATH"


def _has_folder(command: str) -> bool:
    return os.sep in command or bool(os.altsep and os.altsep in command)


def _search_path(environ: Mapping[str, str]) -> list[Path]:
    """The absolute folders of PATH: an empty or relative one would mean whatever folder we run in, that is a
    project's, and a project must not choose the program."""
    folders = (_variable(environ, "PATH") or os.defpath).split(os.pathsep)
    return [path for folder in folders if (path := Path(folder)).is_absolute()]


def _programs(path: Path, environ: Mapping[str, str]) -> Iterator[str]:
    """The files that starting `path` may mean (on Windows with the extensions of PATHEXT), if executable."""
    candidates = [path]
    if sys.platform == "win32":
        endings = (_variable(environ, "PATHEXT") or ".COM;.EXE;.BAT;.CMD").lower().split(";")
        if path.suffix.lower() not in endings:
            candidates = [path.with_name(path.name + ending) for ending in endings if ending]
    for candidate in candidates:
        if _holds(candidate.is_file) and os.access(candidate, os.X_OK):
            yield str(candidate)


def _variable(environ: Mapping[str, str], name: str) -> str:
    """A variable's value; on Windows the case of its name does not matter."""
    if sys.platform == "win32":
        return next((value for key, value in environ.items() if key.upper() == name), "")
    return environ.get(name, "")


def _holds(test: Callable[[], bool]) -> bool:
    """A question to the file system; False too where it has no answer (a name too long, a link to itself)."""
    try:
        return test()
    except OSError:
        return False


def _what_is_wrong(path: Path) -> str:
    if _holds(path.is_file):
        return f"{path} is not executable"
    return f"{path} is a folder, not a program" if _holds(path.is_dir) else f"{path} does not exist"


def _reason(server: AgentServer, missing: str, environ: Mapping[str, str]) -> str:
    traces = [name for name in _discovery_files(server) if _holds(Path(_expand(name, environ)).is_file)]
    seen = f"{traces[0]} is there, but " if traces else ""
    where = f" (agent {server.id!r} in {server.file})" if server.source != "shipped" else ""
    what_to_do = f"; install it with: {server.install_hint}" if server.install_hint else ""
    return f"{seen}{missing}{where}{what_to_do}"


def _discovery_files(server: AgentServer) -> list[str]:
    paths = server.discovery.installation_path
    by_platform = {"win32": paths.windows, "darwin": paths.macos}
    return by_platform.get(sys.platform, paths.linux)


def _expand(path: str, environ: Mapping[str, str]) -> str:
    """`~`, `$NAME` and `${NAME}` with the values of `environ`; an unknown name stays as it is."""

    def value(match: re.Match[str]) -> str:
        return environ.get(match[1] or match[2], match[0])

    return expand_home(re.sub(r"\$(?:(\w+)|\{(\w+)\})", value, path), environ)
