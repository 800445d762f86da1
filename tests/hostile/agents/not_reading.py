"""Fault: reads nothing any more once it has a session, and keeps the pipe open."""

import time

from well_behaved import SESSION, answer, handshake, receive

while True:
    message = receive()
    if message["method"] == "session/new":
        answer(message, {"sessionId": SESSION})
        time.sleep(600)
    handshake(message)
