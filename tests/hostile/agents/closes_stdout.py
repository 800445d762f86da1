"""Fault: closes its stdout in mid-turn and lives on, deaf to SIGTERM."""

import os
import signal
import time

from well_behaved import serve, text

signal.signal(signal.SIGTERM, signal.SIG_IGN)


def prompt(message):
    text("so far ")
    os.close(1)
    time.sleep(600)


serve(prompt)
