"""Fault: thousands of lines of noise and of small updates, as fast as the pipe takes them."""

from well_behaved import encode, end, raw, serve, text_message, update_message

USAGE = encode(update_message({"sessionUpdate": "usage_update", "used": 1, "size": 2}))


def prompt(message):
    for number in range(20000):
        raw(encode(text_message(f"{number},")) + b"noise noise noise\n" + USAGE)
    end(message)


serve(prompt)
