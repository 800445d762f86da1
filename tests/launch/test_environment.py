"""The login shell's environment: asked when started from a desktop, and never at a cost but the wait."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from acp_bridge.launch import environment
from acp_bridge.launch.local import launch
from acp_bridge.launch.spec import LaunchSpec
from support.processes import MARK, Recorder, marked, wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="optional: reads /proc")

BARE = "/usr/local/bin:/usr/bin:/bin"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def desktop(home: Path, mark: str) -> dict[str, str]:
    """What a program started from a desktop finds around it."""
    return {"HOME": str(home), "SHELL": bash(), "PATH": BARE, "DISPLAY": ":0", MARK: mark}


@pytest.fixture
def started_from_desktop(
    desktop: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, str]]:
    """This process as if it had been started from a desktop, with nothing asked yet."""
    for name in os.environ:
        monkeypatch.delenv(name)
    for name, value in desktop.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(environment, "_answer", None)
    yield desktop


def bash() -> str:
    found = shutil.which("bash")
    assert found, "these tests need bash"
    return found


def fake_shell(folder: Path, body: str) -> str:
    path = folder / "fakesh"
    path.write_text("#!/bin/sh\n" + body)
    path.chmod(0o755)
    return str(path)


# Asking


@pytest.mark.parametrize("file", [".bash_profile", ".profile"])
def test_what_the_login_files_set_is_found(home: Path, desktop: dict[str, str], file: str) -> None:
    (home / file).write_text('export PATH="$HOME/tools:$PATH"\nexport TOKEN="two\nlines = é"\n')
    answer = environment.ask_shell(desktop)
    assert answer["PATH"].split(":")[0] == f"{home}/tools"
    assert answer["TOKEN"] == "two\nlines = é"


def test_what_only_an_interactive_shell_reads_is_found(home: Path, desktop: dict[str, str]) -> None:
    (home / ".bash_profile").write_text(". ~/.bashrc\n")
    (home / ".bashrc").write_text("case $- in *i*) ;; *) return ;; esac\nexport ONLY_INTERACTIVE=1\n")
    assert environment.ask_shell(desktop)["ONLY_INTERACTIVE"] == "1"


@pytest.mark.parametrize("shell", ["sh", "dash", "zsh", "fish", "ksh", "tcsh"])
def test_other_shells(home: Path, desktop: dict[str, str], shell: str) -> None:
    path = shutil.which(shell)
    if path is None:
        pytest.skip(f"optional: no {shell} here")
    desktop["SHELL"] = path
    desktop["HANDED_ON"] = 'it\'s "this"'
    assert environment.ask_shell(desktop)["HANDED_ON"] == 'it\'s "this"'


def test_noise_around_the_answer_is_ignored(home: Path, desktop: dict[str, str]) -> None:
    noise = "echo Welcome; echo A=B; printf 'C=D\\0E=F\\0<'; printf '\\377\\n'; echo warn >&2\n"
    (home / ".bash_profile").write_text(noise + "export X=1\ntrap 'echo bye; echo G=H' EXIT\n")
    answer = environment.ask_shell(desktop)
    assert answer["X"] == "1"
    assert not {"A", "C", "E", "G"} & answer.keys()


def test_a_large_environment_is_read_whole(home: Path, desktop: dict[str, str]) -> None:
    (home / ".bash_profile").write_text(
        "export LARGE=$(head -c 100000 /dev/zero | tr '\\0' x)\n" * 1
        + "".join(f"export LARGE{n}=$LARGE\n" for n in range(10))
    )
    answer = environment.ask_shell(desktop)
    assert all(len(answer[f"LARGE{n}"]) == 100_000 for n in range(10))


def test_a_shell_that_runs_without_stdin_and_terminal(home: Path, desktop: dict[str, str]) -> None:
    (home / ".bash_profile").write_text(
        "read -r line && export READ=$line\n[ -t 0 ] && export TERMINAL=1\n"
        "export RESOLVING=$ACP_BRIDGE_RESOLVING_ENVIRONMENT\n"
    )
    answer = environment.ask_shell(desktop)
    assert "READ" not in answer and "TERMINAL" not in answer
    assert answer["RESOLVING"] == "1"


@pytest.mark.parametrize(
    "body",
    [
        "exit 1",
        "kill -9 $$",
        "echo rubbish",
        "cat /dev/urandom | head -c 300000",
        "exec 1>&-; sleep 0.1",
        "printf '<'",
    ],
)
def test_a_shell_that_fails_or_babbles_gives_nothing(home: Path, desktop: dict[str, str], body: str) -> None:
    desktop["SHELL"] = fake_shell(home, body)
    assert environment.ask_shell(desktop) == {}


@pytest.mark.parametrize("shell", ["/nowhere/sh", "/etc/passwd", "/"])
def test_a_shell_that_cannot_run_gives_nothing(desktop: dict[str, str], shell: str) -> None:
    desktop["SHELL"] = shell
    assert environment.ask_shell(desktop) == {}


def test_a_profile_that_exits_gives_nothing(home: Path, desktop: dict[str, str]) -> None:
    (home / ".bash_profile").write_text("exit 0\n")
    assert environment.ask_shell(desktop) == {}


def test_a_shell_that_hangs_is_ended_in_time(home: Path, desktop: dict[str, str], mark: str) -> None:
    (home / ".bash_profile").write_text("trap '' TERM HUP\nsleep 1000 &\nwhile :; do sleep 1000; done\n")
    begin = time.monotonic()
    assert environment.ask_shell(desktop, limit=0.5) == {}
    assert time.monotonic() - begin < 5
    wait_until(lambda: not marked(mark))


def test_an_endless_babbler_is_ended(home: Path, desktop: dict[str, str], mark: str) -> None:
    desktop["SHELL"] = fake_shell(home, "exec yes")
    assert environment.ask_shell(desktop) == {}
    wait_until(lambda: not marked(mark))


def test_a_background_program_that_keeps_the_pipe_does_not_delay(home: Path, desktop: dict[str, str]) -> None:
    (home / ".bash_profile").write_text("sleep 1000 &\nexport X=1\n")
    begin = time.monotonic()
    assert environment.ask_shell(desktop)["X"] == "1"
    assert time.monotonic() - begin < 5


def test_asking_leaves_no_descriptor(desktop: dict[str, str], home: Path) -> None:
    before = sorted(os.listdir("/proc/self/fd"))
    environment.ask_shell(desktop)
    environment.ask_shell({**desktop, "SHELL": fake_shell(home, "exit 1")})
    environment.ask_shell({**desktop, "SHELL": "/nowhere/sh"})
    assert sorted(os.listdir("/proc/self/fd")) == before


# Deciding


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"PATH": BARE}, True),
        ({"PATH": BARE, "TERM": "dumb"}, True),
        ({"PATH": BARE, "TERM": "xterm-256color"}, False),
        ({"PATH": BARE, "SHLVL": "1"}, False),
        ({"SHLVL": "0", "TERM": "dumb"}, False),
        ({"SHLVL": "1", "ACP_BRIDGE_LOGIN_SHELL": "always"}, True),
        ({"ACP_BRIDGE_LOGIN_SHELL": "Never"}, False),
        ({"ACP_BRIDGE_LOGIN_SHELL": "something else"}, True),
    ],
)
def test_when_the_shell_is_asked(environ: dict[str, str], expected: bool) -> None:
    assert environment.from_desktop(environ) is expected


# Merging


def test_the_shells_path_comes_first_and_no_folder_is_lost_or_doubled() -> None:
    merged = environment.merge({"PATH": "/usr/bin:/mine:/bin"}, {"PATH": "/nvm:/usr/bin:/bin::/nvm"})
    assert merged["PATH"] == "/nvm:/usr/bin:/bin:/mine"


def test_the_shells_values_win_and_the_rest_stays() -> None:
    merged = environment.merge({"A": "old", "KEPT": "1", "PATH": "/bin"}, {"A": "new", "B": "b"})
    assert merged == {"A": "new", "KEPT": "1", "PATH": "/bin", "B": "b"}


def test_what_is_about_the_shell_itself_stays_out() -> None:
    shell = {"SHLVL": "1", "PWD": "/x", "OLDPWD": "/y", "_": "/z", "TERM": "dumb", environment.RESOLVING: "1"}
    assert environment.merge({"PWD": "/mine"}, shell) == {"PWD": "/mine"}


def test_an_answerless_shell_changes_nothing() -> None:
    base = {"PATH": "/b:/a:/b:", "X": "1"}
    assert environment.merge(base, {}) == base


# As the bridge uses it


def test_the_shell_is_asked_once(home: Path, started_from_desktop: dict[str, str]) -> None:
    (home / ".bash_profile").write_text("echo asked >> ~/asked\nexport X=1\n")
    assert [environment.inherited()["X"] for _ in range(3)] == ["1", "1", "1"]
    assert (home / "asked").read_text() == "asked\n"


def test_failure_too_is_remembered(home: Path, started_from_desktop: dict[str, str], monkeypatch) -> None:
    monkeypatch.setenv("SHELL", fake_shell(home, "echo asked >> ~/asked"))
    assert environment.inherited() == environment.inherited() == dict(os.environ)
    assert (home / "asked").read_text() == "asked\n"


def test_what_changes_in_our_own_environment_later_counts(started_from_desktop, monkeypatch) -> None:
    environment.inherited()
    monkeypatch.setenv("LATER", "1")
    assert environment.inherited()["LATER"] == "1"


def test_from_a_terminal_the_shell_is_not_asked(home: Path, started_from_desktop, monkeypatch) -> None:
    (home / ".bash_profile").write_text("echo asked >> ~/asked\n")
    monkeypatch.setenv("TERM", "xterm")
    assert environment.inherited() == dict(os.environ)
    assert not (home / "asked").exists()


async def test_the_loop_runs_on_while_the_shell_thinks(home: Path, started_from_desktop) -> None:
    (home / ".bash_profile").write_text("until [ -e ~/go ]; do sleep 0.05; done\nexport X=1\n")
    asking = asyncio.ensure_future(environment.inherited_async())
    other = asyncio.ensure_future(environment.inherited_async())
    done, _ = await asyncio.wait([asking, other], timeout=0.2)
    assert not done
    (home / "go").touch()
    assert (await asking)["X"] == (await other)["X"] == "1"
    assert (await environment.inherited_async())["X"] == "1"


async def test_prefetch_asks_ahead(home: Path, started_from_desktop) -> None:
    (home / ".bash_profile").write_text("echo asked >> ~/asked\nexport X=1\n")
    environment.prefetch()
    assert (await environment.inherited_async())["X"] == "1"
    assert (home / "asked").read_text() == "asked\n"


async def test_an_agent_only_the_login_shell_knows_is_started(home: Path, started_from_desktop) -> None:
    (home / "tools").mkdir()
    agent = home / "tools" / "my-agent"
    agent.write_text('#!/bin/sh\necho "$FROM_PROFILE $DISPLAY"\n')
    agent.chmod(0o755)
    (home / ".bash_profile").write_text("export PATH=~/tools:$PATH FROM_PROFILE=yes\necho noise\n")
    owner = Recorder()
    process = await launch(LaunchSpec(("my-agent",), str(home)), owner)
    await process.wait()
    assert owner.output == b"yes :0\n"


def test_a_bridge_that_exits_takes_a_hanging_shell_along(
    home: Path, desktop: dict[str, str], mark: str
) -> None:
    import subprocess

    (home / ".bash_profile").write_text("touch ~/hanging\nwhile :; do sleep 1000; done\n")
    code = (
        "import os, time; from acp_bridge.launch import environment; environment.prefetch()\n"
        "while not os.path.exists(os.environ['HOME'] + '/hanging'): time.sleep(0.02)\n"
    )
    subprocess.run([sys.executable, "-c", code], env=desktop, timeout=60, check=True)
    wait_until(lambda: not marked(mark))
