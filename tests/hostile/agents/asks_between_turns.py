"""Fault: asks permission after its turn has ended; the next turn tells how that was answered."""

from well_behaved import SESSION, end, handshake, permission_params, receive, send, text

said = "nothing"
while True:
    message = receive()
    if message.get("method") == "session/prompt":
        text(said)
        end(message)
        params = permission_params("late", "one more thing", status="in_progress")
        send({"id": "late", "method": "session/request_permission", "params": params})
    elif message.get("method") == "session/cancel":
        said = f"cancel of {message['params']['sessionId'] == SESSION}"
    elif message.get("id") == "late":
        said += f", {message['result']['outcome']['outcome']}"
    else:
        handshake(message)
