"""Precedence and trust: which of several entries of one id counts, and what is not even read."""

import os
from pathlib import Path

import pytest


def agents(command, agent_id="x"):
    return [{"id": agent_id, "cmd": [command]}]


def servers(command, name="x"):
    return {name: {"command": command}}


def test_an_id_counts_in_the_highest_place_that_sets_it(loaded, write, user_dir, project, tmp_path):
    shipped = loaded().servers["gemini"]
    assert shipped.source == "shipped"

    def now(**arguments):
        configuration = loaded(project=project, **arguments)
        server = configuration.servers["gemini"]
        return server.cmd[0], server.source

    write(user_dir / "agents.json", agents("user", "gemini"))
    assert now() == ("user", "user")
    write(project / ".acp-bridge" / "agents.json", agents("project file", "gemini"))
    assert now(trusted=True) == ("project file", "project")
    editor = {"workspace": {"agentServers": servers("workspace", "gemini")}}
    assert now(trusted=True, editor=editor) == ("workspace", "project")
    editor["agentServers"] = servers("editor", "gemini")
    assert now(trusted=True, editor=editor) == ("editor", "editor")
    first = write(tmp_path / "one.json", agents("first flag", "gemini"))
    last = write(tmp_path / "two.json", {"agent_servers": servers("last flag", "gemini")})
    assert now(trusted=True, editor=editor, flags=[first]) == ("first flag", "flag")
    assert now(trusted=True, editor=editor, flags=[first, last]) == ("last flag", "flag")


def test_the_whole_entry_is_replaced(loaded, write, user_dir):
    write(user_dir / "agents.json", [{"id": "gemini", "cmd": ["mine"]}])
    server = loaded().servers["gemini"]
    assert (server.protocol_config, server.description, server.install_hint) == ({}, "", "")


def test_places_add_up(loaded, write, user_dir, project):
    write(user_dir / "agents.json", agents("user", "u"))
    write(project / ".acp-bridge" / "acp.json", {"agent_servers": servers("project", "p")})
    editor = {"agentServers": servers("editor", "e"), "trusted": True}
    configuration = loaded(project=project, editor=editor)
    assert configuration.problems == []
    assert list(configuration.servers)[:3] == ["e", "p", "u"]
    assert configuration.servers["demo"].source == "shipped"


def test_an_entry_that_cannot_be_used_still_takes_its_id(loaded, write, user_dir):
    """Else the shipped agent would start under a name that the user gave to something else."""
    write(user_dir / "agents.json", [{"id": "gemini", "cmd": ["mine"], "env": {"PORT": 1}}])
    configuration = loaded()
    assert [problem.field for problem in configuration.problems] == ["env.PORT"]
    assert "gemini" not in configuration.servers


def test_in_one_folder_acp_json_beats_agents_json_with_a_warning(loaded, write, user_dir):
    write(user_dir / "acp.json", {"agent_servers": servers("from acp.json")})
    kandev = write(user_dir / "agents.json", [*agents("from agents.json"), *agents("other", "y")])
    configuration = loaded()
    assert configuration.servers["x"].cmd == ["from acp.json"]
    assert configuration.servers["y"].cmd == ["other"]
    [problem] = configuration.problems
    assert (problem.file, problem.entry, problem.severity) == (str(kandev), "x", "warning")
    assert "acp.json" in problem.message


@pytest.mark.parametrize(
    "trust",
    [
        {},
        {"trusted": False},
        {"editor": {}},
        {"editor": {"trusted": False}},
        {"editor": {"trusted": "true"}},
        {"editor": {"trusted": 1}},
    ],
)
def test_an_untrusted_project_is_ignored_and_that_is_told(loaded, write, project, trust):
    acp = write(project / ".acp-bridge" / "acp.json", {"agent_servers": servers("evil")})
    kandev = write(project / ".acp-bridge" / "agents.json", agents("evil", "demo"))
    workspace = {
        "agentServers": servers("evil", "y"),
        "settings": {"defaultAgent": "y", "threadStream": "end"},
    }
    editor = {"workspace": workspace, **trust.get("editor", {})}
    configuration = loaded(project=project, editor=editor, trusted=trust.get("trusted", False))
    assert {server.source for server in configuration.servers.values()} == {"shipped"}
    assert configuration.settings.default_agent == ""
    assert configuration.settings.thread_stream == "live"
    told = [problem for problem in configuration.problems if "not trusted" in problem.message]
    ignored = [problem.file for problem in told if problem.field == ""]
    assert ignored == ["workspace settings", str(acp), str(kandev)]
    assert all(problem.hint for problem in told if problem.field == "")


@pytest.mark.parametrize("trust", [{"trusted": True}, {"editor": {"trusted": True}}])
def test_a_trusted_project_counts(loaded, write, project, trust):
    write(project / ".acp-bridge" / "agents.json", agents("mine"))
    configuration = loaded(project=project, **trust)
    assert configuration.problems == []
    assert configuration.servers["x"].source == "project"


def test_an_untrusted_projects_file_is_not_even_read(loaded, write, project):
    write(project / ".acp-bridge" / "agents.json", "no JSON {")
    [problem] = loaded(project=project).problems
    assert "not trusted" in problem.message


def test_a_project_without_configuration_tells_nothing(loaded, project, tmp_path):
    empty = {"workspace": {"agentServers": {}, "settings": {}}}
    assert loaded(project=project, editor=empty).problems == []
    assert loaded(project=tmp_path / "not there").problems == []


def test_a_config_file_that_is_not_there_is_a_problem(loaded, tmp_path):
    path = tmp_path / "absent.json"
    [problem] = loaded(flags=[path]).problems
    assert (problem.file, problem.message) == (str(path), "does not exist")
    assert "--config" in problem.hint


def test_a_user_folder_that_is_not_there_is_none(loaded, tmp_path):
    assert loaded(user_dir=tmp_path / "absent").problems == []


def test_a_folder_in_place_of_the_file(loaded, user_dir):
    (user_dir / "agents.json").mkdir()
    [problem] = loaded().problems
    assert (problem.file, problem.message) == (str(user_dir / "agents.json"), "is a folder, not a file")


@pytest.mark.skipif(os.name == "nt", reason="needs named pipes")
def test_a_pipe_in_place_of_the_file_is_not_waited_for(loaded, user_dir):
    os.mkfifo(user_dir / "agents.json")
    [problem] = loaded().problems
    assert (problem.file, problem.message) == (str(user_dir / "agents.json"), "is no regular file")


@pytest.mark.skipif(os.name == "nt", reason="needs /dev/fd")
def test_a_config_file_may_be_a_pipe_as_shells_make_them(loaded):
    reading, writing = os.pipe()
    os.write(writing, b'{"agent_servers": {"x": {"command": "piped"}}}')
    os.close(writing)
    try:
        assert loaded(flags=[Path(f"/dev/fd/{reading}")]).servers["x"].cmd == ["piped"]
    finally:
        os.close(reading)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs /dev/zero")
def test_a_config_file_without_end_is_given_up(loaded):
    [problem] = loaded(flags=[Path("/dev/zero")]).problems
    assert (problem.file, problem.message) == ("/dev/zero", "is larger than 16 MiB")


def test_a_config_file_is_named_by_its_whole_path(loaded, write, home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "near.json", agents("near"))
    assert loaded(flags=[Path("near.json")]).servers["x"].file == str(tmp_path / "near.json")
    write(home / "mine.json", agents("mine"))
    assert loaded(flags=[Path("~/mine.json")]).servers["x"].file == str(home / "mine.json")


@pytest.mark.skipif(os.name == "nt", reason="needs symbolic links")
def test_a_file_that_cannot_be_read(loaded, user_dir):
    path = user_dir / "agents.json"
    path.symlink_to(path)
    [problem] = loaded().problems
    assert problem.file == str(path)
    assert problem.message.startswith("cannot be read: Too many levels of symbolic links")


def test_a_file_in_place_of_the_projects_folder(loaded, write, project):
    (project / ".acp-bridge").rmdir()
    write(project / ".acp-bridge", "x")
    problems = loaded(project=project, trusted=True).problems
    assert problems
    assert all(problem.message.startswith("cannot be read: ") for problem in problems)


def test_one_broken_file_leaves_the_others(loaded, write, user_dir, tmp_path):
    write(user_dir / "acp.json", "{")
    write(user_dir / "agents.json", agents("user"))
    configuration = loaded(flags=[tmp_path])
    assert [problem.file for problem in configuration.problems] == [str(tmp_path), str(user_dir / "acp.json")]
    assert configuration.servers["x"].cmd == ["user"]


@pytest.mark.parametrize(
    ("editor", "field", "words"),
    [
        ({"agentServers": []}, "agentServers", "must be an object, not a list"),
        ({"workspace": "x"}, "workspace", "must be an object, not a string"),
        ({"trusted": "yes"}, "trusted", "must be true or false"),
    ],
)
def test_an_editor_that_sends_something_else(loaded, editor, field, words):
    [problem] = loaded(editor=editor).problems
    assert (problem.file, problem.field) == ("editor settings", field)
    assert words in problem.message


def test_a_bad_entry_of_the_editor_is_named(loaded):
    [problem] = loaded(editor={"agentServers": {"mine": {"command": "x", "env": {"A": 1}}}}).problems
    assert (problem.file, problem.entry, problem.field) == ("editor settings", "mine", "env.A")


def test_null_from_an_editor_is_nothing(loaded):
    editor = {"agentServers": None, "workspace": None, "settings": None, "trusted": True}
    assert loaded(editor=editor).problems == []


def test_the_users_folder_can_be_named_by_the_environment(loaded, write, tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    write(folder / "agents.json", agents("named"))
    configuration = loaded(user_dir=None, environ={"ACP_BRIDGE_CONFIG_DIR": str(folder)})
    assert configuration.servers["x"].cmd == ["named"]


@pytest.mark.parametrize("environ", [{}, {"ACP_BRIDGE_CONFIG_DIR": "relative"}])
def test_where_no_home_is_known_nothing_below_the_working_folder_is_taken_for_it(
    loaded, write, tmp_path, monkeypatch, environ
):
    for variable in ["HOME", "XDG_CONFIG_HOME", "USERPROFILE", "LOCALAPPDATA"]:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    monkeypatch.chdir(tmp_path)
    for folder in [tmp_path / "~" / ".config" / "acp-bridge", tmp_path / "relative"]:
        folder.mkdir(parents=True)
        write(folder / "agents.json", agents("evil"))
    configuration = loaded(user_dir=None, environ=environ, editor={"agentServers": servers("~/x", "y")})
    [home_needed, unknown] = configuration.problems
    assert (home_needed.entry, home_needed.field) == ("y", "command")
    assert "cannot be expanded" in home_needed.message
    assert "ACP_BRIDGE_CONFIG_DIR" in unknown.hint
    assert {server.source for server in configuration.servers.values()} == {"shipped"}
