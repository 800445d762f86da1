"""Koog: id and title of a tool call may be "unknown" and shared by calls that have nothing in common."""

from well_behaved import end, serve, text, tool


def prompt(message):
    for output in ("first", "second"):
        for status in ("pending", "completed"):
            content = [{"type": "content", "content": {"type": "text", "text": output}}]
            tool("unknown", title="unknown", status=status, content=content)
    text("Both done.")
    end(message)


serve(prompt)
