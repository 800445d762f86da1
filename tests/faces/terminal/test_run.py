"""`acp-bridge run` against scripted agents: what is printed where, and the exit status of every end."""

from __future__ import annotations

import json
import shlex
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from support.cli import Cli, finish
from support.leftovers import until_gone
from support.thread_model import ThreadModel

Json = dict[str, Any]

ONCE = {"optionId": "yes", "name": "Yes", "kind": "allow_once"}
ALWAYS = {"optionId": "always", "name": "Always", "kind": "allow_always"}
NO = {"optionId": "no", "name": "No", "kind": "reject_once"}


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)


def asking(options: list[Json], path: str = "$CWD/a.txt") -> Json:
    """A turn that asks once and then says what it was told."""
    call = {
        "toolCallId": "c1",
        "title": "Change a file",
        "kind": "edit",
        "locations": [{"path": path}],
    }
    said = {option["optionId"]: [{"text": f"chosen {option['optionId']}"}] for option in options}
    then = {**said, "cancelled": [{"text": "told cancelled"}, {"stop": "cancelled"}]}
    return {"prompts": [[{"permission": {"toolCall": call, "options": options}, "then": then}]]}


# words


def test_text_goes_to_stdout_and_nothing_else(cli: Cli) -> None:
    plan = {"sessionUpdate": "plan", "entries": [{"content": "step", "priority": "low", "status": "pending"}]}
    call = {"sessionUpdate": "tool_call", "toolCallId": "1", "title": "Look", "status": "completed"}
    turn = [{"thought": "hm"}, {"update": plan}, {"text": "Hel"}, {"text": "lo"}, {"update": call}]
    done = cli.run("run", "--agent-command", cli.scripted({"prompts": [turn]}), "hi")
    assert done.status == 0
    assert done.stdout == "Hello\n"
    for word in ("hm", "step", "Look"):
        assert word in done.stderr


def test_json_is_one_object_a_line_and_the_ops_rebuild_the_thread(cli: Cli) -> None:
    turn = [{"text": f"{number} "} for number in range(200)]
    done = cli.run("run", "--json", "--agent-command", cli.scripted({"prompts": [turn]}), "count")
    events = done.events
    assert [events[0]["event"], events[-1]] == ["session", {"event": "end", "stopReason": "end_turn"}]
    assert set(events[1]) == {"event", "epoch", "fromRev", "rev", "ops"}
    model = ThreadModel(events[1]["epoch"], events[1]["fromRev"], [])
    for event in done.of("ops"):
        model.changed(event)
    assert [entry["kind"] for entry in model.entries] == ["user", "agent", "stop"]
    assert model.entries[1]["text"] == "".join(f"{number} " for number in range(200))
    assert done.status == 0


def test_stderr_and_noise_are_log_events(cli: Cli) -> None:
    turn = [{"stderr": "warning: low on tea"}, {"raw": "Loading…"}, {"text": "hi"}]
    done = cli.run("run", "--json", "--agent-command", cli.scripted({"prompts": [turn]}), "hi")
    logs = {(event["stream"], event["text"]) for event in done.of("log")}
    assert {("stderr", "warning: low on tea"), ("noise", "Loading…")} <= logs


# exit statuses


@pytest.mark.parametrize(
    ("reason", "status"),
    [
        ("end_turn", 0),
        ("refusal", 3),
        ("max_tokens", 3),
        ("max_turn_requests", 3),
        ("cancelled", 130),
        ("out_of_ideas", 1),
    ],
)
def test_stop_reasons(cli: Cli, reason: str, status: int) -> None:
    agent = cli.scripted({"prompts": [[{"text": "well"}, {"stop": reason}]]})
    done = cli.run("run", "--json", "--agent-command", agent, "hi")
    assert done.status == status
    assert done.events[-1]["event"] == "end"
    assert done.events[-1]["stopReason"] == reason


def failure(cli: Cli, scenario: Json, *words: str) -> tuple[int, Json, str]:
    """Status, the error of the last JSON line, and what a person reads of the same run."""
    agent = cli.scripted(scenario)
    done = cli.run("run", "--json", *words, "--agent-command", agent, "hi")
    last = done.events[-1]
    assert last["event"] == "error"
    told = cli.run("run", *words, "--agent-command", agent, "hi")
    assert told.status == done.status
    return done.status, last["error"], told.stderr


def test_an_agent_that_dies_in_mid_turn(cli: Cli) -> None:
    turn = [{"text": "half an ans"}, {"stderr": "out of memory"}, {"exit": 3}]
    status, error, told = failure(cli, {"prompts": [turn]})
    assert (status, error["code"]) == (1, "agentDied")
    assert "status 3" in error["message"]
    assert "out of memory" in error["detail"]
    assert error["hint"]
    for word in ("status 3", "out of memory", "try: "):
        assert word in told


def test_an_agent_that_is_killed_in_mid_turn(cli: Cli) -> None:
    status, error, told = failure(cli, {"prompts": [[{"kill": True}]]})
    assert (status, error["code"]) == (1, "agentDied")
    assert "SIGKILL" in told


def test_an_agent_that_answers_a_prompt_with_an_error(cli: Cli) -> None:
    turn = [{"stderr": "the model is on fire"}, {"error": {"code": 429, "message": "quota exceeded"}}]
    status, error, told = failure(cli, {"prompts": [turn]})
    assert status == 1
    assert "quota exceeded" in error["message"]
    assert "quota exceeded" in told


def test_an_agent_that_speaks_no_acp(cli: Cli) -> None:
    program = (
        "import json; print('Welcome!', flush=True); asked = json.loads(input())\n"
        "print(json.dumps({'jsonrpc': '2.0', 'id': asked['id'], 'result': 'what?'}), flush=True); input()"
    )
    cli.agents({"Chatty": {"command": sys.executable, "args": ["-c", program]}})
    done = cli.run("run", "Chatty", "hi")
    assert done.status == 1
    for word in ("Chatty speaks no ACP", "Welcome!", "try: "):
        assert word in done.stderr


def test_an_agent_that_exits_at_once(cli: Cli) -> None:
    command = shlex.join([sys.executable, "-c", "import sys; sys.exit('no licence found')"])
    done = cli.run("run", "--json", "--agent-command", command, "hi")
    error = done.events[-1]["error"]
    assert done.status == 1
    assert "no licence found" in error["detail"] + error["message"]
    assert "before it said anything" in error["message"]
    assert f"Run it in a terminal to see why: {command}" in error["hint"]


def test_authentication_required(cli: Cli) -> None:
    status, error, told = failure(cli, {"auth": ["key", "browser"]})
    assert (status, error["code"]) == (4, "authRequired")
    assert "--auth-method key" in error["hint"]
    assert "--auth-method browser" in told


def test_authentication_required_by_the_prompt(cli: Cli) -> None:
    status, error, _ = failure(cli, {"auth": ["key"], "authAtPrompt": True})
    assert (status, error["code"]) == (4, "authRequired")


@pytest.mark.parametrize("at_prompt", [False, True])
def test_an_auth_method_logs_in_first(cli: Cli, at_prompt: bool) -> None:
    scenario = {"auth": ["key"], "authAtPrompt": at_prompt, "prompts": [[{"text": "welcome"}]]}
    done = cli.run("run", "--auth-method", "key", "--agent-command", cli.scripted(scenario), "hi")
    assert (done.status, done.stdout) == (0, "welcome\n")


def test_an_unknown_auth_method_names_those_there_are(cli: Cli) -> None:
    agent = cli.scripted({"auth": ["key"]})
    done = cli.run("run", "--auth-method", "nope", "--agent-command", agent, "hi")
    assert done.status == 2
    assert "nope" in done.stderr
    assert "key" in done.stderr


# bad input


def bad(cli: Cli, *words: str, **options: Any) -> str:
    done = cli.run(*words, **options)
    assert done.status == 2, done
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert "try: " in done.stderr
    return done.stderr


def test_a_missing_command(cli: Cli) -> None:
    cli.agents({"Gone": {"command": "/nowhere/agent"}})
    assert "/nowhere/agent" in bad(cli, "run", "Gone", "hi")
    assert "no-such-program" in bad(cli, "run", "--agent-command", "no-such-program", "hi")


def test_a_missing_command_as_json(cli: Cli) -> None:
    done = cli.run("run", "--json", "--agent-command", "no-such-program", "hi")
    assert done.status == 2
    assert done.events[-1]["error"]["code"] == "agentUnavailable"


@pytest.mark.parametrize("command", ["", "  ", "'unclosed"])
def test_an_agent_command_that_is_none(cli: Cli, command: str) -> None:
    assert "--agent-command" in bad(cli, "run", "--agent-command", command, "hi")


def test_an_agent_command_beside_an_agent(cli: Cli) -> None:
    assert "exclude each other" in bad(cli, "run", "--agent-command", "x", "demo", "hi")


def test_a_cwd_that_is_no_folder(cli: Cli) -> None:
    file = cli.cwd / "file"
    file.write_text("")
    assert f"{file} is no folder" in bad(cli, "run", "--cwd", "file", "demo", "hi")
    assert "does not exist" in bad(cli, "run", "--cwd", "/nowhere", "demo", "hi")


def test_a_config_that_is_no_json(cli: Cli) -> None:
    file = cli.cwd / "broken.json"
    file.write_text("{")
    for words in (["--config", str(file), "run", "demo", "hi"], ["run", "--config", str(file), "demo", "hi"]):
        told = bad(cli, *words)
        assert str(file) in told
        assert "no JSON" in told
    assert "/nowhere.json" in bad(cli, "run", "--config", "/nowhere.json", "demo", "hi")


def test_a_bad_file_of_the_users_is_told_and_does_not_stop_the_others(cli: Cli) -> None:
    (cli.config / "agents.json").write_text("{")
    done = cli.run("run", "demo", "plain")
    assert done.status == 0
    assert f"{cli.config / 'agents.json'}: is no JSON" in done.stderr


def test_an_unknown_agent_lists_those_there_are(cli: Cli) -> None:
    told = bad(cli, "run", "nobody", "hi")
    assert "'nobody'" in told
    assert "demo" in told


def test_no_agent_named(cli: Cli) -> None:
    cli.agents({"One": {"prompts": [[{"text": "I am One"}]]}})
    only = cli.run("run", "hi", env={"PATH": "/nowhere"})
    assert (only.status, only.stdout) == (0, "I am One\n")
    cli.agents({"One": {}, "Two": {"prompts": [[{"text": "I am Two"}]]}})
    told = bad(cli, "run", "hi", env={"PATH": "/nowhere"})
    assert "One" in told
    assert "Two" in told
    (cli.config / "settings.json").write_text('{"defaultAgent": "Two"}')
    chosen = cli.run("run", "hi")
    assert (chosen.status, chosen.stdout) == (0, "I am Two\n")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--session", "ses-1", "demo", "hi"], "unknownSession"),
        (["--config", "/nowhere.json", "demo", "hi"], "config"),
        (["--cwd", "/nowhere", "demo", "hi"], "badParam"),
        (["--trace", "/nowhere/trace", "demo", "hi"], "config"),
        (["--agent-command", "'", "hi"], "badParam"),
        (["nobody", "hi"], "unknownAgent"),
        (["demo", ""], "badParam"),
        (["demo", "two", "words"], "badParam"),
    ],
)
def test_bad_input_as_json_is_one_error_line(cli: Cli, words: list[str], code: str) -> None:
    done = cli.run("run", "--json", *words)
    assert done.status == 2
    [event] = done.events
    assert event["event"] == "error"
    assert event["error"]["code"] == code
    assert event["error"]["message"]
    assert event["error"]["hint"]


def test_sessions_are_not_kept_yet(cli: Cli) -> None:
    assert "not kept yet" in bad(cli, "run", "--session", "ses-1", "demo", "hi")


@pytest.mark.parametrize("words", [[], ["demo", "two", "words"], ["demo", ""], ["--nonsense", "hi"]])
def test_usage(cli: Cli, words: list[str]) -> None:
    bad(cli, "run", *words)


def test_a_trace_file_that_cannot_be(cli: Cli) -> None:
    assert "/nowhere/trace" in bad(cli, "run", "--trace", "/nowhere/trace", "demo", "hi")


# agents


def test_an_agent_whose_name_has_spaces(cli: Cli) -> None:
    cli.agents({"Koog Agent": {"prompts": [[{"text": "hello from $CWD"}]]}})
    done = cli.run("run", "Koog Agent", "hi")
    assert (done.status, done.stdout) == (0, f"hello from {cli.cwd}\n")


def test_an_agent_command_is_split_like_a_shell_would(cli: Cli) -> None:
    program = cli.cwd / "my agent.sh"
    program.write_text(f'#!/bin/sh\necho "[$1]" >&2\nexec {cli.scripted({"prompts": [[{"text": "hi"}]]})}\n')
    program.chmod(0o755)
    done = cli.run("run", "--json", "--agent-command", "'./my agent.sh' 'two words'", "--cwd", "/", "hi")
    assert done.status == 0, done
    assert "[two words]" in [event["text"] for event in done.of("log")]
    assert done.of("session")[0]["cwd"] == "/"


def test_config_options_are_set_before_the_prompt(cli: Cli) -> None:
    done = cli.run(
        "run", "--json", "--config-option", "mode=auto", "--config-option", "thoughts=false", "demo", "hello"
    )
    assert done.status == 0
    assert done.of("permission") == []
    assert '"kind":"thought"' not in done.stdout


@pytest.mark.parametrize(
    ("word", "told"), [("colour=red", "colour"), ("mode", "mode"), ("thoughts=maybe", "thoughts")]
)
def test_bad_config_options(cli: Cli, word: str, told: str) -> None:
    assert told in bad(cli, "run", "--config-option", word, "demo", "plain")


# permissions


@pytest.mark.parametrize(
    ("policy", "options", "said", "status"),
    [
        ("allow", [ALWAYS, ONCE, NO], "chosen yes", 0),
        ("allow", [ALWAYS, NO], "chosen no", 0),
        ("reject", [ONCE, NO], "chosen no", 0),
        ("reject", [ONCE, ALWAYS], "told cancelled", 130),
        ("ask", [ONCE, NO], "chosen no", 0),
    ],
)
def test_permission(cli: Cli, policy: str, options: list[Json], said: str, status: int) -> None:
    agent = cli.scripted(asking(options))
    done = cli.run("run", "--json", "--permission", policy, "--agent-command", agent, "change it")
    assert done.status == status
    [event] = done.of("permission")
    assert [option["optionId"] for option in event["request"]["options"]] == [o["optionId"] for o in options]
    chosen = said.removeprefix("chosen ")
    expected = {"outcome": "selected", "optionId": chosen} if status == 0 else {"outcome": "cancelled"}
    assert event["outcome"] == expected
    assert json.dumps(said) in done.stdout or status == 130
    assert ("acts as reject" in done.stderr) == (policy == "ask")


def test_allow_never_leaves_the_roots(cli: Cli) -> None:
    """Neither when the agent asks, nor when it just writes and the bridge asks."""
    outside = cli.cwd.parent / "outside.txt"
    agent = cli.scripted(asking([ONCE, NO], path=str(outside)))
    done = cli.run("run", "--permission", "allow", "--agent-command", agent, "go")
    assert done.stdout == "chosen no\n"
    assert "outside" in done.stderr
    write = {"sessionId": "$SESSION", "path": str(outside), "content": "x"}
    turn = [{"call": "fs/write_text_file", "params": write, "fail": [{"text": "refused: $ANSWER"}]}]
    done = cli.run("run", "--permission", "allow", "--agent-command", cli.scripted({"prompts": [turn]}), "go")
    assert done.stdout.startswith("refused: ")
    assert not outside.exists()


def test_writing_inside_the_folder_needs_no_question(cli: Cli) -> None:
    write = {"sessionId": "$SESSION", "path": "$CWD/new.txt", "content": "made\n"}
    turn = [{"call": "fs/write_text_file", "params": write, "then": [{"text": "written"}]}]
    done = cli.run("run", "--json", "--agent-command", cli.scripted({"prompts": [turn]}), "go")
    assert done.of("permission") == []
    assert (cli.cwd / "new.txt").read_text() == "made\n"


# trace


def test_trace_shows_line_events_and_ops_with_secrets_masked(cli: Cli) -> None:
    turn = [{"text": "hi, your key is sekrit-value-1"}, {"stderr": "using sekrit-value-2"}]
    command, *args = cli.scripted_argv({"prompts": [turn]})
    entry = {"command": command, "args": args, "env": {"MY_SETTING": "sekrit-value-2"}}
    cli.agents({"S": entry})
    environ = {"SOME_API_KEY": "sekrit-value-1"}
    done = cli.run("run", "--json", "--trace", "trace.jsonl", "S", "hello", env=environ)
    assert done.status == 0
    text = (cli.cwd / "trace.jsonl").read_text()
    assert "sekrit" not in text
    records = [json.loads(line) for line in text.splitlines()]
    assert all(set(record) == {"t", "dir", "raw", "events", "ops"} for record in records)
    assert {"in", "out", "stderr", "host"} >= {record["dir"] for record in records}
    sent = [json.loads(record["raw"])["method"] for record in records if record["dir"] == "out"]
    assert sent == ["initialize", "session/new", "session/prompt"]
    [chunk] = [r for r in records if r["dir"] == "in" and "agent_message_chunk" in r["raw"]]
    assert chunk["events"][0]["event"] == "MessageChunk"
    assert chunk["ops"][0]["entry"]["text"] == "hi, your key is •••"
    [last] = [r for r in records if r["dir"] == "in" and "stopReason" in r["raw"]]
    assert last["events"][0]["stop_reason"] == "end_turn"
    assert last["ops"][-1]["entry"]["kind"] == "stop"


def test_trace_to_stderr(cli: Cli) -> None:
    agent = cli.scripted({"prompts": [[{"text": "hi"}]]})
    done = cli.run("run", "--json", "--trace", "-", "--agent-command", agent, "hello")
    lines = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    assert {line["dir"] for line in lines} >= {"in", "out"}
    assert done.events[-1]["event"] == "end"


def test_a_trace_is_the_same_beside_text_and_beside_json(cli: Cli) -> None:
    agent = cli.scripted({"prompts": [[{"text": "hi"}]]})
    for words in (["run"], ["run", "--json"]):
        assert cli.run(*words, "--trace", "t.jsonl", "--agent-command", agent, "hello").status == 0
        records = [json.loads(line) for line in (cli.cwd / "t.jsonl").read_text().splitlines()]
        put = [op["entry"] for record in records for op in record["ops"] if op["op"] == "put"]
        assert [entry["text"] for entry in put if "text" in entry] == ["hi"]


# where stdout goes


def test_a_reader_that_goes_away_ends_it_cleanly(cli: Cli) -> None:
    turn = [{"text": f"line {number}\n"} for number in range(200)] + [{"wait": "cancel"}]
    words = ["run", "--agent-command", cli.scripted({"prompts": [turn]}), "talk"]
    process = cli.start(*words)
    assert process.stdout is not None
    assert process.stdout.readline() == "line 0\n"
    process.stdout.close()
    process.stdout = None
    done = finish(process)
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr
    assert done.status == 130


@pytest.mark.parametrize("words", [["--json"], []])
def test_a_reader_that_stalls_loses_nothing(cli: Cli, words: list[str]) -> None:
    """stdout is read only after the agent has said all it has to say, far more than a pipe holds."""
    piece = "0123456789abcdef" * 4096
    turn = [*({"text": piece} for _ in range(64)), {"write": "$CWD/said", "content": "all"}, {"text": "last"}]
    process = cli.start("run", *words, "--agent-command", cli.scripted({"prompts": [turn]}), "talk")
    end = time.monotonic() + 60
    while not (cli.cwd / "said").exists():
        assert process.poll() is None, finish(process)
        assert time.monotonic() < end
        time.sleep(0.05)
    done = finish(process)
    assert done.status == 0
    if not words:
        assert done.stdout == piece * 64 + "last\n"
        return
    first = done.of("ops")[0]
    model = ThreadModel(first["epoch"], first["fromRev"], [])
    for event in done.of("ops"):
        model.changed(event)
    assert [entry["kind"] for entry in model.entries] == ["user", "agent", "stop"]
    assert model.entries[1]["text"] == piece * 64 + "last"


async def test_nothing_is_left_running(cli: Cli) -> None:
    agent = cli.scripted({"child": True, "ignoreTerm": True, "prompts": [[{"text": "hi"}]]})
    done = cli.run("run", "--agent-command", agent, "hi")
    assert done.status == 0
    await until_gone(cli.marker)


def test_a_printing_library_does_not_reach_stdout(cli: Cli, tmp_path: Path) -> None:
    """`sitecustomize` stands for any imported library that prints when it is used."""
    (tmp_path / "sitecustomize.py").write_text(
        "import asyncio.events as events\n"
        "before = events.new_event_loop\n"
        "def new_event_loop():\n"
        "    loop = before()\n"
        "    loop.call_later(0.05, lambda: print('hello from a library', flush=True))\n"
        "    return loop\n"
        "events.new_event_loop = new_event_loop\n"
    )
    agent = cli.scripted({"prompts": [[{"sleep": 0.5}, {"text": "hi"}]]})
    path = {"PYTHONPATH": str(tmp_path)}
    done = cli.run("run", "--json", "--agent-command", agent, "hi", env=path)
    assert done.events[-1]["event"] == "end"
