"""Fault: asks a new permission after it was told to stop; says how it was answered."""

from well_behaved import call, end, permission_params, serve, text, wait_for_cancel


def prompt(message):
    text("working ")
    wait_for_cancel()
    answer = call("session/request_permission", permission_params("late", "one more thing"))
    text(answer["result"]["outcome"]["outcome"])
    end(message, "cancelled")


serve(prompt)
