"""Koog: a prompt while one runs is an error, and after it the first can no longer be cancelled."""

import select
import sys
import time

from well_behaved import end, fail, receive, serve, text


def prompt(message):
    text("working ")
    until = time.monotonic() + 1
    while (left := until - time.monotonic()) > 0:
        if select.select([sys.stdin], [], [], left)[0]:
            other = receive()
            if other.get("method") == "session/prompt":
                fail(other, -32603, "A prompt is already running")
                time.sleep(600)
    text("done")
    end(message)


serve(prompt)
