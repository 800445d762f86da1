"""What the bridge does when a guard was killed: end the agent's processes it can still recognise.

With the guard gone, so is the tie to its descendants. On Linux they are known by an environment variable
that every agent is started with (`MARK`) and by the agent's process group; elsewhere by the group alone.
A process that has cleared its environment and left the group is out of reach.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

MARK = "ACP_BRIDGE_PROCESS"


def kill(mark: str, group: int | None) -> bool:
    """SIGKILL every process that belongs to the agent; False when there was none. `group` is None when the
    agent had not been reported yet."""
    if sys.platform == "linux":
        return _kill_all([pid for pid in _processes() if _belongs(pid, mark, group)])
    if group is None:
        return False
    try:
        os.killpg(group, signal.SIGKILL)
    except OSError:
        return False
    return True


def _processes() -> list[int]:
    return [
        int(entry.name)
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and int(entry.name) != os.getpid()
    ]


def _belongs(pid: int, mark: str, group: int | None) -> bool:
    folder = Path("/proc", str(pid))
    try:
        stat = (folder / "stat").read_bytes()
        state, _, its_group = stat[stat.rindex(b")") + 2 :].split(None, 3)[:3]
        if state == b"Z":
            return False
        if int(its_group) == group:
            return True
        return f"{MARK}={mark}".encode() in (folder / "environ").read_bytes().split(b"\0")
    except OSError:
        return False


def _kill_all(pids: list[int]) -> bool:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            continue
    return bool(pids)
