"""The test command itself: what it runs, what it installs, and what it says of what is missing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest

from tools import parts, test

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of parts."""
    monkeypatch.setenv("ACP_BRIDGE_PARTS", str(tmp_path / "parts"))
    monkeypatch.setattr(test, "ARTIFACTS", tmp_path)
    return tmp_path / "parts"


def part_that(install: Callable[[Path, IO[str]], None], version: str = "1") -> parts.Part:
    return parts.Part("sample", version, install, program="program")


def a_program(folder: Path, _log: IO[str]) -> None:
    (folder / "program").write_text("hello")


def a_failure(_folder: Path, log: IO[str]) -> None:
    parts.run([sys.executable, "-c", "print('error: no such registry'); raise SystemExit(3)"], log)


def outcome_of(step: test.Step, *, allowed: bool = True) -> test.Outcome:
    return test.perform(step, test.Installs(step.needs, allowed=allowed))


def test_every_test_folder_belongs_to_one_step() -> None:
    own = set(test.OWN_STEP.values())
    assert all((ROOT / "tests" / folder).is_dir() for folder in own)
    [unit] = [step for step in test.steps() if step.name == "unit"]
    assert {argument for argument in unit.commands[0] if argument.startswith("--ignore")} == {
        f"--ignore=tests/{folder}" for folder in own
    }


def test_every_need_is_a_part() -> None:
    needed = {name for step in test.steps() for name in step.needs}
    assert needed <= set(parts.PARTS)
    assert {need for part in parts.PARTS.values() for need in part.needs} <= set(parts.PARTS)


def test_a_part_is_installed_once_and_again_for_another_version(home: Path, tmp_path: Path) -> None:
    calls = []

    def counted(folder: Path, log: IO[str]) -> None:
        calls.append(folder)
        a_program(folder, log)

    with (tmp_path / "log").open("w") as log:
        for version in ("1", "1", "2", "2"):
            part_that(counted, version).ensure(log)
    assert len(calls) == 2
    assert part_that(counted, "2").installed()
    assert not part_that(counted, "1").installed()
    assert [path.name for path in home.iterdir()] == ["sample"]


def test_a_failed_installation_leaves_nothing(home: Path, tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as log, pytest.raises(subprocess.CalledProcessError):
        part_that(a_failure).ensure(log)
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(("ci", "word"), [(True, "FAILED"), (False, "skipped")])
def test_a_step_without_its_part(home: Path, monkeypatch: pytest.MonkeyPatch, ci: bool, word: str) -> None:
    monkeypatch.setattr(test, "CI", ci)
    monkeypatch.setitem(parts.PARTS, "sample", part_that(a_failure))
    outcome = outcome_of(test.Step("step", "what", [["false"]], ("sample",)))
    assert outcome.word == word
    assert "sample could not be installed: " in outcome.why
    assert "no such registry" in outcome.why


def test_a_part_that_needs_root_says_so(home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(parts.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(parts.shutil, "which", lambda name: name if name == "apt-get" else None)
    with (
        (tmp_path / "log").open("w") as log,
        pytest.raises(parts.CannotInstall, match="needs root: sudo apt-get"),
    ):
        parts.PARTS["system"].ensure(log)


def test_without_installing_a_missing_part_is_named(home: Path) -> None:
    outcome = outcome_of(test.Step("step", "what", [["false"]], ("neovim",)), allowed=False)
    assert outcome.word in ("skipped", "FAILED")
    assert outcome.why == "neovim is not installed (--no-install)"


def test_one_failing_command_fails_the_step_and_the_run(
    home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    good, bad = [sys.executable, "-c", ""], [sys.executable, "-c", "raise SystemExit(4)"]
    outcomes = [outcome_of(test.Step("first", "", [good])), outcome_of(test.Step("second", "", [bad, good]))]
    assert [outcome.word for outcome in outcomes] == ["ok", "FAILED"]
    assert "exit status 4" in outcomes[1].why
    assert test.summarise(outcomes[:1], 0.0) == 0
    assert test.summarise(outcomes, 0.0) == 1
    assert "FAILED: second" in capfd.readouterr().out
