"""Fault: speaks of a session that does not exist (files, permission, updates); lets `_meta` contradict."""

import json

from well_behaved import call, end, permission_params, send, serve, text, text_message, wait_for


def ask(method, params):
    send({"id": method, "method": method, "params": params})
    return wait_for(lambda message: message.get("id") == method and "method" not in message)


def prompt(message):
    path = message["params"]["prompt"][0]["text"]
    send(text_message("said to nobody", session="nobody"))
    codes = {
        "read": ask("fs/read_text_file", {"sessionId": "nobody", "path": path}),
        "write": ask("fs/write_text_file", {"sessionId": "nobody", "path": path, "content": "no"}),
        "permission": ask("session/request_permission", {**permission_params("t"), "sessionId": "nobody"}),
        "none": ask("fs/read_text_file", {"path": path}),
    }
    told = {name: answer.get("error", {}).get("code") for name, answer in codes.items()}
    meta = {"path": "/etc/hostname", "sessionId": "nobody"}
    told["meta"] = call("fs/read_text_file", {"path": path, "_meta": meta})["result"]["content"]
    text(json.dumps(told))
    end(message)


serve(prompt)
