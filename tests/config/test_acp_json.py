"""acp.json and Zed's agent_servers: the name is id and display name."""

from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"

ZED = """
// settings of an editor
{
  "theme": "One Dark", // more of them
  "agent_servers": {
    "My Agent": {
      "type": "custom",
      "command": "my-agent",
      "args": ["acp",],
      "env": {"LEVEL": "1"},
      "default_mode": "plan",
      "default_model": "large",
      "favorite_models": ["large"],
      "default_config_options": {"effort": "high", "web": true},
    },
    "claude-acp": {"type": "registry", "env": {"X": "1"}},
    "old": {"command": "old-agent"},
  },
}
"""


def test_koogs_acp_json_loads_verbatim(loaded, write, user_dir):
    write(user_dir / "acp.json", (DATA / "koog-acp.json").read_text(encoding="utf-8"))
    configuration = loaded()
    assert configuration.problems == []
    server = configuration.servers["Koog Agent"]
    assert server.cmd == ["/absolute/path/to/acp-agent/build/install/acp-agent/bin/acp-agent"]
    assert server.env == {"OPENAI_API_KEY": "paste-your-api-key-here"}
    assert (server.id, server.display_name, server.label) == ("Koog Agent", "Koog Agent", "Koog Agent")
    assert (server.protocol, server.source) == ("acp", "user")


def test_zeds_settings_are_read_with_comments_and_commas(loaded, write, tmp_path):
    path = write(tmp_path / "settings.json", ZED)
    configuration = loaded(flags=[path])
    server = configuration.servers["My Agent"]
    assert server.cmd == ["my-agent", "acp"]
    assert (server.default_mode, server.default_model) == ("plan", "large")
    assert server.default_config_options == {"effort": "high", "web": True}
    assert configuration.servers["old"].cmd == ["old-agent"]


def test_an_unknown_type_is_reported_and_skipped_and_takes_no_id(loaded, write, tmp_path):
    path = write(tmp_path / "settings.json", ZED)
    configuration = loaded(flags=[path])
    [problem] = configuration.problems
    assert (problem.file, problem.entry, problem.field) == (str(path), "claude-acp", "type")
    assert problem.severity == "warning"
    assert configuration.servers["claude-acp"].source == "shipped"


@pytest.mark.parametrize(
    ("entry", "field", "words"),
    [
        ("my-agent", "", "must be an object, not a string"),
        ({}, "command", "is missing"),
        ({"command": None}, "command", "is missing"),
        ({"command": ["x"]}, "command", "must be a string, not a list"),
        ({"command": ""}, "command", "agent type requires either image (Docker) or cmd (standalone)"),
        ({"command": "bin/x"}, "command", "'bin/x' is a relative path"),
        ({"command": "x", "args": "acp"}, "args", "must be a list, not a string"),
        ({"command": "x", "args": ["a", 1]}, "args[1]", "must be a string, not a number"),
        ({"command": "x", "args": ["a", "\0"]}, "args[1]", "holds a character"),
        ({"command": "x", "env": {"A": 1}}, "env.A", "must be a string, not a number"),
        ({"command": "x", "default_mode": 3}, "default_mode", "must be a string, not a number"),
        ({"command": "x", "protocol": "smoke"}, "protocol", "unknown protocol 'smoke'"),
        ({"command": "x", "type": "custom", "model_flag": "-m"}, "model_flag", "has no {model} placeholder"),
    ],
)
def test_a_bad_entry_is_named_as_the_user_wrote_it(loaded, write, user_dir, entry, field, words):
    path = write(user_dir / "acp.json", {"agent_servers": {"bad one": entry, "good": {"command": "good"}}})
    configuration = loaded()
    [problem] = configuration.problems
    assert (problem.file, problem.entry, problem.field) == (str(path), "bad one", field)
    assert words in problem.message
    assert "bad one" not in configuration.servers
    assert configuration.servers["good"].cmd == ["good"]


@pytest.mark.parametrize(
    ("entry", "hint"),
    [
        ({"comand": "x"}, 'is "comand" meant to be "command"?'),
        ({"args": ["x"]}, 'add "command"'),
        ({"command": "x", "args": "--acp"}, 'write it in brackets: ["…"]'),
        ({"command": "x", "env": {"A": True}}, "write it in quotes"),
    ],
)
def test_a_mistake_comes_with_what_to_write(loaded, write, user_dir, entry, hint):
    write(user_dir / "acp.json", {"agent_servers": {"bad one": entry}})
    [problem] = loaded().problems
    assert problem.hint == hint


@pytest.mark.parametrize("name", ["", " ", "Ägent 1/2", "agents[0]"])
def test_any_name_is_an_id(loaded, write, user_dir, name):
    write(user_dir / "acp.json", {"agent_servers": {name: {"command": "x"}}})
    configuration = loaded()
    assert configuration.problems == []
    assert configuration.servers[name].id == name


def test_an_entry_may_hold_the_other_fields_but_not_another_name(loaded, write, user_dir):
    entry = {
        "command": "x",
        "protocol": "opencode",
        "enabled": False,
        "display_name": "Else",
        "cmd": ["y"],
        "id": "z",
    }
    write(user_dir / "acp.json", {"agent_servers": {"me": entry}})
    server = loaded().servers["me"]
    assert (server.protocol, server.enabled, server.label, server.cmd) == ("opencode", False, "me", ["x"])


@pytest.mark.parametrize(
    "content", [{}, {"default_mcp_settings": {"use_idea_mcp": True}}, {"agent_servers": {}}]
)
def test_an_acp_json_may_hold_no_agent(loaded, write, user_dir, content):
    write(user_dir / "acp.json", content)
    assert loaded().problems == []


def test_of_two_equal_names_the_first_counts(loaded, write, user_dir):
    text = '{"agent_servers": {"a": {"command": "one"}, "a": {"command": "two"}}}'
    path = write(user_dir / "acp.json", text)
    configuration = loaded()
    assert configuration.servers["a"].cmd == ["one"]
    [problem] = configuration.problems
    assert (problem.file, problem.entry, problem.severity) == (str(path), "a", "error")
    assert "the first counts" in problem.message


@pytest.mark.parametrize("value", [[], "x", 7, None])
def test_a_map_that_is_none(loaded, write, user_dir, value):
    write(user_dir / "acp.json", {"agent_servers": value})
    [problem] = loaded().problems
    assert problem.field == "agent_servers"
    assert "must be an object" in problem.message
