"""Fault: two permission requests at once for one tool call, with options of unknown kinds only."""

from well_behaved import end, permission_params, send, serve, text, wait_for


def prompt(message):
    options = [
        {"optionId": "é one", "name": "Always", "kind": "allow_for_ever"},
        {"optionId": "two", "name": "Now"},
    ]
    for call_id in (0, 1):
        params = {**permission_params("t1"), "options": options}
        send({"id": call_id, "method": "session/request_permission", "params": params})
    answers = {}
    while len(answers) < 2:
        answer = wait_for(lambda message: "method" not in message)
        answers[answer["id"]] = answer["result"]["outcome"]["optionId"]
    text(f"{answers[0]}, {answers[1]}")
    end(message)


serve(prompt)
