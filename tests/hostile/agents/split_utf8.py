"""Fault: every byte of the answer in a write of its own, in the middle of characters too."""

import json

from well_behaved import end, raw, serve, text_message

TEXT = "né 日本 😀 \u2028 \u0000 done"


def prompt(message):
    line = json.dumps({"jsonrpc": "2.0", **text_message(TEXT)}, ensure_ascii=False).encode() + b"\n"
    for byte in line:
        raw(bytes([byte]))
    end(message)


serve(prompt)
