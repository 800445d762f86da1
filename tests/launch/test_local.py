"""Agents as real processes: how they start, speak, end and are stopped."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acp_bridge.jsonrpc.transport import Transport, open_fds
from acp_bridge.launch import local
from acp_bridge.launch.local import launch
from acp_bridge.launch.spec import LaunchSpec
from support.processes import PATIENCE, Recorder, alive, marked, wait_until_async

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="optional: reads /proc")

Make = Callable[..., LaunchSpec]
TERM_PROOF = "trap '' TERM HUP INT"


@pytest.fixture(params=["asyncio", "threads"])
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


# Starting


async def test_stdin_reaches_the_agent_and_its_output_comes_back(shell: Make, environ, backend) -> None:
    owner = Recorder()
    process = await launch(shell("cat"), owner, backend=backend, environ=environ)
    process.transport.write(b"one\n")
    process.transport.write(b"two\n")
    await owner.until_output(b"one\ntwo\n")
    await process.stop()
    assert owner.output == b"one\ntwo\n"
    assert owner.calls == ["data", "eof", "exited"]
    assert process.exit == (0, None)


async def test_argv_is_never_read_by_a_shell(python: Make, environ) -> None:
    words = ["$HOME", "a b", "'\"`", "; echo x", "*", "", "é\n"]
    owner = Recorder()
    process = await launch(
        python("import sys,json; print(json.dumps(sys.argv[1:]))", *words), owner, environ=environ
    )
    await process.wait()
    assert json.loads(owner.output) == words


async def test_the_agent_runs_in_its_folder_and_a_relative_command_starts_there(
    tmp_path: Path, environ
) -> None:
    folder = tmp_path / "with space é"
    folder.mkdir()
    program = folder / "agent"
    program.write_text("#!/bin/sh\npwd\n")
    program.chmod(0o755)
    owner = Recorder()
    process = await launch(LaunchSpec(("./agent",), str(folder)), owner, environ=environ)
    await process.wait()
    assert os.fsdecode(owner.output.strip()) == str(folder.resolve())


async def test_a_tilde_is_the_home_of_the_agents_environment(tmp_path: Path, environ) -> None:
    program = tmp_path / "agent"
    program.write_text("#!/bin/sh\necho at home\n")
    program.chmod(0o755)
    owner = Recorder()
    spec = LaunchSpec(("~/agent",), "/", env={"HOME": str(tmp_path)})
    await (await launch(spec, owner, environ=environ)).wait()
    assert owner.output == b"at home\n"


async def test_the_command_is_looked_up_in_the_path_of_the_agent(tmp_path: Path, environ) -> None:
    program = tmp_path / "only-here"
    program.write_text("#!/bin/sh\necho found\n")
    program.chmod(0o755)
    owner = Recorder()
    spec = LaunchSpec(("only-here",), "/", env={"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"})
    await (await launch(spec, owner, environ=environ)).wait()
    assert owner.output == b"found\n"


async def test_env_lies_over_the_inherited_one_and_names_can_be_unset(python: Make) -> None:
    code = "import os,json; print(json.dumps(dict(os.environ)))"
    base = {"PATH": os.environ["PATH"], "KEPT": "1", "CHANGED": "old", "UNSET": "x", "BOTH": "old"}
    spec = python(
        code,
        env={"CHANGED": "new é", "ADDED": "", "BOTH": "new"},
        unset_env=frozenset({"UNSET", "BOTH", "NONE"}),
    )
    owner = Recorder()
    await (await launch(spec, owner, environ=base)).wait()
    seen = json.loads(owner.output)
    seen.pop("ACP_BRIDGE_PROCESS")
    seen.pop("LC_CTYPE", None)
    assert seen == {"PATH": base["PATH"], "KEPT": "1", "CHANGED": "new é", "ADDED": "", "BOTH": "new"}


async def test_without_environ_the_whole_environment_is_inherited(python: Make, monkeypatch) -> None:
    monkeypatch.setenv("ACP_BRIDGE_LOGIN_SHELL", "never")
    monkeypatch.setenv("SOMETHING_OF_MINE", "here")
    owner = Recorder()
    await (await launch(python("import os; print(os.environ['SOMETHING_OF_MINE'])"), owner)).wait()
    assert owner.output == b"here\n"


async def test_a_large_environment_gets_through(python: Make, environ) -> None:
    large = {f"LARGE_{n}": "x" * 100_000 for n in range(8)}
    owner = Recorder()
    spec = python("import os; print(sum(len(v) for k, v in os.environ.items() if 'LARGE_' in k))", env=large)
    await (await launch(spec, owner, environ=environ)).wait()
    assert owner.output == b"800000\n"


async def test_the_agent_gets_no_descriptor_but_its_three_pipes(
    python: Make, environ, tmp_path: Path
) -> None:
    listing = "import os; print(sorted(int(n) for n in os.listdir('/proc/self/fd')))"
    leaky = os.open(tmp_path, os.O_RDONLY)
    os.set_inheritable(leaky, True)
    try:
        owner = Recorder()
        await (await launch(python(listing), owner, environ=environ)).wait()
    finally:
        os.close(leaky)
    # 3 is the folder being listed.
    assert json.loads(owner.output) == [0, 1, 2, 3]


async def test_the_agent_leads_its_own_group_without_a_terminal_or_ignored_signals(
    python: Make, environ
) -> None:
    code = (
        "import os,signal,json\n"
        "try: os.open('/dev/tty', os.O_RDWR); tty = True\n"
        "except OSError: tty = False\n"
        "blocked = [*map(int, signal.pthread_sigmask(signal.SIG_BLOCK, ()))]\n"
        "print(json.dumps([os.getpid() == os.getpgrp(), os.getsid(0), tty, blocked, os.getpid()]))\n"
    )
    owner = Recorder()
    process = await launch(python(code), owner, environ=environ)
    await process.wait()
    leads, session, tty, blocked, pid = json.loads(owner.output)
    assert leads and not tty and blocked == []
    assert session != os.getsid(0)
    assert pid == process.pid


async def test_signals_python_ignores_are_default_in_the_agent(shell: Make, environ) -> None:
    owner = Recorder()
    process = await launch(shell("grep SigIgn /proc/self/status"), owner, environ=environ)
    await process.wait()
    assert int(owner.output.split()[1], 16) == 0


async def test_starting_leaves_no_descriptor_behind(shell: Make, environ, backend) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        process = await launch(shell("cat"), Recorder(), backend=backend, environ=environ)
        await process.stop()
    await wait_until_async(lambda: len(os.listdir("/proc/self/fd")) <= before)


async def test_no_guard_stays_as_a_zombie(shell: Make, environ) -> None:
    process = await launch(shell("cat"), Recorder(), environ=environ)
    guard = parent_of(process.pid)
    await process.stop()
    await wait_until_async(lambda: not Path("/proc", str(guard)).exists())


async def test_starting_is_quick(shell: Make, environ) -> None:
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        process = await launch(shell("cat"), Recorder(), environ=environ)
        times.append(time.perf_counter() - begin)
        await process.stop()
    assert min(times) < 0.25


async def test_files_are_written_for_the_user_alone_before_the_start(tmp_path: Path, environ) -> None:
    there = tmp_path / "new" / "settings.json"
    existing = tmp_path / "existing"
    existing.write_text("old")
    existing.chmod(0o644)
    spec = LaunchSpec(("cat", str(there), str(existing)), "/", files={str(there): "é1", str(existing): "2"})
    owner = Recorder()
    await (await launch(spec, owner, environ=environ)).wait()
    assert owner.output.decode() == "é12"
    assert {path.stat().st_mode & 0o777 for path in (there, existing)} == {0o600}
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["existing", "new", "settings.json"]


async def test_it_works_on_a_loop_outside_the_main_thread(shell: Make, environ) -> None:
    ends: list[object] = []

    async def turn() -> None:
        process = await launch(shell("exit 3"), Recorder(), environ=environ)
        ends.append(await process.wait())
        await process.stop()

    thread = threading.Thread(target=lambda: asyncio.run(turn()))
    thread.start()
    await asyncio.to_thread(thread.join, 30)
    assert ends == [(3, None)]


async def test_the_owner_hears_nothing_before_launch_has_returned(shell: Make, environ, monkeypatch) -> None:
    async def late(*arguments: Any, **options: Any) -> Transport:
        await asyncio.sleep(0.3)  # the agent has long ended then
        return await open_fds(*arguments, **options)

    monkeypatch.setattr("acp_bridge.launch.local.open_fds", late)
    owner = Recorder()
    process = await launch(shell("echo out; echo err >&2; exit 1"), owner, environ=environ)
    assert owner.calls == []
    await process.wait()
    assert sorted(owner.calls) == ["data", "eof", "exited", "line"]
    assert owner.calls.index("data") < owner.calls.index("eof") and owner.calls[-1] == "exited"


async def test_a_cancelled_launch_leaves_nothing(shell: Make, environ, mark: str) -> None:
    for delay in (0.0, 0.001, 0.005, 0.01, 0.015, 0.02):
        task = asyncio.ensure_future(launch(shell("sleep 1000"), Recorder(), environ=environ))
        await asyncio.sleep(delay)
        task.cancel()
        try:
            process = await task
        except asyncio.CancelledError:
            continue
        await process.stop(0)
    await wait_until_async(lambda: not marked(mark))


# Ending


@pytest.mark.parametrize("code", [0, 1, 3, 127, 128, 137, 143, 255])
async def test_the_exit_code_is_the_agents_own(shell: Make, environ, code: int) -> None:
    owner = Recorder()
    process = await launch(shell(f"exit {code}"), owner, environ=environ)
    assert await process.wait() == (code, None)
    assert owner.ends == [(code, None)]


@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV", "SIGTERM", "SIGINT", "SIGHUP", "SIGPIPE"])
async def test_a_death_by_signal_is_told_by_its_name(python: Make, environ, name: str) -> None:
    code = (
        "import os, resource, signal, sys; resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
        "n = getattr(signal, sys.argv[1])\n"
        "n == signal.SIGKILL or signal.signal(n, signal.SIG_DFL)\n"
        "os.kill(os.getpid(), n)"
    )
    process = await launch(python(code, name), Recorder(), environ=environ)
    assert await process.wait() == (None, name)


async def test_all_output_comes_before_the_exit(python: Make, environ, backend) -> None:
    owner = Recorder()
    code = "import os; os.write(1, b'x' * 60000); os.write(2, b'last words'); os._exit(5)"
    process = await launch(python(code), owner, backend=backend, environ=environ)
    assert await process.wait() == (5, None)
    assert len(owner.output) == 60000
    assert owner.lines == ["last words"]
    assert owner.calls[-1] == "exited" and owner.calls.count("eof") == 1


async def test_paused_output_is_read_to_its_end_when_the_agent_dies(python: Make, environ, backend) -> None:
    owner = Recorder()
    code = "import os,sys; sys.stdin.readline(); os.write(1, b'x' * 50000)"
    process = await launch(python(code), owner, backend=backend, environ=environ)
    process.transport.pause_reading()
    process.transport.write(b"go\n")
    await process.wait()
    assert len(owner.output) == 50000


async def test_an_owner_that_pauses_at_every_read_still_gets_all(python: Make, environ, backend) -> None:
    class Pausing(Recorder):
        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            process.transport.pause_reading()

    owner = Pausing()
    code = "import os,sys; sys.stdin.readline(); [os.write(1, b'x' * 500) for _ in range(100)]"
    process = await launch(python(code), owner, backend=backend, environ=environ)
    process.transport.write(b"go\n")
    await owner.until(lambda: owner.output)
    await process.wait()
    assert len(owner.output) == 50000


async def test_pipes_held_open_by_another_process_do_not_delay_the_exit(
    shell: Make, environ, backend
) -> None:
    owner = Recorder()
    code = f"({TERM_PROOF}; echo ready; while :; do sleep 1; done) & read line; exit 4"
    process = await launch(shell(code), owner, backend=backend, environ=environ)
    await owner.until_output(b"ready\n")
    begin = time.monotonic()
    process.transport.write(b"go\n")
    assert await process.wait() == (4, None)
    assert time.monotonic() - begin < 5
    assert owner.calls[-2:] == ["eof", "exited"]


async def test_pipes_held_open_from_outside_the_tree_do_not_delay_it_either(
    shell: Make, environ, backend
) -> None:
    owner = Recorder()
    process = await launch(shell("read line; exit 4"), owner, backend=backend, environ=environ)
    held = [os.open(f"/proc/{process.pid}/fd/{number}", os.O_WRONLY) for number in (1, 2)]
    try:
        process.transport.write(b"go\n")
        async with asyncio.timeout(PATIENCE):
            assert await process.wait() == (4, None)
            await process.stop()
        assert owner.calls == ["eof", "exited"]
    finally:
        for fd in held:
            os.close(fd)


async def test_closing_stdout_alone_is_no_exit(python: Make, environ) -> None:
    owner = Recorder()
    process = await launch(python("import os,sys; os.close(1); sys.stdin.read()"), owner, environ=environ)
    await owner.until(lambda: "eof" in owner.calls)
    assert process.exit is None and alive(process.pid)
    await process.stop()
    assert owner.calls == ["eof", "exited"]


async def test_what_an_agent_leaves_behind_goes_with_it(shell: Make, environ, mark: str) -> None:
    owner = Recorder()
    sleepers = "setsid sleep 1000 & (setsid sleep 1000 &) ; nohup sleep 1000 >/dev/null &"
    code = f"{TERM_PROOF}; {sleepers} echo up; read x"
    process = await launch(shell(code), owner, environ=environ)
    await owner.until_output(b"up\n")
    await wait_until_async(lambda: len(marked(mark)) == 4)
    process.transport.write(b"\n")
    await process.wait()
    await wait_until_async(lambda: not marked(mark))


async def test_an_agent_that_daemonises_is_an_agent_that_ended(python: Make, environ, mark: str) -> None:
    code = (
        "import os,time\n"
        "if os.fork(): os._exit(0)\n"
        "os.setsid()\n"
        "if os.fork(): os._exit(0)\n"
        "null = os.open(os.devnull, os.O_RDWR)\n"
        "for fd in range(3): os.dup2(null, fd)\n"
        "time.sleep(1000)\n"
    )
    process = await launch(python(code), Recorder(), environ=environ)
    assert await process.wait() == (0, None)
    await process.stop()
    assert marked(mark) == []


# Stopping


async def test_stop_first_closes_stdin_and_a_polite_agent_ends_by_itself(python: Make, environ) -> None:
    code = "import sys; sys.stdin.read(); print('tidied up'); sys.exit(9)"
    owner = Recorder()
    process = await launch(python(code), owner, environ=environ)
    await process.stop(grace=20)
    assert process.exit == (9, None)
    assert owner.output == b"tidied up\n"


async def test_stop_then_sends_term(python: Make, environ) -> None:
    code = (
        "import signal,sys,time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (print('term', flush=True), sys.exit(8)))\n"
        "print('up', flush=True)\n"
        "sys.stdin.read(); print('eof', flush=True)\n"
        "while True: time.sleep(1)\n"
    )
    owner = Recorder()
    process = await launch(python(code), owner, environ=environ)
    await owner.until_output(b"up\n")
    await process.stop(grace=1)
    assert owner.output == b"up\neof\nterm\n"
    assert process.exit == (8, None)


async def test_stop_at_last_kills_the_whole_tree(shell: Make, environ, mark: str, backend) -> None:
    loop = "while :; do sleep 1; done"
    code = f'{TERM_PROOF}; ({loop}) & setsid sh -c "{TERM_PROOF}; {loop}" & echo up; {loop}'
    owner = Recorder()
    process = await launch(shell(code), owner, backend=backend, environ=environ)
    await owner.until_output(b"up\n")
    await wait_until_async(lambda: len(marked(mark)) >= 3)
    await process.stop(grace=0.3)
    assert marked(mark) == []
    assert process.exit == (None, "SIGKILL")
    assert owner.calls[-2:] == ["eof", "exited"]


async def test_a_stopped_agent_process_is_woken_to_die(shell: Make, environ) -> None:
    owner = Recorder()
    process = await launch(shell("echo up; while :; do sleep 1; done"), owner, environ=environ)
    await owner.until_output(b"up\n")
    os.kill(process.pid, signal.SIGSTOP)
    await process.stop(grace=1)
    assert process.exit == (None, "SIGTERM")


async def test_stop_may_be_called_again_and_at_the_same_time(shell: Make, environ) -> None:
    owner = Recorder()
    process = await launch(shell(f"{TERM_PROOF}; while :; do sleep 1; done"), owner, environ=environ)
    await asyncio.gather(*(process.stop(0.2) for _ in range(5)))
    await process.stop()
    assert owner.ends == [(None, "SIGKILL")]
    assert await process.wait() == (None, "SIGKILL")


async def test_a_second_stop_can_hasten_the_first(shell: Make, environ) -> None:
    process = await launch(shell(f"{TERM_PROOF}; while :; do sleep 1; done"), Recorder(), environ=environ)
    patient = asyncio.ensure_future(process.stop(1000))
    await asyncio.sleep(0)
    await process.stop(0)
    await patient
    assert process.exit == (None, "SIGKILL")


async def test_a_second_stop_can_hasten_the_kill_after_term(python: Make, environ) -> None:
    code = (
        "import signal,time\n"
        "signal.signal(signal.SIGTERM, lambda *_: print('term', flush=True))\n"
        "print('up', flush=True)\n"
        "while True: time.sleep(1)\n"
    )
    owner = Recorder()
    process = await launch(python(code), owner, environ=environ)
    await owner.until_output(b"up\n")
    patient = asyncio.ensure_future(process.stop(3))
    await owner.until_output(b"term\n")
    begin = time.monotonic()
    await process.stop(0)
    assert time.monotonic() - begin < 2
    await patient
    assert process.exit == (None, "SIGKILL")


async def test_a_cancelled_stop_goes_on(shell: Make, environ, mark: str) -> None:
    process = await launch(shell(f"{TERM_PROOF}; while :; do sleep 1; done"), Recorder(), environ=environ)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(process.stop(0.3), 0.05)
    assert await process.wait() == (None, "SIGKILL")
    await wait_until_async(lambda: not marked(mark))


async def test_stop_works_though_the_agent_never_reads(shell: Make, environ, backend) -> None:
    process = await launch(shell("while :; do sleep 1; done"), Recorder(), backend=backend, environ=environ)
    process.transport.write(b"x" * 1_000_000)
    await process.stop(grace=0.3)
    assert process.exit == (None, "SIGTERM")


# stderr


async def test_a_burst_on_stderr_never_stalls_the_agent(python: Make, environ) -> None:
    code = (
        "import sys,os\n"
        "sys.stderr.write(''.join(f'line {n:06} ' + 'x' * 80 + '\\n' for n in range(11000)))\n"
        "sys.stderr.flush(); print('written', flush=True); sys.stdin.read()\n"
    )
    owner = Recorder()
    process = await launch(python(code), owner, environ=environ)
    await owner.until_output(b"written\n")
    await owner.until(lambda: len(owner.lines) == 11000)
    assert [line.split()[1] for line in owner.lines] == [f"{n:06}" for n in range(11000)]
    assert [line.split()[1] for line in process.stderr_tail(2)] == ["010998", "010999"]
    await process.stop()


async def test_the_stderr_tail_is_there_when_the_owner_hears_of_the_exit(python: Make, environ) -> None:
    class Asking(Recorder):
        tail: list[str] | None = None

        def exited(self, code: int | None, signal: str | None) -> None:
            self.tail = process.stderr_tail(3)
            super().exited(code, signal)

    owner = Asking()
    code = "import sys; sys.stderr.buffer.write(b'1\\n2\\n\\x1b[31mred\\x1b[0m \\xff\\nhalf'); sys.exit(1)"
    process = await launch(python(code), owner, environ=environ)
    await process.wait()
    assert owner.tail == ["2", "red �", "half"]


# The guard dies


async def test_a_killed_guard_is_noticed_and_the_tree_ended(shell: Make, environ, mark: str) -> None:
    loop = "while :; do sleep 1; done"
    code = f'{TERM_PROOF}; setsid sh -c "{TERM_PROOF}; {loop}" & echo up; {loop}'
    owner = Recorder()
    process = await launch(shell(code), owner, environ=environ)
    await owner.until_output(b"up\n")
    await wait_until_async(lambda: len(marked(mark)) >= 2)
    os.kill(parent_of(process.pid), signal.SIGKILL)
    assert await process.wait() == (None, "SIGKILL")
    assert marked(mark) == []
    assert "guard" in process.stderr_tail(1)[0]
    await process.stop()


async def test_term_to_the_guard_ends_the_tree(shell: Make, environ, mark: str) -> None:
    owner = Recorder()
    process = await launch(shell("echo up; while :; do sleep 1; done"), owner, environ=environ)
    await owner.until_output(b"up\n")
    os.kill(parent_of(process.pid), signal.SIGTERM)
    assert await process.wait() == (None, "SIGTERM")
    await wait_until_async(lambda: not marked(mark))


def parent_of(pid: int) -> int:
    stat = Path("/proc", str(pid), "stat").read_text()
    return int(stat[stat.rindex(")") + 2 :].split()[1])


async def test_a_suspended_guard_is_woken_to_end_the_tree(shell: Make, environ, mark: str) -> None:
    owner = Recorder()
    code = f"{TERM_PROOF}; read go; kill -STOP $PPID; echo up; while :; do sleep 1; done"
    process = await launch(shell(code), owner, environ=environ)
    process.transport.write(b"go\n")
    await owner.until_output(b"up\n")
    await process.stop(grace=0.3)
    assert marked(mark) == []
    assert process.exit == (None, "SIGKILL")


async def test_a_guard_that_is_suspended_again_and_again_is_given_up(
    shell: Make, environ, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "GUARD_LIMIT", 0.5)
    owner = Recorder()
    code = f"{TERM_PROOF}; read go; kill -STOP $PPID; echo up; while kill -STOP $PPID; do :; done"
    process = await launch(shell(code), owner, environ=environ)
    process.transport.write(b"go\n")
    await owner.until_output(b"up\n")
    await process.stop(grace=0.3)
    assert marked(mark) == []
    assert process.exit == (None, "SIGKILL")
