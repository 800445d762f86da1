"""Fault: asks five hundred permissions at once; tells how many answers of which kind came, and doubles."""

import collections

from well_behaved import end, permission_params, receive, send, serve, text

COUNT = 500


def prompt(message):
    for number in range(COUNT):
        params = permission_params(f"t{number}", f"thing {number}")
        send({"id": number, "method": "session/request_permission", "params": params})
    outcomes, answered = collections.Counter(), set()
    while len(answered) < COUNT:
        answer = receive()
        if "method" not in answer:
            outcomes[answer["result"]["outcome"]["outcome"]] += 1
            outcomes["double"] += answer["id"] in answered
            answered.add(answer["id"])
    text(f"{outcomes['cancelled']} cancelled, {outcomes['double']} double")
    end(message, "cancelled")


serve(prompt)
