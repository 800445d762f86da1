"""Fault: dies in mid-turn, words on stderr: `dies.py exit3`, `dies.py exit0`, `dies.py kill` (SIGKILL)."""

import os
import signal
import sys

from well_behaved import serve, text


def prompt(message):
    text("so far ")
    print("\x1b[31mfatal: the disk of the agent is on fire\x1b[0m", file=sys.stderr, flush=True)
    if sys.argv[1] == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(int(sys.argv[1].removeprefix("exit")))


serve(prompt)
