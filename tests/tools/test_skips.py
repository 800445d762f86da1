"""Where everything must run, a skip is a failure: the suite's own rule, tried on small suites."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
SUITES = {
    "in a test": "import pytest\ndef test_it():\n    pytest.skip({reason!r})\n",
    "of a module": "import pytest\npytest.skip({reason!r}, allow_module_level=True)\n",
    "by a mark": "import pytest\n@pytest.mark.skip(reason={reason!r})\ndef test_it():\n    pass\n",
    "in a fixture": (
        "import pytest\n@pytest.fixture\ndef part():\n    pytest.skip({reason!r})\n"
        "def test_it(part):\n    pass\n"
    ),
}


def run(folder: Path, suite: str, reason: str, ci: str) -> subprocess.CompletedProcess[str]:
    shutil.copy(TESTS / "conftest.py", folder / "conftest.py")
    (folder / "test_small.py").write_text(SUITES[suite].format(reason=reason))
    search = os.pathsep.join([str(TESTS), str(TESTS.parent)])
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-ra", "-p", "no:cacheprovider", str(folder)],
        cwd=folder,
        env={**os.environ, "CI": ci, "PYTHONPATH": search},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("suite", SUITES)
def test_a_skip_fails_in_ci_and_says_why(tmp_path: Path, suite: str) -> None:
    done = run(tmp_path, suite, "no editor here", ci="true")
    assert done.returncode != 0
    assert "no editor here" in done.stdout


@pytest.mark.parametrize("suite", SUITES)
def test_an_optional_skip_does_not(tmp_path: Path, suite: str) -> None:
    done = run(tmp_path, suite, "optional: needs a newer Python", ci="true")
    assert "1 skipped" in done.stdout
    assert done.returncode == (5 if suite == "of a module" else 0)


def test_elsewhere_a_skip_is_a_skip_with_its_reason(tmp_path: Path) -> None:
    done = run(tmp_path, "in a test", "no editor here", ci="")
    assert done.returncode == 0
    assert "no editor here" in done.stdout
