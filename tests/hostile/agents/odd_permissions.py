"""Fault: permission requests with options missing, empty or malformed, without a tool call, with odd ones."""

import json

from well_behaved import SESSION, call, end, serve, text

GOOD = {"optionId": "yes", "name": "Allow", "kind": "allow_once"}
TOOL = {"toolCallId": "t", "title": "do it"}
REQUESTS = {
    "no options": {"toolCall": TOOL},
    "text options": {"toolCall": TOOL, "options": "all"},
    "no tool call": {"options": [GOOD]},
    "odd tool call": {"toolCall": [1], "options": [GOOD]},
    "odd items": {"toolCall": TOOL, "options": [7, {"name": "no id"}, {**GOOD, "kind": 5}]},
    "nothing": {},
}


def prompt(message):
    told = {}
    for name, params in REQUESTS.items():
        answer = call("session/request_permission", {"sessionId": SESSION, **params})
        result = answer.get("result") or {}
        told[name] = answer.get("error", {}).get("code") or result["outcome"].get("optionId", "cancelled")
    text(json.dumps(told))
    end(message)


serve(prompt)
