"""Rules of the whole suite: no silent skips where everything is installed, and one model server for all.

With CI=true a skipped test is a failed one, unless its reason starts with `optional:` (what a machine may
lack).
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from support.model_server import ModelServer

ARTIFACTS = Path(__file__).resolve().parent.parent / "artifacts"
OPTIONAL = "optional:"


def _refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip into a failure under CI=true."""
    if os.environ.get("CI") != "true" or not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if reason.removeprefix("Skipped: ").startswith(OPTIONAL):
        return
    report.outcome = "failed"
    report.longrepr = f"skipped under CI=true, where everything must run: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _refuse_skip(report)
    return report


@pytest.fixture(scope="session")
def model_server() -> Iterator[ModelServer]:
    """The scripted model server; its log of requests is in `.requests`."""
    with ModelServer() as server:
        yield server


@pytest.fixture
def artifacts() -> Path:
    """Where a test leaves pictures and logs for people to look at."""
    ARTIFACTS.mkdir(exist_ok=True)
    return ARTIFACTS


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An environment in which the bridge finds no configuration and keeps its state below tmp_path."""
    return {
        **os.environ,
        "ACP_BRIDGE_STATE_DIR": str(tmp_path / "state"),
        "ACP_BRIDGE_CONFIG_DIR": str(tmp_path / "config"),
        "ACP_BRIDGE_DEMO_DELAY": "0",
    }


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty workspace folder."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder
