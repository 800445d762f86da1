"""Fault: asks for a large file a hundred times and reads no answer."""

import time

from well_behaved import SESSION, answer, handshake, receive, send, text

folder = ""
while True:
    message = receive()
    if message["method"] == "session/new":
        folder = message["params"]["cwd"]
        answer(message, {"sessionId": SESSION})
    elif message["method"] == "session/prompt":
        for number in range(100):
            params = {"sessionId": SESSION, "path": f"{folder}/large.txt"}
            send({"id": number, "method": "fs/read_text_file", "params": params})
        text("asked")
        time.sleep(600)
    else:
        handshake(message)
