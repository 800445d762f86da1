"""Run by the login shell (see `environment`): print the environment, NUL-delimited, between two marks.

`python -I -S dump_environment.py MARK`; standard library only.
"""

import os
import sys


def main() -> None:
    mark = os.fsencode(sys.argv[1])
    pairs = b"".join(name + b"=" + value + b"\0" for name, value in os.environb.items())
    answer = memoryview(b"<" + mark + b">" + pairs + b"</" + mark + b">\n")
    while answer:
        answer = answer[os.write(1, answer) :]


if __name__ == "__main__":
    main()
