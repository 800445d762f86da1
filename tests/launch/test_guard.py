"""The guard: however the bridge ends, nothing of an agent's tree is left."""

from __future__ import annotations

import contextlib
import marshal
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from acp_bridge.launch import guard as guard_module
from support.processes import MARK, alive, marked, wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="optional: reads /proc")

GUARD = guard_module.__file__

# An agent that ignores every polite signal and end of file, with a child in its group, one in a session of
# its own, and one that has been double-forked away. All four print nothing and last for ever.
STUBBORN = """
import os, signal, time
for name in ("SIGTERM", "SIGHUP", "SIGINT"):
    signal.signal(getattr(signal, name), signal.SIG_IGN)
def last():
    while True:
        time.sleep(1)
if os.fork() == 0:
    last()
if os.fork() == 0:
    os.setsid()
    last()
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    last()
os.wait()
print("up", flush=True)
last()
"""

# Whoever runs the tests may have had a signal ignored (nohup does), and a child inherits that.
BRIDGE = """
import asyncio, os, signal, sys
for each in (signal.SIGHUP, signal.SIGTERM): signal.signal(each, signal.SIG_DFL)
from acp_bridge.launch.local import launch
from acp_bridge.launch.spec import LaunchSpec
class Owner:
    def data_received(self, data): os.write(1, data)
    def eof_received(self): pass
    def drained(self): pass
    def stderr_line(self, line): pass
    def exited(self, code, signal): os._exit(66)
async def main():
    environ = {**os.environ, sys.argv[1]: sys.argv[2]}
    print("starting", flush=True)
    process = await launch(LaunchSpec((sys.executable, "-c", sys.argv[3]), "/"), Owner(), environ=environ)
    what = await asyncio.to_thread(sys.stdin.readline)
    if what == "exit\\n": os._exit(0)
    if what == "return\\n": return
    await asyncio.sleep(1000)
asyncio.run(main())
"""


@contextmanager
def bridge(mark: str) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [sys.executable, "-c", BRIDGE, MARK, mark, STUBBORN],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def read_until(process: subprocess.Popen[bytes], line: bytes) -> None:
    assert process.stdout is not None
    for read in process.stdout:
        if read == line:
            return
    raise AssertionError(f"ended without {line!r}")


@pytest.mark.parametrize("how", ["SIGKILL", "SIGTERM", "SIGHUP", "group", "exit", "return"])
def test_nothing_is_left_when_the_bridge_is_gone(mark: str, how: str) -> None:
    with bridge(mark) as process:
        read_until(process, b"up\n")
        assert len(marked(mark)) == 4
        if how.startswith("SIG"):
            process.send_signal(getattr(signal, how))
        elif how == "group":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            assert process.stdin is not None
            process.stdin.write(how.encode() + b"\n")
            process.stdin.flush()
        process.wait(30)
        wait_until(lambda: not marked(mark))


@pytest.mark.parametrize("delay", [0.0, 0.003, 0.006, 0.01, 0.015, 0.02, 0.03])
def test_nothing_is_left_when_the_bridge_dies_while_starting(mark: str, delay: float) -> None:
    others = set(guards())
    with bridge(mark) as process:
        read_until(process, b"starting\n")
        time.sleep(delay)
        process.kill()
        process.wait(30)
        wait_until(lambda: not marked(mark) and not set(guards()) - others)


@pytest.mark.skipif(sys.platform != "linux", reason="optional: Linux alone tells of a parent's death")
def test_a_suspended_guard_wakes_when_the_bridge_is_killed(mark: str) -> None:
    with bridge(mark) as process:
        read_until(process, b"up\n")
        agent = next(pid for pid in marked(mark) if pid == os.getpgid(pid) and pid != os.getsid(pid))
        os.kill(os.getsid(agent), signal.SIGSTOP)
        process.kill()
        process.wait(30)
        wait_until(lambda: not marked(mark))


def test_when_bridge_and_guard_are_killed_at_once_the_agent_goes_too(mark: str) -> None:
    with bridge(mark) as process:
        read_until(process, b"up\n")
        agent = next(pid for pid in marked(mark) if pid == os.getpgid(pid) and pid != os.getsid(pid))
        process.send_signal(signal.SIGSTOP)
        os.kill(os.getsid(agent), signal.SIGKILL)
        wait_until(lambda: not alive(agent))
        process.kill()


def guards() -> list[int]:
    """Every guard on the machine, known by its script."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                if GUARD.encode() in (folder / "cmdline").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
    return found


class Running:
    """A guard driven by hand over its socket, so that its wire is tested as it is written down."""

    def __init__(self, argv: list[str], mark: str, start: list[str], path: str = "", cwd: str = "/") -> None:
        self.socket, theirs = socket.socketpair()
        self.socket.settimeout(30)
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", *start, str(theirs.fileno()), "test"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            pass_fds=[theirs.fileno()],
        )
        theirs.close()
        env = {os.fsencode(k): os.fsencode(v) for k, v in {**os.environ, MARK: mark}.items()}
        request = (
            os.fsencode(path or argv[0]),
            [os.fsencode(word) for word in argv],
            os.fsencode(cwd),
            env,
            0.3,
        )
        body = marshal.dumps(request)
        self.socket.sendall(len(body).to_bytes(8, "big") + body)
        self.reports = self.socket.makefile("rb")

    def close(self) -> None:
        """Hang up and wait for the guard's end."""
        self.reports.close()
        self.socket.close()
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.process.wait(30)


FOLDER = str(Path(GUARD).parent)
WITHOUT_SUBREAPER = [
    "-c",
    f"import sys; sys.path.insert(0, {FOLDER!r}); import guard; guard.LINUX = False; guard.main()",
]


@pytest.mark.parametrize("start", [[GUARD], WITHOUT_SUBREAPER], ids=["linux", "elsewhere"])
def test_the_wire(mark: str, start: list[str]) -> None:
    running = Running(["/bin/sh", "-c", "exit 200"], mark, start)
    word, pid = running.reports.readline().split()
    assert word == b"started" and int(pid) > 1
    assert running.reports.readline() == b"exit 200\n"
    assert running.reports.readline() == b""
    running.close()


@pytest.mark.parametrize(
    ("path", "cwd", "report"),
    [
        ("/nowhere/at/all", "/", b"failed 2 exec\n"),
        ("/etc/passwd", "/", b"failed 13 exec\n"),
        ("/bin/sh", "/nowhere", b"failed 2 chdir\n"),
        ("/bin/sh", "/etc/passwd", b"failed 20 chdir\n"),
    ],
)
def test_what_cannot_be_started_is_reported(mark: str, path: str, cwd: str, report: bytes) -> None:
    running = Running(["agent"], mark, [GUARD], path, cwd)
    assert running.reports.readlines() == [report]
    running.close()


def test_a_stop_command_in_pieces_is_obeyed(mark: str) -> None:
    running = Running([sys.executable, "-c", STUBBORN], mark, [GUARD])
    assert running.process.stdout is not None and running.process.stdout.readline() == b"up\n"
    running.socket.sendall(b"stop 100")
    running.socket.sendall(b"0\nst")
    running.socket.sendall(b"op 0.1\n")
    assert running.reports.readlines()[1:] == [b"signal 9\n"]
    assert marked(mark) == []
    running.close()


def test_without_a_subreaper_the_tree_seen_at_the_stop_is_ended(mark: str) -> None:
    code = STUBBORN.replace(
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork()", "if 0:\n    if os.fork()"
    ).replace("os.wait()\n", "")
    running = Running([sys.executable, "-c", code], mark, WITHOUT_SUBREAPER)
    assert running.process.stdout is not None and running.process.stdout.readline() == b"up\n"
    wait_until(lambda: len(marked(mark)) == 3)
    running.close()
    assert marked(mark) == []


def test_without_a_subreaper_a_child_that_outlives_its_parents_term_is_remembered(mark: str) -> None:
    code = (
        "import os, signal, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid(); signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True)\n"
        "while True: time.sleep(1)\n"
    )
    running = Running([sys.executable, "-c", code], mark, WITHOUT_SUBREAPER)
    assert running.process.stdout is not None and running.process.stdout.readline() == b"up\n"
    running.close()
    assert marked(mark) == []


def test_the_two_ways_of_listing_processes_agree() -> None:
    with subprocess.Popen(["sleep", "1000"], start_new_session=True) as child:
        try:
            assert guard_module.snapshot_proc()[child.pid] == (os.getpid(), child.pid)
            assert guard_module.snapshot_ps()[child.pid] == (os.getpid(), child.pid)
        finally:
            child.kill()
    assert child.pid not in guard_module.snapshot_proc()
    assert child.pid not in guard_module.snapshot_ps()


def test_a_guard_whose_bridge_says_nothing_ends_without_a_word() -> None:
    ours, theirs = socket.socketpair()
    with subprocess.Popen(
        [sys.executable, "-I", "-S", GUARD, str(theirs.fileno()), "test"],
        pass_fds=[theirs.fileno()],
        stderr=subprocess.PIPE,
    ) as process:
        theirs.close()
        ours.sendall(b"\0\0\0")
        ours.close()
        assert process.stderr is not None and process.stderr.read() == b""
        assert process.wait(30) == 0


def test_a_guard_that_fails_takes_the_tree_along(mark: str) -> None:
    running = Running([sys.executable, "-c", STUBBORN], mark, [GUARD])
    assert running.process.stdout is not None and running.process.stdout.readline() == b"up\n"
    running.socket.sendall(b"nonsense\n")
    running.process.wait(30)
    wait_until(lambda: not marked(mark))
    running.close()
