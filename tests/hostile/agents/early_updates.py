"""Fault: speaks of a session before the session/new answer that makes it."""

from well_behaved import end, handshake, serve, text, update


def other(message):
    if message.get("method") == "session/new":
        update({"sessionUpdate": "usage_update", "used": 15000, "size": 200000})
        update(
            {
                "sessionUpdate": "available_commands_update",
                "availableCommands": [{"name": "early", "description": "came early"}],
            }
        )
        text("a greeting")
    handshake(message)


def prompt(message):
    text("the answer")
    end(message)


serve(prompt, other)
