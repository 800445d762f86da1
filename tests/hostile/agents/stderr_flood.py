"""Fault: 1 MB on stderr in mid-turn, in lines and as one line without end, before anything else goes on."""

import sys

from well_behaved import end, serve, text


def prompt(message):
    text("before ")
    for number in range(8000):
        sys.stderr.write(
            f"\x1b[33m{number:06} a line of sixty-four characters and some colour in it\x1b[0m\n"
        )
    sys.stderr.write("x" * (512 << 10))
    sys.stderr.flush()
    text("after")
    end(message)


serve(prompt)
