"""Fault: every answer is sent twice, the second one with other words."""

from well_behaved import SESSION, answer, end, fail, initialize_result, serve, text


def other(message):
    if message.get("method") == "initialize":
        answer(message, initialize_result())
        answer(message, {"protocolVersion": 99})
    elif message.get("method") == "session/new":
        answer(message, {"sessionId": SESSION})
        answer(message, {"sessionId": "another"})


def prompt(message):
    text("once ")
    end(message)
    fail(message, -1, "and again")
    end(message, "refusal")


serve(prompt, other)
