"""Koog: the Kotlin SDK may put notifications and the answer into one batch."""

import json

from well_behaved import raw, serve, text_message


def prompt(message):
    batch = [
        text_message("from "),
        text_message("a batch"),
        {"id": message["id"], "result": {"stopReason": "end_turn"}},
    ]
    raw(json.dumps([{"jsonrpc": "2.0", **item} for item in batch]).encode() + b"\n")


serve(prompt)
