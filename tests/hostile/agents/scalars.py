"""Fault: lines that are JSON but no message, between all messages."""

from well_behaved import end, handshake, raw, serve, text

LINES = rb"""42
null
"text"
true
[]
[1, "x", null]
1e999
-0
{}
{"jsonrpc": "2.0"}
{"method": 5}
{"jsonrpc": "2.0", "method": "session/update"}
{"jsonrpc": "2.0", "method": "session/update", "params": 7}
{"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "native-1"}}
{"jsonrpc": "2.0", "id": 999, "result": {}}
{"jsonrpc": "2.0", "id": [1], "result": 1}
{"id": {"a": 1}}
{"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "parse error"}}
"""


def other(message):
    raw(LINES)
    handshake(message)


def prompt(message):
    for word in ("one ", "two ", "three"):
        raw(LINES)
        text(word)
    end(message)


serve(prompt, other)
