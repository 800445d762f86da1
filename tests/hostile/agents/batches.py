"""Fault: JSON-RPC batches, which ACP v1 does not have; the end of the turn comes in one too."""

import json

from well_behaved import raw, serve, text_message


def prompt(message):
    batch = [{"jsonrpc": "2.0", **text_message(word)} for word in ("one ", "two ", "three")]
    raw(json.dumps([*batch[:2], 7, None]).encode() + b"\n")
    done = {"jsonrpc": "2.0", "id": message["id"], "result": {"stopReason": "end_turn"}}
    raw(json.dumps([batch[2], done]).encode() + b"\n")


serve(prompt)
