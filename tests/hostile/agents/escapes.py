"""Fault: reads and writes outside the session's folder, by `..`, by a symlink, by a URI, by `~`.

`escapes.py FOLDER`: FOLDER/project is the session's folder, FOLDER/project/link leads to FOLDER/outside.
Says for every attempt what came back, as JSON.
"""

import json
import sys

from well_behaved import call, end, serve, text

TOP = sys.argv[1]
PATHS = {
    "absolute": f"{TOP}/outside/absolute.txt",
    "dots": f"{TOP}/project/../outside/dots.txt",
    "symlink": f"{TOP}/project/link/symlink.txt",
    "relative": "relative.txt",
    "uri": f"file://{TOP}/project/uri.txt",
    "home": "~/home.txt",
    "nul": f"{TOP}/project/n\0ul.txt",
}


def prompt(message):
    outcome = {}
    for name, path in PATHS.items():
        answer = call("fs/write_text_file", {"path": path, "content": "escaped"})
        outcome[f"write {name}"] = answer.get("error", {}).get("code", "done")
    answer = call("fs/read_text_file", {"path": f"{TOP}/outside/secret.txt"})
    outcome["read"] = answer.get("error", {}).get("code", "done")
    text(json.dumps(outcome))
    end(message)


serve(prompt)
