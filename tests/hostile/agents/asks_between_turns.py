"""Fault: asks permission after its turn has ended; the next turn tells how that was answered."""

from well_behaved import end, handshake, permission_params, receive, send, text

said, cancelled = "nothing", False
while True:
    message = receive()
    if message.get("method") == "session/prompt":
        text(f"{said}, cancelled: {cancelled}")
        end(message)
        params = permission_params("late", "one more thing", status="in_progress")
        send({"id": "late", "method": "session/request_permission", "params": params})
    elif message.get("method") == "session/cancel":
        cancelled = True
    elif message.get("id") == "late":
        said = message["result"]["outcome"]["outcome"]
    else:
        handshake(message)
