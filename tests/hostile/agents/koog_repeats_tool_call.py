"""Koog: a status change is another `tool_call`, not an update; there is no `kind`."""

from well_behaved import end, serve, text, tool


def prompt(message):
    for status in ("pending", "in_progress", "completed"):
        tool("c1", title="readFile", status=status)
    text("I read it.")
    end(message)


serve(prompt)
