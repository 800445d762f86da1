#!/usr/bin/env python3
"""Everything that must hold, from a fresh checkout: installs what the tests need, then runs all of them.

    python3.11 tools/test.py                  everything
    python3.11 tools/test.py --only unit vscode
    python3.11 tools/test.py --list

Standard library only. Makes `.venv`, installs the parts of tools/parts.py beside each other while the first
checks run, and prints what each step took. What a machine cannot have is skipped and said so; with CI=true in
the environment that is a failure. Logs, reports and pictures are left in `artifacts/`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools import parts  # noqa: E402  (only found once the checkout is on the path)

VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = str(BIN / "python")
ARTIFACTS = ROOT / "artifacts"
INSTALLER = "pip==26.3"
CI = os.environ.get("CI") == "true"
OWN_STEP = {
    "faces": "faces",
    "replay": "replay",
    "hostile": "hostile",
    "agents": "real_agents",
    "neovim": "editors/neovim",
    "vscode": "editors/vscode",
}


@dataclass(frozen=True)
class Step:
    """One thing to check: commands run one after the other, all of which must succeed."""

    name: str
    what: str
    commands: Sequence[Sequence[str]]
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    name: str
    seconds: float
    word: str
    why: str = ""


def module(name: str, *arguments: str) -> list[str]:
    return [PYTHON, "-m", name, *arguments]


def pytest(name: str, *arguments: str) -> list[str]:
    return module("pytest", "-q", f"--junitxml={ARTIFACTS / name}.xml", *arguments)


def build_extension(*arguments: str) -> list[str]:
    return [str(parts.PARTS["node24"].path), str(parts.EXTENSION / "scripts" / "build.mjs"), *arguments]


def steps() -> list[Step]:
    """All steps in the order they run: the quick and common failures first.

    A test folder without a step of its own belongs to `unit`, so none is left out.
    """
    others = [f"--ignore=tests/{folder}" for folder in OWN_STEP.values()]
    lint = [module("ruff", "check", "."), module("ruff", "format", "--check", ".")]
    types = [module("mypy"), module("mypy", "tools", "tests/support")]
    own = {name: [pytest(name, f"tests/{folder}")] for name, folder in OWN_STEP.items()}
    return [
        Step("lint", "ruff check and format", lint),
        Step("types", "mypy --strict", types),
        Step("floors", "imports only go down", [[str(BIN / "lint-imports")]]),
        Step("unit", "tests without a step of their own", [pytest("unit", "tests", *others)], ("acp-sdk",)),
        Step("extension", "VS Code extension: types, tests, package", [build_extension()], ("extension",)),
        Step("faces", "tests/faces", own["faces"]),
        Step("replay", "tests/replay", own["replay"]),
        Step("hostile", "tests/hostile", own["hostile"]),
        Step("agents", "tests/real_agents", own["agents"], ("system", *parts.AGENTS)),
        Step("neovim", "tests/editors/neovim", own["neovim"], ("neovim",)),
        Step(
            "vscode",
            "tests/editors/vscode",
            [build_extension("--package"), *own["vscode"]],
            ("system", "code-server", "playwright", "extension"),
        ),
    ]


def environment() -> None:
    """Make or refresh `.venv`: the project, editable, and its development tools at their locked versions."""
    lock = ROOT / "requirements" / "dev.txt"
    version = sha256((ROOT / "pyproject.toml").read_bytes() + lock.read_bytes()).hexdigest()
    stamp = VENV / ".done"
    if stamp.exists() and stamp.read_text() == version:
        return
    if not Path(PYTHON).exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    install = [PYTHON, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*install, INSTALLER], check=True)
    subprocess.run([*install, "-e", ".", "--group", "dev", "-c", str(lock)], cwd=ROOT, check=True)
    stamp.write_text(version)


class Installs:
    """Installs parts in the background, each after those it needs; `aloud` tells of each as it ends."""

    def __init__(self, names: Sequence[str], *, allowed: bool, aloud: bool = False) -> None:
        self.allowed = allowed
        self.aloud = aloud
        self.times: list[Outcome] = []
        self.futures: dict[str, Future[str]] = {}
        self.pool = ThreadPoolExecutor(max_workers=3)
        for name in parts.PARTS:
            if name in names or any(name in parts.PARTS[other].needs for other in names):
                self.futures[name] = self.pool.submit(self._install, parts.PARTS[name])

    def missing(self, names: Sequence[str]) -> str:
        """Wait for these parts; why one of them is not there, or nothing."""
        return "; ".join(reason for name in names if (reason := self.futures[name].result()))

    def _install(self, part: parts.Part) -> str:
        if part.installed():
            return ""
        if not self.allowed:
            return f"{part.name} is not installed (--no-install)"
        if reason := self.missing(part.needs):
            return reason
        began = time.monotonic()
        log = ARTIFACTS / f"install-{part.name}.log"
        try:
            with log.open("w") as stream:
                part.ensure(stream)
            reason = ""
        except parts.CannotInstall as error:
            reason = f"{part.name} {error}"
        except (subprocess.CalledProcessError, OSError) as error:
            reason = (
                f"{part.name} could not be installed: {telling_line(log) or error} (see artifacts/{log.name})"
            )
        outcome = Outcome(
            f"install {part.name}", time.monotonic() - began, "missing" if reason else "ok", reason
        )
        self.times.append(outcome)
        if self.aloud:
            say(f"{outcome.name}: {outcome.word} in {outcome.seconds:.0f} s {reason}")
        return reason


def telling_line(log: Path) -> str:
    """The line of a failed installation that most likely says why."""
    lines = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or [""])[0][:200]


def say(text: str) -> None:
    print(f"--- {text}", flush=True)


def perform(step: Step, installs: Installs) -> Outcome:
    say(f"{step.name}: {step.what}")
    if reason := installs.missing(step.needs):
        say(f"{step.name} SKIPPED: {reason}")
        return Outcome(step.name, 0.0, "FAILED" if CI else "skipped", reason)
    began = time.monotonic()
    environ = {**os.environ, "ACP_BRIDGE_PARTS": str(parts.home()), "PYTHONUNBUFFERED": "1"}
    failed = ""
    for command in step.commands:
        status = subprocess.run(command, cwd=ROOT, env=environ, stdin=subprocess.DEVNULL).returncode
        if status:
            failed = failed or f"exit status {status}: {' '.join(command[:4])} …"
    return Outcome(step.name, time.monotonic() - began, "FAILED" if failed else "ok", failed)


def summarise(outcomes: Sequence[Outcome], began: float) -> int:
    """Print what each step took and how it went; the exit status."""
    failed = [outcome.name for outcome in outcomes if outcome.word == "FAILED"]
    skipped = [outcome.name for outcome in outcomes if outcome.word == "skipped"]
    result = f"FAILED: {', '.join(failed)}" if failed else "all ok"
    skips = f", skipped: {', '.join(skipped)}" if skipped else ""
    whole = Outcome("whole run", time.monotonic() - began, result + skips)
    print(f"\n{'step':<28}{'seconds':>8}  result")
    for outcome in (*outcomes, whole):
        print(f"{outcome.name:<28}{outcome.seconds:>8.1f}  {outcome.word}  {outcome.why}".rstrip())
    print(f"logs, reports and pictures: {ARTIFACTS.name}/", flush=True)
    return 1 if failed else 0


def main() -> int:
    every = steps()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", metavar="STEP", choices=[step.name for step in every])
    parser.add_argument("--list", action="store_true", help="print the steps and the parts, then stop")
    parser.add_argument("--no-install", action="store_true", help="run with what is already there")
    parser.add_argument("--install", action="store_true", help="only install, run nothing")
    options = parser.parse_args()
    if options.list:
        for step in every:
            print(f"{step.name:<12}{step.what}{'  needs ' + ', '.join(step.needs) if step.needs else ''}")
        print(f"\nparts in {parts.home()}:")
        for part in parts.PARTS.values():
            print(f"{part.name:<18}{part.version:<18}{'installed' if part.installed() else '-'}")
        return 0

    began = time.monotonic()
    ARTIFACTS.mkdir(exist_ok=True)
    chosen = [step for step in every if not options.only or step.name in options.only]
    if not options.no_install:
        environment()
    prepared = Outcome("python environment", time.monotonic() - began, "ok")
    say(f"python environment: ready in {prepared.seconds:.0f} s")
    needed = sorted({name for step in chosen for name in step.needs})
    installs = Installs(needed, allowed=not options.no_install, aloud=options.install)
    if options.install:
        reason = installs.missing(list(installs.futures))
        return summarise(
            [prepared, *installs.times, Outcome("install", 0.0, "FAILED" if reason else "ok", reason)], began
        )
    outcomes = [perform(step, installs) for step in chosen]
    return summarise([prepared, *installs.times, *outcomes], began)


if __name__ == "__main__":
    sys.exit(main())
