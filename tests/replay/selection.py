"""Which recordings can be played through the bridge, and how they are kept small.

    python tests/replay/selection.py FOLDER     copy the playable ones of FOLDER to tests/replay/traces

A recording is a file `<agent>-<name>.jsonl`, one `{"dir": "->" | "<-", "msg": …}` a line, `->` from client to
agent. `<agent>-init.jsonl` holds the handshake for those of the same agent that were cut out of a longer run.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

Json = dict[str, Any]
Step = tuple[str, Json]

CLIENT_CALLS = frozenset({"initialize", "authenticate", "session/new", "session/prompt", "session/cancel"})
AGENT_CALLS = frozenset(
    {"session/update", "session/request_permission", "fs/read_text_file", "fs/write_text_file"}
)
NOT_ACP = ("codex-app-server", "claude-code")
LONG_RUN = 4096


def why_not(steps: list[Step]) -> str:
    """The rule. Empty if the recording can be played, else the reason why not.

    Client calls: only CLIENT_CALLS, among them one about a session (an editor's user cannot do less), and
    never a second prompt while one is unanswered (the queue forbids it). Agent calls: only AGENT_CALLS. Every
    prompt is answered within the recording.
    """
    if not any(d == "->" and str(message.get("method")).startswith("session/") for d, message in steps):
        return "the client speaks of no session"
    running: Any = None
    for direction, message in steps:
        method = message.get("method")
        if method is not None and method not in (CLIENT_CALLS if direction == "->" else AGENT_CALLS):
            return f"{direction} {method}"
        if direction == "->" and method == "session/prompt":
            if running is not None:
                return "two prompts at once"
            running = message["id"]
        elif direction == "<-" and method is None and message.get("id") == running:
            running = None
    return "a prompt is never answered" if running is not None else ""


def read(path: Path) -> list[Step]:
    """The messages of a recording in order; notes and ends of stream are left out."""
    lines = (json.loads(line) for line in path.read_text("utf-8").splitlines())
    return [(line["dir"], expand(line["msg"])) for line in lines if isinstance(line.get("msg"), dict)]


def compact(steps: list[Step]) -> str:
    """The file's text: no times, no spaces, long repetitions shortened."""
    lines = (
        json.dumps({"dir": direction, "msg": shorten(message)}, ensure_ascii=False, separators=(",", ":"))
        for direction, message in steps
    )
    return "".join(f"{line}\n" for line in lines)


def shorten(value: Any) -> Any:
    """Replace each long string that is one short piece over and over by `{"$text", "$times"}`."""
    if isinstance(value, dict):
        return {key: shorten(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shorten(item) for item in value]
    if not isinstance(value, str) or len(value) < LONG_RUN:
        return value
    repeated = re.fullmatch(r"(.{1,64}?)\1+", value, re.DOTALL)
    if repeated is None:
        return value
    piece = repeated.group(1)
    return {"$text": piece, "$times": len(value) // len(piece)}


def expand(value: Any) -> Any:
    """The inverse of `shorten`."""
    if isinstance(value, dict):
        if value.keys() == {"$text", "$times"}:
            return value["$text"] * value["$times"]
        return {key: expand(item) for key, item in value.items()}
    if isinstance(value, list):
        return [expand(item) for item in value]
    return value


def copy(source: Path, target: Path) -> list[str]:
    """Copy what is playable; returns a line for everything left out."""
    left_out = []
    for path in sorted(source.glob("*.jsonl")):
        steps = read(path)
        reason = "not ACP" if path.name.startswith(NOT_ACP) else why_not(steps)
        if reason:
            left_out.append(f"{path.stem}: {reason}")
        else:
            (target / path.name).write_text(compact(steps), "utf-8")
    return left_out


if __name__ == "__main__":
    print("\n".join(copy(Path(sys.argv[1]), Path(__file__).parent / "traces")))
