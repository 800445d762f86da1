"""agents.json: both shapes, and a bad entry told by file, entry and field while the others work."""

from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"
GOOD = {"id": "good", "cmd": ["good-agent", "--acp"]}


@pytest.mark.parametrize(
    "shape", [lambda entries: entries, lambda entries: {"version": "1.0", "agents": entries}]
)
def test_both_shapes(loaded, write, user_dir, shape):
    write(user_dir / "agents.json", shape([GOOD]))
    configuration = loaded()
    assert configuration.problems == []
    server = configuration.servers["good"]
    assert (server.cmd, server.protocol, server.source) == (["good-agent", "--acp"], "acp", "user")
    assert server.file == str(user_dir / "agents.json")


def test_the_entry_of_kandevs_guide_loads_verbatim(loaded, write, user_dir):
    entry = (DATA / "kandev-gemini.json").read_text(encoding="utf-8")
    write(user_dir / "agents.json", f"[{entry}]")
    configuration = loaded()
    assert configuration.problems == []
    server = configuration.servers["gemini"]
    assert server.label == "Gemini"
    assert server.cmd == ["gemini-cli", "--output-format=json", "--non-interactive"]
    assert server.required_env == ["GOOGLE_API_KEY"]
    assert server.resource_limits.timeout_seconds == 3600
    assert server.permission_settings["auto_approve"].cli_flag == "--auto-approve"
    assert server.discovery.installation_path.linux == ["~/.gemini/config.json"]
    assert [model.id for model in server.llm.available_models] == ["gemini-2.0-flash", "gemini-2.0-pro"]
    assert server.llm.available_models[1].context_window == 2_000_000


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"cmd": "gemini --acp"}, "cmd", "must be a list, not a string"),
        ({"cmd": ["a", 8080]}, "cmd[1]", "must be a string, not a number"),
        ({"cmd": []}, "cmd", "agent type requires either image (Docker) or cmd (standalone)"),
        ({"cmd": None}, "cmd", "agent type requires either image (Docker) or cmd (standalone)"),
        ({"cmd": [" "]}, "cmd", "agent type requires either image (Docker) or cmd (standalone)"),
        ({"cmd": ["bin/agent"]}, "cmd[0]", "'bin/agent' is a relative path"),
        ({"cmd": ["./agent"]}, "cmd[0]", "is a relative path"),
        ({"cmd": ["~nobody-of-that-name/agent"]}, "cmd[0]", "cannot be expanded"),
        ({"cmd": ["a", "b\0c"]}, "cmd[1]", "holds a character"),
        ({"env": {"PORT": 8080}}, "env.PORT", "must be a string, not a number"),
        ({"env": {"DEBUG": True}}, "env.DEBUG", "must be a string, not true or false"),
        ({"env": {"str": None}}, "env.str", "must be a string, not null"),
        ({"env": {"A=B": "x"}}, "env.A=B", "is no name for an environment variable"),
        ({"env": {"A": "\ud800"}}, "env.A", "holds a character"),
        ({"env": ["A=1"]}, "env", "must be an object, not a list"),
        ({"enabled": "perhaps"}, "enabled", "must be true or false, not a string"),
        ({"protocol": "smoke"}, "protocol", "unknown protocol 'smoke'"),
        ({"model_flag": "--model"}, "model_flag", "has no {model} placeholder"),
        ({"mounts": [{"source": "/a"}]}, "mounts[0].target", "is missing"),
        ({"resource_limits": {"memory_mb": "much"}}, "resource_limits.memory_mb", "must be a whole number"),
        (
            {"permission_settings": {"x": {"apply_method": "telepathy"}}},
            "permission_settings.x.apply_method",
            "must be one of",
        ),
        (
            {"model_config": {"available_models": [{"id": "a"}, {}]}},
            "model_config.available_models[1].id",
            "is missing",
        ),
        (
            {"model_config": {"dynamic_models_cmd": 7}},
            "model_config.dynamic_models_cmd",
            "must be a string or a list of strings",
        ),
        (
            {"default_config_options": {"str": 7}},
            "default_config_options.str",
            "must be a string, or true or false",
        ),
    ],
)
def test_a_bad_field_is_named_and_the_other_entries_work(loaded, write, user_dir, change, field, words):
    path = write(user_dir / "agents.json", [{"id": "bad", "cmd": ["bad-agent"], **change}, GOOD])
    configuration = loaded()
    [problem] = configuration.problems
    assert (problem.file, problem.entry, problem.field) == (str(path), "bad", field)
    assert words in problem.message
    assert problem.severity == "error"
    assert "bad" not in configuration.servers
    assert configuration.servers["good"].cmd == ["good-agent", "--acp"]


def test_every_bad_field_of_an_entry_is_told(loaded, write, user_dir):
    write(user_dir / "agents.json", [{"id": "bad", "cmd": 1, "env": {"A": 1}, "image": []}])
    assert [problem.field for problem in loaded().problems] == ["image", "cmd", "env.A"]


def test_an_unknown_protocol_lists_the_known_ones_and_guesses(loaded, write, user_dir):
    write(user_dir / "agents.json", [{"id": "x", "cmd": ["x"], "protocol": "ACP"}])
    [problem] = loaded().problems
    assert "did you mean 'acp'?" in problem.hint
    words = "acp, kandev, legacy, claude-code, codex, gemini, opencode, auggie, copilot, rest, mcp, demo"
    told = ", ".join(sorted(problem.hint.partition("known: ")[2].split(", ")))
    assert told == ", ".join(sorted(words.split(", ")))


def test_no_value_of_the_file_is_told(loaded, write, user_dir):
    secret = 48151623421
    entries = [
        {"id": "bad", "cmd": ["x"], "env": {"KEY": secret, "T": [f"s-{secret}"]}, "mounts": f"m-{secret}"}
    ]
    write(user_dir / "agents.json", entries)
    problems = loaded().problems
    assert len(problems) == 3
    assert str(secret) not in "".join(str(problem) for problem in problems)


@pytest.mark.parametrize(
    ("entry", "field", "words"),
    [
        ("gemini", "", "must be an object, not a string"),
        (None, "", "must be an object, not null"),
        ({"cmd": ["x"]}, "id", "is missing"),
        ({"id": "", "cmd": ["x"]}, "id", "is empty"),
        ({"id": 7, "cmd": ["x"]}, "id", "must be a string, not a number"),
        ({"id": "good", "cmd": ["other"]}, "id", "'good' stands in this file already; the first counts"),
    ],
)
def test_an_entry_without_a_usable_id_is_named_by_its_place(loaded, write, user_dir, entry, field, words):
    write(user_dir / "agents.json", [GOOD, entry])
    configuration = loaded()
    [problem] = configuration.problems
    assert (problem.entry, problem.field) == ("agents[1]", field)
    assert words in problem.message
    assert configuration.servers["good"].cmd == ["good-agent", "--acp"]


def test_null_means_absent_as_go_programs_write_it(loaded, write, user_dir):
    entry = {**GOOD, "env": None, "mounts": None, "discovery": {"installation_path": {"linux": None}}}
    write(user_dir / "agents.json", [{**entry, "protocol_config": {"kept": None}}])
    configuration = loaded()
    assert configuration.problems == []
    assert configuration.servers["good"].protocol_config == {"kept": None}


def test_an_image_needs_no_command_and_its_command_is_the_containers(loaded, write, user_dir):
    entries = [{"id": "a", "image": "kandev/agent"}, {"id": "b", "image": "i", "cmd": ["./in/container"]}]
    write(user_dir / "agents.json", entries)
    configuration = loaded()
    assert configuration.problems == []
    assert configuration.servers["b"].cmd == ["./in/container"]


def test_home_is_expanded_in_the_command_only(loaded, write, user_dir, home):
    write(user_dir / "agents.json", [{"id": "x", "cmd": ["~/bin/x", "~/notes"]}])
    assert loaded().servers["x"].cmd == [f"{home}/bin/x", "~/notes"]


def test_unknown_fields_are_kept(loaded, write, user_dir):
    write(user_dir / "agents.json", [{**GOOD, "vendor": {"tier": 1}}])
    assert loaded().servers["good"].model_extra == {"vendor": {"tier": 1}}


def test_a_file_cannot_say_where_it_stands(loaded, write, user_dir):
    write(user_dir / "agents.json", [{**GOOD, "source": "shipped", "file": "elsewhere"}])
    server = loaded().servers["good"]
    assert (server.source, server.file) == ("user", str(user_dir / "agents.json"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('[{"id": "x",\n  cmd: []}]', "is no JSON: line 2, column 3"),
        ("", "is no JSON: line 1, column 1"),
        ("7", "must hold a list or an object, not a number"),
        ("null", "must hold a list or an object, not null"),
        ('{"servers": []}', "has neither agents nor agent_servers"),
        ('{"agents": {"x": {}}}', "must be a list, not an object"),
    ],
)
def test_a_file_of_another_kind_is_one_problem(loaded, write, user_dir, content, words):
    path = write(user_dir / "agents.json", content)
    configuration = loaded()
    [problem] = configuration.problems
    assert (problem.file, problem.entry) == (str(path), "")
    assert words in problem.message
    assert problem.hint
    assert "demo" in configuration.servers


def test_a_problem_reads_as_one_line(loaded, write, user_dir):
    path = write(user_dir / "agents.json", [{"id": "x", "cmd": ["x"], "env": {"PORT": 1}}, 7])
    assert [str(problem) for problem in loaded().problems] == [
        f"{path}: agent 'x': env.PORT: must be a string, not a number (write it in quotes)",
        f"{path}: agents[1]: must be an object, not a number",
    ]
