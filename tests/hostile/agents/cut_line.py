"""Fault: dies in the middle of a line; what stood in it is no message."""

import os

from well_behaved import encode, raw, serve, text


def prompt(message):
    text("complete")
    raw(encode({"id": message["id"], "result": {"stopReason": "end_turn"}})[:-20])
    os._exit(1)


serve(prompt)
