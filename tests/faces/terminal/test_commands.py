"""The other commands: help, versions, unknown words, agents, doctor."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from acp_bridge import __version__
from support.cli import Cli


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)


def test_help_lists_what_there_is_and_nothing_that_is_not(cli: Cli) -> None:
    done = cli.run("--help")
    assert done.status == 0
    for word in ("demo", "run", "agents", "doctor", "lsp", "--config", "--version", "--log-level"):
        assert word in done.stdout
    for word in ("chat", "acp-bridge acp", "rest", "mcp", "policy", "trust", "sessions"):
        assert word not in done.stdout.replace("every coding agent", "")


@pytest.mark.parametrize(
    "option",
    [
        "--cwd",
        "--permission",
        "--json",
        "--trace",
        "--session",
        "--config-option",
        "--auth-method",
        "--agent-command",
    ],
)
def test_run_has_every_option(cli: Cli, option: str) -> None:
    done = cli.run("run", "--help", env={"COLUMNS": "200"})
    assert done.status == 0
    assert option in done.stdout


def test_version(cli: Cli) -> None:
    for words in (["--version"], ["-V"], ["--log-level", "debug", "--version"]):
        done = cli.run(*words)
        assert (done.status, done.stdout) == (0, f"acp-bridge {__version__}\n")


@pytest.mark.parametrize("word", ["frobnicate", "chat", "mcp"])
def test_an_unknown_command_is_named_with_those_there_are(cli: Cli, word: str) -> None:
    done = cli.run(word)
    assert (done.status, done.stdout) == (2, "")
    assert f"'{word}'" in done.stderr
    for known in ("agents", "demo", "doctor", "lsp", "run"):
        assert known in done.stderr


@pytest.mark.parametrize("words", [["agents"], ["agents", "frobnicate"], ["--log-level", "loud", "demo"]])
def test_half_a_command_is_a_usage_error(cli: Cli, words: list[str]) -> None:
    done = cli.run(*words)
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["--log-level", "loud", "demo"], "acp-bridge --help"),
        (["run", "--permission", "maybe", "x"], "acp-bridge run --help"),
    ],
)
def test_a_wrong_value_names_those_there_are(cli: Cli, words: list[str], hint: str) -> None:
    done = cli.run(*words)
    assert done.status == 2
    error, what_to_try = done.stderr.splitlines()
    assert re.fullmatch(r"error: Invalid value for '\S+': '\w+' is not one of '\w+'.*", error)
    assert what_to_try == f"try: {hint}"


def test_agents_list_in_a_pipe_has_one_line_an_agent(cli: Cli) -> None:
    command = "/nowhere/" + "a-long-name-" * 20
    cli.agents({"Mine": {"command": command}})
    done = cli.run("agents", "list")
    [mine] = [line for line in done.stdout.splitlines() if "Mine" in line]
    assert command in mine


def test_agents_list(cli: Cli) -> None:
    cli.agents({"Koog Agent": {"command": "/nowhere/koog"}, "Mine": {}})
    done = cli.run("agents", "list", env={"PATH": "/nowhere"})
    assert done.status == 0
    [koog] = [line for line in done.stdout.splitlines() if "Koog Agent" in line]
    assert " no " in koog
    assert "/nowhere/koog" in done.stdout
    [mine] = [line for line in done.stdout.splitlines() if "Mine" in line]
    assert mine.startswith("*")
    assert " yes " in mine


def test_an_agent_whose_protocol_is_not_spoken_is_not_available(cli: Cli) -> None:
    entry = {"id": "k", "cmd": [sys.executable], "protocol": "kandev"}
    (cli.config / "agents.json").write_text(json.dumps([entry]))
    listed = json.loads(cli.run("agents", "list", "--json").stdout)
    [agent] = [agent for agent in listed["agents"] if agent["id"] == "k"]
    assert not agent["available"]
    assert listed["default"] != "k"
    for words in (["doctor", "k"], ["run", "k", "hi"]):
        done = cli.run(*words)
        assert done.status != 0
        assert "'kandev', which this version does not" in done.stdout + done.stderr


def test_agents_list_as_json(cli: Cli) -> None:
    cli.agents({"Gone": {"command": "/nowhere/gone"}})
    (cli.config / "settings.json").write_text('{"defaultAgent": "demo"}')
    done = cli.run("agents", "list", "--json")
    listed = json.loads(done.stdout)
    agents = {agent["id"]: agent for agent in listed["agents"]}
    assert listed["default"] == "demo"
    assert agents["demo"]["available"] is True
    assert agents["Gone"]["available"] is False
    assert "/nowhere/gone" in agents["Gone"]["reason"]
    assert {"claude-acp", "codex-acp", "gemini", "opencode", "goose"} <= set(agents)


def test_a_closed_pipe_is_no_traceback(cli: Cli) -> None:
    process = cli.start("agents", "list")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    told = process.stderr.read()
    assert process.wait(60) in (0, 141)
    assert "Traceback" not in told
    assert "BrokenPipe" not in told


@pytest.mark.parametrize("words", ["agents list", "run demo plain", "doctor"])
@pytest.mark.parametrize("redirect", [">/dev/full", ">&-", "<&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_are_closed_or_full_are_no_traceback(cli: Cli, words: str, redirect: str) -> None:
    command = f"{shlex.join(cli.argv(*words.split()))} {redirect}"
    done = subprocess.run(
        ["/bin/sh", "-c", command], cwd=cli.cwd, env=cli.environ, capture_output=True, text=True, timeout=90
    )
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr
    if redirect != ">/dev/full":
        assert done.returncode == 0
    else:
        assert done.returncode in (1, 130)


def test_agents_show_masks_secrets(cli: Cli) -> None:
    entry = {"command": "x", "args": [], "env": {"API_KEY": "hush", "MODE": "long-and-configured"}}
    cli.agents({"Mine": entry})
    for words in (["agents", "show", "Mine"], ["agents", "show", "Mine", "--json"]):
        done = cli.run(*words)
        assert done.status == 0
        assert "API_KEY" in done.stdout
        assert "hush" not in done.stdout
        assert "long-and-configured" not in done.stdout
    unknown = cli.run("agents", "show", "nobody")
    assert unknown.status == 2
    assert "nobody" in unknown.stderr


def test_doctor(cli: Cli) -> None:
    (cli.config / "agents.json").write_text("{")
    cli.agents({"Gone": {"command": "/nowhere/gone", "env": {"TOKEN": "hush-hush"}}})
    done = cli.run("doctor", env={"PATH": f"/nowhere-on-path:{cli.environ['PATH']}", "MY_API_KEY": "sekrit"})
    assert done.status == 2
    for word in (
        f"acp-bridge {__version__}",
        "Python 3",
        "git",
        str(cli.config / "agents.json"),
        str(cli.config / "acp.json"),
        str(cli.cwd / ".acp-bridge" / "acp.json"),
        "is no JSON",
        "/nowhere/gone does not exist",
        "demo: built in",
        "try: npm install -g",
        "/nowhere-on-path (no folder)",
    ):
        assert word in done.stdout, word
    assert "hush-hush" not in done.stdout
    assert "sekrit" not in done.stdout


def test_doctor_of_one_agent(cli: Cli) -> None:
    key = {"OPENAI_API_KEY": "paste-your-api-key-here", "LEVEL": "9"}
    cli.agents({"Koog Agent": {"command": "/nowhere/koog", "args": ["--flag"], "env": key}})
    done = cli.run("doctor", "Koog Agent")
    assert done.status == 1
    for word in (
        "/nowhere/koog does not exist",
        "/nowhere/koog --flag",
        "OPENAI_API_KEY to a placeholder",
        "LEVEL=9",
    ):
        assert word in done.stdout, word
    assert cli.run("doctor", "demo").status == 0
    unknown = cli.run("doctor", "nobody")
    assert unknown.status == 2
    assert "nobody" in unknown.stderr


def test_doctor_of_an_agent_that_wants_variables(cli: Cli) -> None:
    entry = {"id": "needy", "cmd": ["git"], "required_env": ["NEEDED_NAME"], "protocol": "acp"}
    (cli.config / "agents.json").write_text(json.dumps([entry]))
    without = cli.run("doctor", "needy")
    assert without.status == 1
    assert "needs NEEDED_NAME: not set" in without.stdout
    assert "export NEEDED_NAME" in without.stdout
    with_it = cli.run("doctor", "needy", env={"NEEDED_NAME": "1"})
    assert with_it.status == 0


def test_a_log_level_is_heard(cli: Cli) -> None:
    assert cli.run("--log-level", "debug", "run", "demo", "plain").status == 0
