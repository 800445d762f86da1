"""Fault: deaf to session/cancel, to the end of its input and to SIGTERM."""

import signal
import time

from well_behaved import serve, text, tool

signal.signal(signal.SIGTERM, signal.SIG_IGN)


def prompt(message):
    text("on and on")
    tool("t1", title="a long one", status="in_progress")
    time.sleep(600)


serve(prompt)
