"""Fault: asks permission before (or `permission_first.py never`: without ever) announcing the tool call."""

import sys

from well_behaved import call, end, permission_params, serve, text, tool, tool_update


def prompt(message):
    asked = permission_params("t1", "rm -rf build", kind="execute", rawInput={"command": "rm -rf build"})
    outcome = call("session/request_permission", asked)["result"]["outcome"]
    if sys.argv[1:] != ["never"]:
        tool("t1", title="rm -rf build", kind="execute", status="in_progress")
        tool_update("t1", status="completed")
    text(outcome.get("optionId", outcome["outcome"]))
    end(message, "cancelled" if outcome["outcome"] == "cancelled" else "end_turn")


serve(prompt)
