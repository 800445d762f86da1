"""The guard: a small parent for one agent that ends its whole tree when the bridge is gone.

Run as a script, `python -I -S guard.py CONTROL_FD LABEL`; imports the standard library only and nothing of
acp_bridge. CONTROL_FD is one end of a socket pair whose other end only the bridge holds. The agent inherits
the guard's stdin, stdout and stderr, and the guard gives up its own: it is not in the data path.

Bridge to guard: a length (8 bytes, big-endian) and a marshalled tuple `(path, argv, cwd, env, grace)`, all
strings as bytes; later lines `stop SECONDS`. Guard to bridge, a line each: `started PID` or
`failed ERRNO STEP` (STEP is chdir, exec or fork), then `exit CODE` or `signal NUMBER`. The guard ends when
nothing of the tree is left, so end of file on the socket means just that.

Guarantees
- The agent runs in a process group of its own, in the guard's session, without a controlling terminal, with
  default signal dispositions and no descriptor beyond 0, 1 and 2.
- End of file on the socket (the bridge died, however) or SIGTERM: TERM to every descendant, KILL to what is
  left after `grace`. After the agent's own end its leftovers get TERM and, soon after, KILL.
- Linux: the guard is child subreaper, so double-forked and setsid'ed descendants stay its descendants; if the
  guard itself is killed the kernel kills the agent (PR_SET_PDEATHSIG), and a guard that was suspended goes on
  when the bridge dies (PR_SET_PDEATHSIG with SIGCONT).
- Elsewhere (macOS, BSD) descendants are found by `ps`: those alive below the agent when the stop begins, and
  its process group. A process that has left the group and whose parents died before that escapes.
"""

from __future__ import annotations

import errno
import marshal
import os
import select
import signal
import sys
import time

Request = tuple[bytes, list[bytes], bytes, dict[bytes, bytes], float]
Table = dict[int, tuple[int, int]]

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
LINUX = sys.platform == "linux"
LEFTOVER_GRACE = 0.5
KILL_INTERVAL = 0.02
GIVE_UP_AFTER = 10.0
ENDING_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
SIGNALS_TO_RESET = (*ENDING_SIGNALS, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ)


def prctl(option: int, value: int) -> None:
    import ctypes

    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def read_exactly(fd: int, size: int) -> bytes:
    """`size` bytes, or fewer if the other side closes."""
    data = bytearray()
    while len(data) < size:
        part = os.read(fd, min(size - len(data), 1 << 20))
        if not part:
            break
        data += part
    return bytes(data)


def read_request(control: int) -> Request | None:
    """What to run, or None when the bridge is gone before it said so."""
    head = read_exactly(control, 8)
    size = int.from_bytes(head, "big")
    body = read_exactly(control, size) if len(head) == 8 else b""
    if not size or len(body) < size:
        return None
    request: Request = marshal.loads(body)
    return request


def report(control: int, text: str) -> None:
    try:
        os.write(control, text.encode() + b"\n")
    except OSError:
        return  # the bridge is gone; the loop sees the end of file


def snapshot() -> Table:
    """{pid: (parent pid, process group)} of every process alive now, zombies left out."""
    return snapshot_proc() if LINUX else snapshot_ps()


def snapshot_proc() -> Table:
    table: Table = {}
    try:
        names = os.listdir("/proc")
    except OSError:
        return table  # a chroot without it
    for name in names:
        if not name.isdigit():
            continue
        try:
            with open("/proc/" + name + "/stat", "rb") as file:
                stat = file.read()
        except OSError:
            continue
        state, parent, group = stat[stat.rindex(b")") + 2 :].split(None, 3)[:3]
        if state != b"Z":
            table[int(name)] = (int(parent), int(group))
    return table


def snapshot_ps() -> Table:
    import subprocess

    table: Table = {}
    with subprocess.Popen(
        ["ps", "-A", "-o", "pid=,ppid=,pgid=,stat="], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    ) as ps:
        listing = ps.communicate()[0]
    for line in listing.splitlines():
        fields = line.split()
        if len(fields) == 4 and not fields[3].startswith(b"Z") and int(fields[0]) != ps.pid:
            table[int(fields[0])] = (int(fields[1]), int(fields[2]))
    return table


def descendants(root: int, table: Table) -> set[int]:
    children: dict[int, list[int]] = {}
    for pid, (parent, _) in table.items():
        children.setdefault(parent, []).append(pid)
    found: set[int] = set()
    todo = [root]
    while todo:
        for pid in children.get(todo.pop(), ()):
            if pid not in found:
                found.add(pid)
                todo.append(pid)
    return found


def exec_agent(request: Request, failure: int) -> None:
    """Become the agent; runs in the forked child, which must never return from here."""
    path, argv, cwd, env, _ = request
    step = "chdir"
    try:
        os.setpgid(0, 0)
        for number in SIGNALS_TO_RESET:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.chdir(cwd)
        step = "exec"
        os.execve(path, argv, env)
    except Exception as error:
        code = getattr(error, "errno", None) or errno.EINVAL
        os.write(failure, f"failed {code} {step}".encode())
    finally:
        os._exit(127)


def start_agent(request: Request) -> tuple[int, str]:
    """(pid, ""), or (0, report line) if it could not be started."""
    guard = os.getpid()
    failure_read, failure_write = os.pipe()
    if LINUX:
        import ctypes  # noqa: F401  (loaded before the fork: the child must only make system calls)
    try:
        pid = os.fork()
    except OSError as error:
        return 0, f"failed {error.errno} fork"
    if pid == 0:
        if LINUX:
            prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != guard:
                os._exit(127)
        exec_agent(request, failure_write)
    os.close(failure_write)
    failure = read_exactly(failure_read, 64)
    os.close(failure_read)
    if failure:
        os.waitpid(pid, 0)
        return 0, failure.decode()
    return pid, ""


def give_up_stdio() -> None:
    """Let the agent alone hold its pipes, so that their end is its end."""
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.close(null)


def watch_signals() -> int:
    """A descriptor that becomes readable with the number of each signal received."""
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_read, False)
    os.set_blocking(wake_write, False)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    for number in (*ENDING_SIGNALS, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)
    return wake_read


class Guard:
    """One state machine: running, then (stop) terminating until a deadline, then killing, then gone."""

    def __init__(self, control: int, wake: int, agent: int, grace: float) -> None:
        self.control: int | None = control
        self.wake = wake
        self.agent = agent
        self.grace = grace
        self.known: set[int] = set()
        self.deadline: float | None = None
        self.killing_since: float | None = None
        self.partial = b""

    def run(self) -> None:
        while True:
            if not self.reap() and (LINUX or not self.members()):
                return
            if not self.escalate():
                return
            self.listen()

    def reap(self) -> bool:
        """Collect the dead; False when no child is left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.agent:
                self.agent_ended(status)

    def agent_ended(self, status: int) -> None:
        code = os.waitstatus_to_exitcode(status)
        if self.control is not None:
            report(self.control, f"exit {code}" if code >= 0 else f"signal {-code}")
        self.begin_stop(LEFTOVER_GRACE)

    def begin_stop(self, grace: float) -> None:
        """TERM now and KILL after `grace` seconds; a later call can only bring the KILL forward."""
        deadline = time.monotonic() + grace
        if self.deadline is None:
            self.deadline = deadline
            if grace > 0:
                self.signal_members(signal.SIGTERM)
                self.signal_members(signal.SIGCONT)
        self.deadline = min(self.deadline, deadline)

    def escalate(self) -> bool:
        """Kill what outlives the deadline; False when even that has not helped for long."""
        now = time.monotonic()
        if self.deadline is None or now < self.deadline:
            return True
        if self.killing_since is None:
            self.killing_since = now
        self.signal_members(signal.SIGKILL)
        return now < self.killing_since + GIVE_UP_AFTER

    def members(self) -> set[int]:
        """Every process to signal: our descendants; without a subreaper also the agent's group and those that
        were descendants when looked at before; where none can be listed the group as a whole."""
        table = snapshot()
        if not table:
            return {-self.agent}
        found = descendants(os.getpid(), table)
        if LINUX:
            return found
        self.known |= found
        self.known.update(pid for pid, (_, group) in table.items() if group == self.agent)
        return self.known & table.keys()

    def signal_members(self, number: int) -> None:
        for pid in self.members():
            try:
                os.kill(pid, number)
            except OSError:
                continue  # it ended meanwhile, or runs as another user

    def listen(self) -> None:
        """Wait for a word of the bridge, a signal, or the time to go on."""
        watched = [self.wake] if self.control is None else [self.wake, self.control]
        ready = select.select(watched, (), (), self.timeout())[0]
        if self.wake in ready:
            numbers = os.read(self.wake, 4096)
            if any(number in ENDING_SIGNALS for number in numbers):
                self.begin_stop(self.grace)
        if self.control is not None and self.control in ready:
            self.obey(self.control)

    def timeout(self) -> float | None:
        if self.killing_since is not None:
            return KILL_INTERVAL
        if self.deadline is not None:
            remaining = max(0.0, self.deadline - time.monotonic())
            return remaining if LINUX else min(remaining, 0.2)
        return None

    def obey(self, control: int) -> None:
        try:
            data = os.read(control, 4096)
        except OSError:
            data = b""
        if not data:
            self.control = None
            self.begin_stop(self.grace)
            return
        *lines, self.partial = (self.partial + data).split(b"\n")
        for line in lines:
            self.begin_stop(float(line.split()[1]))


def main() -> None:
    control = int(sys.argv[1])
    os.set_inheritable(control, False)
    request = read_request(control)
    if request is None:
        return
    if LINUX:
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        prctl(PR_SET_PDEATHSIG, signal.SIGCONT)
    wake = watch_signals()
    agent, failure = start_agent(request)
    if not agent:
        report(control, failure)
        return
    give_up_stdio()
    report(control, f"started {agent}")
    guard = Guard(control, wake, agent, request[4])
    try:
        guard.run()
    except BaseException:
        guard.signal_members(signal.SIGKILL)
        raise


if __name__ == "__main__":
    main()
