"""`acp-bridge doctor`: for a person who asks why an agent does not start. Runs only `git --version`."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from acp_bridge import __version__
from acp_bridge.config.load import Configuration, load
from acp_bridge.config.paths import ACP_JSON, AGENTS_JSON, PROJECT_FOLDER, SETTINGS_JSON, user_folder
from acp_bridge.config.protocols import PROTOCOLS
from acp_bridge.faces.terminal.status import FAILED, OK, USAGE
from acp_bridge.host.host import Host
from acp_bridge.host.runner import Runner
from acp_bridge.host.secrets import MASK, Masker, key_like
from acp_bridge.host.visible import one_line
from acp_bridge.launch.environment import inherited

_PLACEHOLDERS = ("paste-", "your-api-key", "your_api_key", "<your", "changeme", "xxxx")


def doctor(agent_id: str | None, flags: Sequence[Path], out: Console) -> int:
    """Report; status 0 all is well, 2 the configuration has errors, 1 the agent asked about cannot start.

    Raises HostError unknownAgent."""
    configuration = load(flags=flags, project=Path.cwd())
    environ = inherited()
    report = _Report(out, Masker(environ, [server.env for server in configuration.servers.values()]))
    host = Host(configuration)
    chosen = host.runner(agent_id) if agent_id is not None else None
    _machine(report)
    _files(report, flags)
    errors = _problems(report, configuration)
    works = True
    if chosen is None:
        report.head("Agents")
        for key in configuration.servers:
            _availability(report, host.runner(key), environ)
    else:
        works = _agent(report, chosen, environ)
    _path(report, environ)
    return USAGE if errors else OK if works else FAILED


class _Report:
    def __init__(self, out: Console, mask: Masker) -> None:
        self._out = out
        self._mask = mask

    def head(self, title: str) -> None:
        self._out.print(Text(f"\n{title}", "bold"))

    def line(self, mark: str, text: str, hint: str = "") -> None:
        style = {"ok": "green", "!!": "red", "--": "yellow"}.get(mark, "dim")
        self._out.print(
            Text.assemble("  ", (f"{mark:<3}", style), one_line(self._mask(text), 1000)), soft_wrap=True
        )
        if hint:
            self._out.print(Text(f"       try: {one_line(self._mask(hint), 1000)}", "bold"), soft_wrap=True)


def _machine(report: _Report) -> None:
    report.head("This machine")
    report.line("ok", f"acp-bridge {__version__}")
    report.line("ok", f"Python {platform.python_version()} ({sys.executable})")
    report.line("ok", platform.platform())
    git = shutil.which("git")
    if git is None:
        report.line("--", "git is not on PATH", "install git: some agents need it")
        return
    done = subprocess.run([git, "--version"], capture_output=True, text=True, check=False, timeout=20)
    report.line("ok", f"{done.stdout.strip() or 'git'} ({git})")


def _files(report: _Report, flags: Sequence[Path]) -> None:
    report.head("Configuration files, the first counts most")
    for path in reversed(flags):
        _file(report, path, "--config")
    for name in (ACP_JSON, AGENTS_JSON):
        _file(report, Path.cwd() / PROJECT_FOLDER / name, "this folder's; read by editors that trust it", "·")
    yours = user_folder(os.environ)
    if yours is None:
        report.line("--", "no home folder is known, so there are no files of yours", "set HOME")
        return
    for name in (ACP_JSON, AGENTS_JSON, SETTINGS_JSON):
        _file(report, yours / name, "yours")


def _file(report: _Report, path: Path, whose: str, mark: str = "ok") -> None:
    there = path.is_file()
    report.line(mark if there else "·", f"{path} ({whose}{'' if there else '; not there'})")


def _problems(report: _Report, configuration: Configuration) -> bool:
    """Tell the problems of the configuration; True if one of them is an error."""
    report.head("Problems of the configuration")
    if not configuration.problems:
        report.line("ok", "none")
    for problem in configuration.problems:
        report.line("!!" if problem.severity == "error" else "--", str(problem))
    return any(problem.severity == "error" for problem in configuration.problems)


def _availability(report: _Report, runner: Runner, environ: Mapping[str, str]) -> bool:
    server, found = runner.server, runner.availability(environ)
    if found.available:
        report.line("ok", f"{server.id}: {found.command or 'built in'}")
        return True
    what = found.reason.removesuffix(f"; install it with: {server.install_hint}")
    report.line("--", f"{server.id}: {what}", server.install_hint)
    return False


def _agent(report: _Report, runner: Runner, environ: Mapping[str, str]) -> bool:
    """Everything that decides whether this one can be started; True if nothing speaks against it."""
    server = runner.server
    report.head(f"Agent {server.id}")
    works = _availability(report, runner, environ)
    report.line("·", f"described in {server.file or 'the program itself'} ({server.source})")
    known = PROTOCOLS.get(server.protocol)
    if known is None:
        report.line("!!", f"protocol {server.protocol!r} is unknown", f"one of: {', '.join(PROTOCOLS)}")
        works = False
    else:
        report.line("ok", f"protocol {server.protocol}: {known.description}")
    if server.cmd:
        report.line("·", f"command: {' '.join(server.cmd)}")
    for path in server.discovery.installation_path.linux:
        whether = "there" if Path(path).expanduser().exists() else "not there"
        report.line("·", f"looked for {path}: {whether}")
    for name in server.required_env:
        works &= _required(report, name, {**environ, **server.env})
    for name, value in server.env.items():
        works &= _variable(report, name, value)
    return works


def _required(report: _Report, name: str, environ: Mapping[str, str]) -> bool:
    there = bool(environ.get(name))
    if there:
        report.line("ok", f"needs {name}: set")
    else:
        report.line("!!", f"needs {name}: not set", f"export {name}=…")
    return there


def _variable(report: _Report, name: str, value: str) -> bool:
    if any(word in value.lower() for word in _PLACEHOLDERS):
        report.line("!!", f"sets {name} to a placeholder", "put the real value there")
        return False
    report.line("·", f"sets {name}={MASK if key_like(name) else value}")
    return True


def _path(report: _Report, environ: Mapping[str, str]) -> None:
    report.head("PATH, in order")
    for folder in environ.get("PATH", "").split(os.pathsep):
        there = Path(folder).is_dir()
        report.line("·" if there else "--", folder if there else f"{folder} (no folder)")
