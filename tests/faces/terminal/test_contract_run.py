"""`run` as docs/command-line.md has it; each test names the sentence it holds."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from support.cli import Cli

Json = dict[str, Any]
ONCE = [{"optionId": "yes", "name": "Allow", "kind": "allow_once"}]


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)


def test_every_json_line_has_its_fields_and_the_last_one_is_the_end(cli: Cli) -> None:
    ask = {"toolCall": {"toolCallId": "t", "title": "Do it"}, "options": ONCE}
    steps = [{"stderr": "warned"}, {"raw": "noise"}, {"permission": ask}, {"text": "hi"}]
    agent = cli.scripted({"prompts": [steps]})
    done = cli.run("run", "--json", "--permission", "allow", "--agent-command", agent, "hello")
    assert done.status == 0
    kinds = [event["event"] for event in done.events]
    assert (kinds[0], kinds[-1]) == ("session", "end") and set(kinds) == {
        "session",
        "ops",
        "permission",
        "log",
        "end",
    }
    assert all(set(ops) == {"event", "epoch", "fromRev", "rev", "ops"} for ops in done.of("ops"))
    revs = [(ops["fromRev"], ops["rev"]) for ops in done.of("ops")]
    assert all(before[1] == after[0] for before, after in pairwise(revs))
    [permission] = done.of("permission")
    assert permission["outcome"] == {"outcome": "selected", "optionId": "yes"}
    assert permission["request"]["options"] == ONCE
    logs = {(log["stream"], log["text"]) for log in done.of("log")}
    assert logs == {("stderr", "warned"), ("noise", "noise")}
    assert done.events[-1]["stopReason"] == "end_turn"


def test_cancelled_is_130_whoever_cancelled_and_whatever_the_agent_calls_it(cli: Cli) -> None:
    by_agent = cli.scripted({"prompts": [[{"stop": "cancelled"}]]})
    assert cli.run("run", "--json", "--agent-command", by_agent, "hello").status == 130
    ask = {"permission": {"toolCall": {"toolCallId": "t"}, "options": ONCE}}
    for end in ([], [{"stop": "cancelled"}]):
        agent = cli.scripted({"prompts": [[ask, *end]]})
        done = cli.run("run", "--json", "--permission", "reject", "--agent-command", agent, "hello")
        assert done.of("permission")[0]["outcome"] == {"outcome": "cancelled"}
        assert done.status == 130


def test_one_positional_is_the_prompt_two_are_agent_and_prompt(cli: Cli) -> None:
    cli.agents({"mine": {"prompts": [[{"text": "mine"}]]}, "other": {"prompts": [[{"text": "other"}]]}})
    assert cli.run("run", "other", "mine").stdout.strip() == "other"
    nobody = cli.run("run", "--json", "mine")
    assert nobody.status == 2 and nobody.events[-1]["error"]["code"] == "badParam"
    assert "mine" in nobody.events[-1]["error"]["hint"] and "other" in nobody.events[-1]["error"]["hint"]
    (cli.config / "settings.json").write_text(json.dumps({"defaultAgent": "mine"}))
    assert cli.run("run", "other").stdout.strip() == "mine"


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (["nobody", "hello"], 2, "unknownAgent"),
        (["--cwd", "/no/such/folder", "demo", "hello"], 2, "badParam"),
        (["--agent-command", "/no/such/program", "hello"], 2, "agentUnavailable"),
        (["--session", "ses-none", "demo", "hello"], 2, "unknownSession"),
        (["--config-option", "nothing=x", "demo", "hello"], 2, "badParam"),
        (["--config-option", "mode=no such mode", "demo", "hello"], 2, "badParam"),
        (["--config-option", "mode", "demo", "hello"], 2, "badParam"),
        (["demo", " "], 2, "badParam"),
    ],
)
def test_an_error_is_the_last_line_with_code_message_and_hint(
    cli: Cli, words: list[str], status: int, code: str
) -> None:
    done = cli.run("run", "--json", *words)
    last = done.events[-1]
    assert (done.status, last["event"], last["error"]["code"]) == (status, "error", code)
    assert last["error"]["message"] and last["error"]["hint"]
