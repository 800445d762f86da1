"""Fault: ends the turn in a way nobody expects: `odd_answers.py KEY`, a key of ANSWERS."""

import sys

from well_behaved import send, serve, text

ANSWERS = {
    "unknown": {"result": {"stopReason": "quantum_leap"}},
    "null": {"result": None},
    "empty": {"result": {}},
    "string": {"result": "done"},
    "number": {"result": {"stopReason": 7}},
    "error_text": {"error": "it went wrong"},
    "error_null": {"error": None},
    "neither": {},
}


def prompt(message):
    text("hello")
    send({"id": message["id"], **ANSWERS[sys.argv[1]]})


serve(prompt)
