"""Ctrl-C and termination: the first cancels, the second kills, and nothing is left in either case."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
from pathlib import Path

import pytest

from support.cli import Cli, finish, read_until
from support.leftovers import until_gone


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)


def talking(cli: Cli, then: str, **scenario: object) -> subprocess.Popen[str]:
    """A run whose agent has said "ready" and now waits for cancel (or for ever)."""
    agent = cli.scripted({**scenario, "prompts": [[{"text": "ready"}, {"wait": then}]]})
    process = cli.start("run", "--json", "--agent-command", agent, "hi")
    read_until(process, lambda line: '"ready"' in line)
    return process


async def test_the_first_sigint_cancels_the_turn(cli: Cli) -> None:
    process = talking(cli, "cancel")
    process.send_signal(signal.SIGINT)
    done = finish(process)
    assert done.status == 130
    assert done.events[-1] == {"event": "end", "stopReason": "cancelled"}
    await until_gone(cli.marker)


async def test_the_second_sigint_kills(cli: Cli) -> None:
    """An agent deaf to cancel and to SIGTERM, with a child that is deaf too."""
    process = talking(cli, "forever", ignoreTerm=True, child=True)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    while "again to kill" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    done = finish(process)
    assert done.status == 130
    assert done.events[-1] == {"event": "end", "stopReason": "cancelled"}
    await until_gone(cli.marker)


async def test_sigint_while_the_agent_starts(cli: Cli) -> None:
    agent = cli.scripted({"initialize": "hang", "atStart": [{"stderr": "thinking"}]})
    process = cli.start("run", "--json", "--agent-command", agent, "hi")
    read_until(process, lambda line: "thinking" in line)
    process.send_signal(signal.SIGINT)
    done = finish(process)
    assert done.status == 130
    assert done.events[-1] == {"event": "end", "stopReason": "cancelled"}
    await until_gone(cli.marker)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
async def test_termination_cancels_and_ends(cli: Cli, number: signal.Signals, status: int) -> None:
    process = talking(cli, "cancel", child=True)
    process.send_signal(number)
    done = finish(process)
    assert done.status == status
    assert done.events[-1] == {"event": "end", "stopReason": "cancelled"}
    await until_gone(cli.marker)


async def test_termination_does_not_wait_for_a_deaf_agent(cli: Cli) -> None:
    process = talking(cli, "forever", ignoreTerm=True)
    process.send_signal(signal.SIGTERM)
    assert finish(process).status == 143
    await until_gone(cli.marker)


async def test_a_killed_bridge_leaves_no_agent(cli: Cli) -> None:
    process = talking(cli, "forever", ignoreTerm=True, child=True)
    process.kill()
    finish(process)
    await until_gone(cli.marker)


class Terminal:
    """A command on a pseudo-terminal; `read_until` returns the screen's text so far."""

    def __init__(self, cli: Cli, *words: str) -> None:
        self.master, slave = pty.openpty()
        self.seen = ""
        self.process = cli.start(
            *words, stdin=slave, stdout=slave, stderr=slave, start_new_session=True, env={"TERM": "xterm"}
        )
        os.close(slave)

    def read_until(self, word: str, times: int = 1) -> str:
        while self.seen.count(word) < times:
            self.seen += self._read()
        return self.seen

    def _read(self) -> str:
        try:
            data = os.read(self.master, 65536)
        except OSError:
            data = b""
        assert data, f"the terminal closed: {self.seen}"
        return data.decode()

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def end(self) -> int:
        with contextlib.suppress(AssertionError):
            while True:
                self.seen += self._read()
        os.close(self.master)
        return self.process.wait(60)


ASK = {
    "toolCall": {
        "toolCallId": "1",
        "title": "Run it\u202e",
        "kind": "execute",
        "rawInput": {"command": "ls"},
    },
    "options": [
        {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ],
}
THEN = {
    "yes": [{"text": "said yes"}],
    "no": [{"text": "said no"}],
    "cancelled": [{"text": "said cancelled"}, {"stop": "cancelled"}],
}
STEP = {"permission": ASK, "then": THEN}


def test_a_person_is_asked_and_answers_by_number(cli: Cli) -> None:
    agent = cli.scripted({"prompts": [[STEP]]})
    terminal = Terminal(cli, "run", "--agent-command", agent, "go")
    seen = terminal.read_until("Your answer")
    assert "$ ls" in seen
    assert "Run it<U+202E>" in seen
    assert "2. No" in seen
    terminal.type("seven\n")
    seen = terminal.read_until("Your answer", times=2)
    assert "'seven' is none of the options" in seen
    terminal.type("2\n")
    terminal.read_until("said no")
    assert terminal.end() == 0


def test_two_questions_are_asked_one_after_the_other(cli: Cli) -> None:
    agent = cli.scripted({"prompts": [[STEP, STEP]]})
    terminal = Terminal(cli, "run", "--agent-command", agent, "go")
    terminal.read_until("Your answer")
    terminal.type("1\n")
    terminal.read_until("said yes")
    terminal.read_until("Your answer", times=2)
    terminal.type("2\n")
    terminal.read_until("said no")
    assert terminal.end() == 0


def test_ctrl_c_at_the_question_cancels_the_turn(cli: Cli) -> None:
    agent = cli.scripted({"prompts": [[STEP]]})
    terminal = Terminal(cli, "run", "--agent-command", agent, "go")
    terminal.read_until("Your answer")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.end() == 130
    assert "said cancelled" in terminal.seen


def test_end_of_input_at_the_question_rejects(cli: Cli) -> None:
    agent = cli.scripted({"prompts": [[STEP]]})
    terminal = Terminal(cli, "run", "--agent-command", agent, "go")
    terminal.read_until("Your answer")
    terminal.type("\x04")
    terminal.read_until("said no")
    assert terminal.end() == 0
    assert "(end of input)" in terminal.seen


def test_json_on_stdout_and_the_question_on_the_terminal(cli: Cli) -> None:
    agent = cli.scripted({"prompts": [[STEP]]})
    master, slave = pty.openpty()
    process = cli.start("run", "--json", "--agent-command", agent, "go", stdin=slave, stderr=slave)
    os.close(slave)
    seen = ""
    while "Your answer" not in seen:
        seen += os.read(master, 65536).decode()
    os.write(master, b"1\n")
    assert process.stdout is not None
    events = [json.loads(line) for line in process.stdout]
    assert process.wait(60) == 0
    os.close(master)
    [permission] = [event for event in events if event["event"] == "permission"]
    assert permission["outcome"] == {"outcome": "selected", "optionId": "yes"}
    assert permission["by"] == "user"
