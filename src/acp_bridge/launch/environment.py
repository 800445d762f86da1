"""The environment agents are started with: the bridge's own, plus the login shell's where that is missing.

An editor started from a desktop has not been through the user's shell, so it (and the bridge) lacks the PATH
of nvm, Homebrew, asdf … `inherited` then asks the login shell once per process and merges its answer; a
shell that fails, hangs or babbles costs at most LIMIT seconds and changes nothing.

Started from a desktop means: no SHLVL (no shell above us) and no TERM, or only the dumb one that an editor
sets for its children. ACP_BRIDGE_LOGIN_SHELL=always or never overrules that.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

LIMIT = 10.0
SWITCH = "ACP_BRIDGE_LOGIN_SHELL"
RESOLVING = "ACP_BRIDGE_RESOLVING_ENVIRONMENT"

_DUMP = Path(__file__).with_name("dump_environment.py")
_MOST = 8 * 1024 * 1024
_OF_THE_SHELL_ITSELF = frozenset({"SHLVL", "PWD", "OLDPWD", "_", "TERM", RESOLVING})
_FLAGS = {
    "csh": ("-i", "-c"),
    "tcsh": ("-i", "-c"),
    "nu": ("-l", "-c"),
    "elvish": ("-c",),
    "pwsh": ("-Login", "-Command"),
}

_lock = threading.Lock()
_answer: dict[str, str] | None = None
_running: subprocess.Popen[bytes] | None = None


def inherited() -> dict[str, str]:
    """The environment to start agents with. Waits up to LIMIT seconds on the first call of a bridge that was
    started from a desktop; see `inherited_async` for use on an event loop."""
    if not from_desktop(os.environ):
        return dict(os.environ)
    return merge(os.environ, _shell_answer())


async def inherited_async() -> dict[str, str]:
    """`inherited` without blocking the event loop."""
    if _answer is not None or not from_desktop(os.environ):
        return inherited()
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def wake() -> None:
        if not done.done():
            done.set_result(None)

    def resolve() -> None:
        _shell_answer()
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(wake)

    threading.Thread(target=resolve, name="login shell", daemon=True).start()
    await done
    return inherited()


def prefetch() -> None:
    """Begin asking the login shell, if it will be needed, so that the first launch need not wait."""
    if _answer is None and from_desktop(os.environ):
        threading.Thread(target=_shell_answer, name="login shell", daemon=True).start()


def from_desktop(environ: Mapping[str, str]) -> bool:
    """Whether `environ` looks as if no login shell had made it."""
    switch = environ.get(SWITCH, "").lower()
    if sys.platform == "win32" or switch == "never":
        return False
    if switch == "always":
        return True
    return "SHLVL" not in environ and environ.get("TERM", "dumb") == "dumb"


def merge(base: Mapping[str, str], shell: Mapping[str, str]) -> dict[str, str]:
    """`base` with what the login shell set: its values win, its PATH comes first, the folders that only the
    base's PATH names follow; what is about the shell itself stays out."""
    merged = dict(base)
    merged.update({name: value for name, value in shell.items() if name not in _OF_THE_SHELL_ITSELF})
    if shell.get("PATH"):
        folders = [*shell["PATH"].split(os.pathsep), *base.get("PATH", "").split(os.pathsep)]
        merged["PATH"] = os.pathsep.join(dict.fromkeys(folder for folder in folders if folder))
    return merged


def ask_shell(environ: Mapping[str, str], limit: float = LIMIT) -> dict[str, str]:
    """The environment as the user's login shell makes it of `environ`; {} without an answer in `limit` s.

    The shell runs interactively (`-l -i -c`, what most set-ups put their PATH in) in a session of its own,
    without input, its stderr dropped.
    """
    global _running
    shell = _shell(environ)
    mark = os.urandom(16).hex()
    read, write = os.pipe()
    try:
        process = subprocess.Popen(
            [shell, *_FLAGS.get(Path(shell).name, ("-l", "-i", "-c")), _dump_command(shell, mark)],
            stdin=subprocess.DEVNULL,
            stdout=write,
            stderr=subprocess.DEVNULL,
            env={"TERM": "dumb", **environ, RESOLVING: "1"},
            start_new_session=True,
        )
    except OSError:
        os.close(read)
        return {}
    finally:
        os.close(write)
    _running = process
    try:
        output = _read_answer(read, mark.encode(), time.monotonic() + limit)
    finally:
        os.close(read)
        _end(process, whole_session=not output)
        _running = None
    return _decode(output)


def _shell_answer() -> dict[str, str]:
    global _answer
    with _lock:
        if _answer is None:
            _answer = ask_shell(os.environ)
        return _answer


def _shell(environ: Mapping[str, str]) -> str:
    if environ.get("SHELL"):
        return environ["SHELL"]
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_shell or "/bin/sh"
    except KeyError:
        return "/bin/sh"


def _dump_command(shell: str, mark: str) -> str:
    """A command line for any shell: quoted words only, and nothing after that would keep it from exec."""
    words = " ".join(
        "'" + word.replace("'", "'\\''") + "'" for word in (sys.executable, "-I", "-S", str(_DUMP), mark)
    )
    return f"& {words}" if Path(shell).name == "pwsh" else words


def _read_answer(fd: int, mark: bytes, deadline: float) -> bytes:
    """What lies between the two marks; b"" if the second one does not come. Does not wait for end of file: a
    background program may keep the pipe open for ever."""
    begin, end = b"<" + mark + b">", b"</" + mark + b">"
    output = bytearray()
    while len(output) < _MOST:
        ready = select.select([fd], (), (), max(0.0, deadline - time.monotonic()))[0]
        part = os.read(fd, 65536) if ready else b""
        if not part:
            return b""
        output += part
        if end in output:
            return bytes(output[output.index(begin) + len(begin) : output.rindex(end)])
    return b""


def _decode(output: bytes) -> dict[str, str]:
    pairs = (item.partition(b"=") for item in output.split(b"\0") if b"=" in item)
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs if name}


def _end(process: subprocess.Popen[bytes], whole_session: bool) -> None:
    """After an answer only the shell itself may be in the way (what its start-up files began for the session,
    an ssh-agent say, stays); after none, everything it started goes."""
    if not whole_session:
        try:
            process.wait(0.5)
        except subprocess.TimeoutExpired:
            process.kill()
    else:
        _kill_session(process)
    process.wait()


def _kill_session(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except OSError:
        process.kill()


@atexit.register
def _end_at_exit() -> None:
    if _running is not None:
        _kill_session(_running)
