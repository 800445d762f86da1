"""Fault: asks for five writes outside the session's folder at once, and stops at a cancel.

`many_outside.py FOLDER`: where it wants to write."""

import sys

from well_behaved import SESSION, end, send, serve, text, wait_for, wait_for_cancel


def prompt(message):
    for number in range(5):
        path = f"{sys.argv[1]}/{number}.txt"
        params = {"sessionId": SESSION, "path": path, "content": "x"}
        send({"id": f"w{number}", "method": "fs/write_text_file", "params": params})
    wait_for_cancel()
    end(message, "cancelled")
    codes = [str(wait_for(lambda m: "method" not in m)["error"]["code"]) for _ in range(5)]
    text(" ".join(codes))


serve(prompt)
