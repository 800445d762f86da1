"""Fault: the last answer has no line end, and the program is gone at once."""

import os

from well_behaved import encode, raw, serve, text


def prompt(message):
    text("complete")
    raw(encode({"id": message["id"], "result": {"stopReason": "end_turn"}}).rstrip())
    os._exit(0)


serve(prompt)
