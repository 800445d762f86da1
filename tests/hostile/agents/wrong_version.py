"""Fault: answers initialize with a version nobody speaks, or with an error (`wrong_version.py error`)."""

import sys

from well_behaved import answer, fail, receive

while True:
    message = receive()
    if sys.argv[1:] == ["error"]:
        fail(message, -32603, "no licence file")
    else:
        answer(message, {"protocolVersion": 7})
