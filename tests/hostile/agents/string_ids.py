"""Fault: answers with the id as a string."""

from well_behaved import SESSION, initialize_result, receive, send, text

while True:
    message = receive()
    results = {
        "initialize": initialize_result(),
        "session/new": {"sessionId": SESSION},
        "session/prompt": {"stopReason": "end_turn"},
    }
    if message["method"] == "session/prompt":
        text("answered")
    if message["method"] in results:
        send({"id": str(message["id"]), "result": results[message["method"]]})
