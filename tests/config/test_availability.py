"""Available = enabled and the command is found; discovery files only add a reason."""

import os
import sys
from pathlib import Path

import pytest

from acp_bridge.config.availability import Availability, check
from acp_bridge.config.server import AgentServer

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="permission bits and POSIX paths")


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "bin" / "agent"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def server(**fields):
    return AgentServer.model_validate({"id": "x", "source": "user", "file": "/c/agents.json", **fields})


def discovering(*paths):
    return {"installation_path": {"linux": list(paths), "macos": list(paths)}}


def test_a_name_is_looked_up_on_the_path_given(program, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    environ = {"PATH": os.pathsep.join(["/nowhere", str(program.parent)])}
    assert check(server(cmd=["agent"]), environ) == Availability(True, "", str(program))


def test_the_path_of_the_entry_itself_counts(program):
    entry = server(cmd=["agent"], env={"PATH": str(program.parent)})
    assert check(entry, {"PATH": "/nowhere"}).command == str(program)


def test_our_own_path_does_not_count(program, monkeypatch):
    monkeypatch.setenv("PATH", str(program.parent))
    found = check(server(cmd=["agent"]), {"PATH": "/nowhere"})
    assert (found.available, found.command) == (False, None)
    assert found.reason == "the command 'agent' is not on PATH (agent 'x' in /c/agents.json)"
    assert not check(server(cmd=["agent"]), {}).available


@pytest.mark.parametrize("entry", ["", ".", "bin"])
def test_a_relative_folder_on_the_path_is_passed_over(program, monkeypatch, entry):
    monkeypatch.chdir(program.parent if entry != "bin" else program.parent.parent)
    assert not check(server(cmd=["agent"]), {"PATH": f"{entry}{os.pathsep}/nowhere"}).available


def test_absolute_and_home_paths(program, tmp_path):
    environ = {"PATH": "", "HOME": str(tmp_path)}
    assert check(server(cmd=[str(program)]), environ).command == str(program)
    assert check(server(cmd=["~/bin/agent"]), environ).command == str(program)


def test_what_is_wrong_with_a_path_is_told_with_its_file(program, tmp_path):
    program.chmod(0o644)
    for command, words in [
        (str(program), "is not executable"),
        (str(program.parent), "is a folder, not a program"),
        (str(tmp_path / "absent"), "does not exist"),
    ]:
        found = check(server(cmd=[command]), {})
        assert found.reason == f"{command} {words} (agent 'x' in /c/agents.json)"


def test_a_file_that_is_not_executable_does_not_hide_one_further_on(program, tmp_path):
    other = tmp_path / "first" / "agent"
    other.parent.mkdir()
    other.write_text("")
    environ = {"PATH": f"{other.parent}{os.pathsep}{program.parent}"}
    assert check(server(cmd=["agent"]), environ).command == str(program)


def test_discovery_files_never_make_it_available(tmp_path):
    (tmp_path / "cfg").mkdir()
    (tmp_path / "cfg" / "settings.json").write_text("{}")
    environ = {"HOME": str(tmp_path), "CFG": "cfg"}
    for path in ["~/cfg/settings.json", "$HOME/$CFG/settings.json", "${HOME}/cfg/settings.json"]:
        found = check(server(cmd=["agent"], discovery=discovering("~/other", path)), environ)
        assert not found.available
        assert found.reason.startswith(f"{path} is there, but the command 'agent' is not on PATH")


def test_a_command_without_a_discovery_file_is_available(program):
    found = check(server(cmd=[str(program)], discovery=discovering("~/absent")), {"HOME": "/nowhere"})
    assert found == Availability(True, "", str(program))


def test_a_folder_is_no_discovery_file(tmp_path):
    found = check(server(cmd=["agent"], discovery=discovering("~/")), {"HOME": str(tmp_path)})
    assert "is there" not in found.reason


def test_switched_off_is_told_with_its_file(program):
    found = check(server(cmd=[str(program)], enabled=False), {})
    assert found == Availability(False, 'switched off by "enabled": false in /c/agents.json')


def test_containers_are_not_started_yet():
    found = check(server(image="kandev/agent"), {})
    assert found == Availability(
        False, "runs in a container (kandev/agent:latest), which this version does not start"
    )
    assert "kandev/agent:v1" in check(server(image="kandev/agent", tag="v1"), {}).reason


def test_the_demo_agent_is_always_available_unless_switched_off():
    assert check(server(protocol="demo"), {}) == Availability(True)
    assert not check(server(protocol="demo", enabled=False), {}).available


def test_the_install_hint_is_told():
    found = check(server(cmd=["agent"], source="shipped", install_hint="get agent"), {})
    assert found.reason == "the command 'agent' is not on PATH; install it with: get agent"


def test_a_record_made_elsewhere_may_hold_no_command():
    assert not check(server(), {}).available


def test_a_relative_path_of_a_record_made_elsewhere_means_the_working_folder(program, monkeypatch):
    monkeypatch.chdir(program.parent.parent)
    assert check(server(cmd=["bin/agent"]), {}).command == str(program)


def test_a_path_that_no_system_takes_is_just_not_found():
    long = "/" + "a" * 5000
    assert not check(server(cmd=[long]), {}).available
    assert not check(server(cmd=["agent"], discovery=discovering(long)), {}).available


def test_nothing_is_run(program, tmp_path):
    trace = tmp_path / "ran"
    program.write_text(f"#!/bin/sh\ntouch {trace}\n")
    assert check(server(cmd=[str(program)]), {}).available
    assert not Path(trace).exists()
