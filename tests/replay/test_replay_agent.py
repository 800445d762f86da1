"""The replay agent alone: fed the recorded client side as it was, it brings out the recorded agent side."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from replay.conversation import load, names

AGENT = Path(__file__).with_name("replay_agent.py")
Json = dict[str, Any]


def play(script: list[Json], said: list[Json], folder: Path) -> tuple[list[Json], Json, int]:
    """What the agent says, its report and its exit status."""
    (folder / "script.json").write_text(json.dumps(script))
    argv = [sys.executable, "-I", "-S", str(AGENT), str(folder / "script.json"), str(folder / "report.json")]
    lines = "".join(json.dumps(message) + "\n" for message in said)
    ended = subprocess.run(argv, input=lines, capture_output=True, text=True, timeout=60, check=False)
    report = json.loads((folder / "report.json").read_text())
    return [json.loads(line) for line in ended.stdout.splitlines()], report, ended.returncode


@pytest.mark.parametrize("name", [name for _, name in names()])
def test_every_recording_plays(name: str, tmp_path: Path) -> None:
    conversation = load(name, tmp_path)
    client = [message for direction, message in conversation.steps if direction == "->"]
    agent = [message for direction, message in conversation.steps if direction == "<-"]
    said, report, status = play(conversation.script, client, tmp_path)
    assert (report["problem"], status) == ("", 0)
    assert said == agent


def test_ids_of_the_client_are_answered_in_its_own_form(tmp_path: Path) -> None:
    script = [{"expect": "initialize", "id": 7}, {"send": {"id": 7, "result": {}}}]
    said, report, _ = play(script, [{"id": "seven", "method": "initialize"}], tmp_path)
    assert (said, report["done"]) == ([{"id": "seven", "result": {}}], True)


@pytest.mark.parametrize(
    ("script", "said", "problem"),
    [
        (
            [{"expect": "initialize"}],
            [{"id": 1, "method": "session/new"}],
            "session/new came where initialize",
        ),
        ([{"expect": "initialize"}], [], "closed the connection"),
        ([{"expect_answer": 0, "is": "result"}], [{"id": 0, "error": {}}], "with a result"),
        ([{"expect_answer": 0, "is": "result"}], [{"id": "0", "result": {}}], "closed the connection"),
        ([{"expect_answer": 0, "is": "result", "equals": 1}], [{"id": 0, "result": 2}], "answers 0 with 1"),
        (
            [{"expect": "session/prompt", "session": "a"}],
            [{"id": 1, "method": "session/prompt", "params": {"sessionId": "b"}}],
            "names session b, not a",
        ),
    ],
)
def test_a_departure_is_noticed(script: list[Json], said: list[Json], problem: str, tmp_path: Path) -> None:
    _, report, status = play(script, said, tmp_path)
    assert problem in report["problem"]
    assert (report["done"], status) == (False, 9)
