"""Fault: answers initialize with a version nobody speaks, or with an error (`wrong_version.py error`)."""

import sys

from well_behaved import answer, receive

while True:
    message = receive()
    if sys.argv[1:] == ["error"]:
        answer(message, code=-32603, message="no licence file")
    else:
        answer(message, {"protocolVersion": 7})
