"""Fault: one line of 50 MiB."""

import os

from well_behaved import end, serve, text

SIZE = int(os.environ.get("SIZE", 50 << 20))


def prompt(message):
    text("0123456789abcdef" * (SIZE // 16))
    text("!")
    end(message)


serve(prompt)
