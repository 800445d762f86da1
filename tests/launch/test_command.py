"""Every way a start can fail: a LaunchError that names the thing and what to try, and nothing running."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

import pytest

from acp_bridge.launch import command
from acp_bridge.launch.local import launch
from acp_bridge.launch.process import LaunchError
from acp_bridge.launch.spec import LaunchSpec
from support.processes import Recorder, marked, wait_until_async


async def refused(
    argv: tuple[str, ...], cwd: Path | str, environ: dict[str, str], **fields: object
) -> LaunchError:
    owner = Recorder()
    with pytest.raises(LaunchError) as caught:
        await launch(LaunchSpec(argv, str(cwd), **fields), owner, environ=environ)  # type: ignore[arg-type]
    assert caught.value.hint
    assert owner.calls == []
    return caught.value


def program(path: Path, text: str | bytes, mode: int = 0o755) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    path.chmod(mode)
    return path


@pytest.mark.parametrize("folder", ["", ".", "bin"])
async def test_a_project_never_chooses_the_program(tmp_path: Path, environ, folder: str) -> None:
    (tmp_path / folder).mkdir(exist_ok=True)
    program(tmp_path / folder / "some-agent", "#!/bin/sh\nexit 0\n")
    environ["PATH"] = f"{folder}:/bin"
    error = await refused(("some-agent",), tmp_path, environ)
    assert "not found" in error.message


async def test_an_unknown_command(tmp_path: Path, environ) -> None:
    environ["PATH"] = f"/bin:{tmp_path}"
    error = await refused(("no-such-agent", "--acp"), tmp_path, environ)
    assert "'no-such-agent'" in error.message and "not found" in error.message
    assert f"/bin:{tmp_path}" in error.hint and "nstall" in error.hint


async def test_an_unknown_path(tmp_path: Path, environ) -> None:
    error = await refused((str(tmp_path / "gone"),), tmp_path, environ)
    assert str(tmp_path / "gone") in error.message and "does not exist" in error.message


async def test_an_unknown_relative_path_is_named_in_full(tmp_path: Path, environ) -> None:
    error = await refused(("bin/agent",), tmp_path, environ)
    assert str(tmp_path / "bin/agent") in error.message and "'bin/agent'" in error.message


async def test_a_folder_as_command(tmp_path: Path, environ) -> None:
    error = await refused((str(tmp_path),), tmp_path, environ)
    assert str(tmp_path) in error.message and "folder" in error.message


@pytest.mark.parametrize("by", ["path", "name"])
async def test_a_file_that_is_not_executable(tmp_path: Path, environ, by: str) -> None:
    path = program(tmp_path / "agent", "#!/bin/sh\n", 0o644)
    environ["PATH"] = str(tmp_path)
    error = await refused((str(path) if by == "path" else "agent",), tmp_path, environ)
    assert str(path) in error.message and "not executable" in error.message
    assert "chmod +x" in error.hint


async def test_a_script_without_a_first_line(tmp_path: Path, environ) -> None:
    path = program(tmp_path / "agent", "echo hello\n")
    error = await refused((str(path),), tmp_path, environ)
    assert str(path) in error.message and "#!" in error.message + error.hint


async def test_a_script_whose_interpreter_is_missing(tmp_path: Path, environ) -> None:
    path = program(tmp_path / "agent", "#!/opt/nowhere/node\n")
    error = await refused((str(path),), tmp_path, environ)
    assert (
        str(path) in error.message
        and "/opt/nowhere/node" in error.message
        and "does not exist" in error.message
    )


async def test_a_script_whose_interpreter_is_not_executable(tmp_path: Path, environ) -> None:
    interpreter = program(tmp_path / "interpreter", "", 0o644)
    path = program(tmp_path / "agent", f"#!{interpreter}\n")
    error = await refused((str(path),), tmp_path, environ)
    assert str(interpreter) in error.message and str(interpreter) in error.hint


@pytest.mark.parametrize("what", ["argument", "variable"])
async def test_arguments_or_environment_too_long(tmp_path: Path, environ, what: str) -> None:
    long = "x" * 3_000_000
    argv = ("echo", "short", long) if what == "argument" else ("echo",)
    env = {"LONG_ONE": long} if what == "variable" else {}
    error = await refused(argv, tmp_path, environ, env=env)
    assert "too long" in error.message
    assert ("argument 2 of echo" if what == "argument" else "LONG_ONE") in error.message


async def test_a_folder_that_does_not_exist(tmp_path: Path, environ) -> None:
    error = await refused(("cat",), tmp_path / "gone", environ)
    assert str(tmp_path / "gone") in error.message and "does not exist" in error.message


async def test_a_folder_that_is_a_file(tmp_path: Path, environ) -> None:
    file = program(tmp_path / "file", "")
    error = await refused(("cat",), file, environ)
    assert str(file) in error.message and "no folder" in error.message
    error = await refused(("cat",), file / "below", environ)
    assert str(file / "below") in error.message


async def test_a_relative_folder(environ) -> None:
    error = await refused(("cat",), "somewhere", environ)
    assert "'somewhere'" in error.message and "absolute" in error.message


async def test_no_command(tmp_path: Path, environ) -> None:
    assert "no command" in (await refused((), tmp_path, environ)).message
    assert "empty" in (await refused(("",), tmp_path, environ)).message


@pytest.mark.parametrize(
    ("argv", "env", "named"),
    [
        (("cat", "a\0b"), {}, "Argument 1"),
        (("cat",), {"TOKEN": "a\0b"}, "TOKEN"),
        (("cat",), {"A=B": "x"}, "'A=B'"),
        (("cat",), {"": "x"}, "''"),
    ],
)
async def test_what_no_system_can_pass_on(tmp_path: Path, environ, argv, env, named: str) -> None:
    error = await refused(argv, tmp_path, environ, env=env)
    assert named in error.message


async def test_a_file_that_cannot_be_written(tmp_path: Path, environ) -> None:
    blocked = program(tmp_path / "file", "") / "settings.json"
    error = await refused(("cat",), tmp_path, environ, files={str(blocked): "{}"})
    assert str(blocked) in error.message


async def test_no_descriptors_left(tmp_path: Path, environ) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest_free = os.dup(0)
    os.close(lowest_free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free + 3, hard))
    try:
        error = await refused(("cat",), tmp_path, environ)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert "could not start" in error.message and "ulimit" in error.hint


async def test_a_guard_that_cannot_run(tmp_path: Path, environ, monkeypatch) -> None:
    broken = program(tmp_path / "python", "#!/bin/sh\necho this python is broken >&2\nexit 1\n")
    monkeypatch.setattr(sys, "executable", str(broken))
    error = await refused(("cat",), tmp_path, environ)
    assert "this python is broken" in error.message


async def test_a_program_that_never_starts_is_given_up(tmp_path: Path, environ, mark, monkeypatch) -> None:
    stuck = program(tmp_path / "python", "#!/bin/sh\nexec sleep 1000\n")
    monkeypatch.setattr(sys, "executable", str(stuck))
    monkeypatch.setattr("acp_bridge.launch.local.START_LIMIT", 0.3)
    monkeypatch.setenv("TEST_PROCESS_MARK", mark)
    error = await refused(("cat",), tmp_path, environ)
    assert "did not start within" in error.message
    await wait_until_async(lambda: not marked(mark))


async def test_failed_starts_leave_no_descriptor(tmp_path: Path, environ) -> None:
    path = program(tmp_path / "agent", "#!/opt/nowhere/node\n")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        await refused((str(path),), tmp_path, environ)
    await wait_until_async(lambda: len(os.listdir("/proc/self/fd")) <= before)


def test_without_path_the_systems_default_is_searched() -> None:
    assert Path(command.resolve("sh", "/", {})).name == "sh"


def test_a_folder_of_that_name_in_path_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "first" / "agent").mkdir(parents=True)
    (tmp_path / "second").mkdir()
    path = program(tmp_path / "second" / "agent", "#!/bin/sh\n")
    search = f"{tmp_path}/first:{tmp_path}/second"
    assert command.resolve("agent", "/", {"PATH": search}) == str(path)
