"""Fault: starts grandchildren that ignore SIGTERM, one in a session of its own, both with the pipes open.

`leaves_children.py` then serves as usual; the word "wait" in a prompt keeps the turn open.
"""

import subprocess
import sys
import time

from well_behaved import end, serve, text

STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
MIDDLE = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {STUBBORN!r}]).wait()"


def prompt(message):
    subprocess.Popen([sys.executable, "-c", STUBBORN], start_new_session=True)
    subprocess.Popen([sys.executable, "-c", MIDDLE])
    time.sleep(0.3)
    text("children are there")
    if "wait" in message["params"]["prompt"][0]["text"]:
        time.sleep(600)
    end(message)


serve(prompt)
