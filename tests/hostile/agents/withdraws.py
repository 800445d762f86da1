"""Fault: withdraws its own permission request by $/cancel_request, and again once it is answered."""

from well_behaved import end, permission_params, send, serve, text, wait_for


def prompt(message):
    send({"id": "q", "method": "session/request_permission", "params": permission_params("t1", "a question")})
    send({"method": "$/cancel_request", "params": {"requestId": "q"}})
    answer = wait_for(lambda message: message.get("id") == "q" and "method" not in message)
    send({"method": "$/cancel_request", "params": {"requestId": "q"}})
    send({"method": "$/cancel_request", "params": {"requestId": "never asked"}})
    said = answer["result"]["outcome"]["outcome"] if "result" in answer else answer["error"]["code"]
    text(str(said))
    end(message)


serve(prompt)
