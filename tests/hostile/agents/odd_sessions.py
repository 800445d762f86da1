"""Fault: session/new is answered with nonsense: `odd_sessions.py KEY`, a key of ANSWERS."""

import sys

from well_behaved import SESSION, answer, end, handshake, serve, text

ANSWERS = {
    "empty": {},
    "null": None,
    "number": {"sessionId": 7},
    "text": "session-1",
    "same": {"sessionId": SESSION},
}


def other(message):
    if message.get("method") == "session/new":
        answer(message, ANSWERS[sys.argv[1]])
    else:
        handshake(message)


def prompt(message):
    text("hello")
    end(message)


serve(prompt, other)
