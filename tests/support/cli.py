"""Run `acp-bridge` as a person or a program would: a subprocess, its own configuration folder, both streams.

cli = Cli(tmp_path)
done = cli.run("run", "--json", "--agent-command", cli.scripted({"prompts": [[{"text": "hi"}]]}), "hello")
assert done.status == 0 and done.events[-1]["stopReason"] == "end_turn"
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.leftovers import mark

Json = dict[str, Any]
SCRIPTED = Path(__file__).with_name("scripted.py")
TIMEOUT = 90.0


@dataclass
class Done:
    """How a command ended."""

    status: int
    stdout: str
    stderr: str

    @property
    def events(self) -> list[Json]:
        """stdout as JSON lines; every line must be an object."""
        events = [json.loads(line) for line in self.stdout.splitlines()]
        assert all(isinstance(event, dict) for event in events), self.stdout
        return events

    def of(self, name: str) -> list[Json]:
        """The events of one name."""
        return [event for event in self.events if event["event"] == name]


class Cli:
    """`marker` is carried by every process that a command starts (support.leftovers finds them by it)."""

    def __init__(self, tmp_path: Path) -> None:
        self.home = tmp_path / "home"
        self.cwd = tmp_path / "work"
        self.config = tmp_path / "config"
        for folder in (self.home, self.cwd, self.config):
            folder.mkdir()
        self.marker, environ = mark()
        self.environ = {
            **environ,
            "HOME": str(self.home),
            "ACP_BRIDGE_CONFIG_DIR": str(self.config),
            "ACP_BRIDGE_DEMO_DELAY": "0",
            "ACP_BRIDGE_LOGIN_SHELL": "never",
            "COLUMNS": "100",
        }
        self._scenarios = 0

    def scripted(self, scenario: Json) -> str:
        """The command line of a scripted agent, for `--agent-command`."""
        return shlex.join(self.scripted_argv(scenario))

    def scripted_argv(self, scenario: Json) -> list[str]:
        self._scenarios += 1
        file = self.home / f"scenario-{self._scenarios}.json"
        file.write_text(json.dumps(scenario), encoding="utf-8")
        return [sys.executable, str(SCRIPTED), f"@{file}"]

    def agents(self, agents: dict[str, Any]) -> None:
        """Write the user's acp.json: name to scenario, or to a ready entry (has `command`)."""
        entries = {}
        for name, entry in agents.items():
            if "command" not in entry:
                command, *args = self.scripted_argv(entry)
                entry = {"command": command, "args": args}
            entries[name] = entry
        (self.config / "acp.json").write_text(json.dumps({"agent_servers": entries}), encoding="utf-8")

    def argv(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "acp_bridge", *words]

    def start(self, *words: str, **options: Any) -> subprocess.Popen[str]:
        """Start a command; stdin is empty unless given."""
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        environ = {**self.environ, **options.pop("env", {})}
        return subprocess.Popen(
            self.argv(*words), cwd=self.cwd, env=environ, text=True, **{**streams, **options}
        )

    def run(self, *words: str, **options: Any) -> Done:
        """Run a command to its end."""
        return finish(self.start(*words, **options))


def finish(process: subprocess.Popen[str]) -> Done:
    """Wait for the end of a started command, reading both streams."""
    try:
        stdout, stderr = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        stdout, stderr = process.communicate()
        raise AssertionError(f"still running after {TIMEOUT} s\n{stdout}\n{stderr}") from None
    return Done(process.returncode, stdout or "", stderr or "")


def read_until(process: subprocess.Popen[str], found: Callable[[str], bool]) -> str:
    """Read lines of stdout until one satisfies `found`; returns all of them."""
    assert process.stdout is not None
    seen = ""
    for line in process.stdout:
        seen += line
        if found(line):
            return seen
    raise AssertionError(f"stdout ended: {seen!r}")


def alive(pid: int) -> bool:
    """Whether a process of that id runs (a zombie does not)."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z" and os.path.exists(f"/proc/{pid}")
