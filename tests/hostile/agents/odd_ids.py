"""Fault: asks with ids of every JSON type; tells which came back unchanged, each answered once."""

import json

from well_behaved import SESSION, end, receive, send, serve, text

IDS = [None, "abc", 0, -1, 1.5, "", 9007199254740993, "0"]


def prompt(message):
    for call_id in IDS:
        params = {"sessionId": SESSION, "path": "relative.txt"}
        send({"id": call_id, "method": "fs/read_text_file", "params": params})
    back = []
    while len(back) < len(IDS):
        answer = receive()
        if "method" not in answer:
            assert "error" in answer, answer
            back.append(json.dumps(answer["id"]))
    text(" ".join(sorted(back)))
    end(message)


serve(prompt)
