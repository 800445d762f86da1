"""Fault: closes its stdin after session/new; nothing said to it arrives any more."""

import os
import time

from well_behaved import SESSION, answer, handshake, receive

while True:
    message = receive()
    if message["method"] == "session/new":
        os.close(0)
        answer(message, {"sessionId": SESSION})
        time.sleep(600)
    handshake(message)
