"""Fault: calls methods that nobody offered, and notifies what nobody knows; tells the error codes."""

import json

from well_behaved import call, end, send, serve, text

METHODS = ["_koog/weather", "session/new", "terminal/create", "elicitation/create", "no/such", ""]


def prompt(message):
    send({"method": "_koog/ping", "params": {"any": "thing"}})
    send({"method": "$/whatever"})
    send({"method": "session/cancel", "params": {"sessionId": "native-1"}})
    codes = {
        method: call(method, {"command": "touch made.txt"}).get("error", {}).get("code") for method in METHODS
    }
    text(json.dumps(codes))
    end(message)


serve(prompt)
