"""An editor that does not read: nothing piles up, cancel still works, what follows rebuilds every word."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from support.lsp_client import BRIDGE, TIMEOUT, rich
from support.thread_model import ThreadModel

Json = dict[str, Any]
LINES = 60_000
SCRIPTED = str(Path(__file__).parents[2] / "support" / "scripted.py")


def flood(folder: Path) -> Json:
    """An agent that says LINES lines at once, leaves a file when it has, and waits to be cancelled."""
    steps: list[Json] = [{"text": f"line {number}\n"} for number in range(LINES)]
    steps += [{"write": str(folder / "said"), "content": ""}, {"wait": "cancel"}]
    scenario = folder / "scenario.json"
    scenario.write_text(json.dumps({"prompts": [steps]}))
    return {"command": sys.executable, "args": [SCRIPTED, f"@{scenario}"]}


class Blocking:
    """A client on plain blocking pipes: it reads only when told to."""

    def __init__(self, environ: dict[str, str]) -> None:
        self.process = subprocess.Popen([*BRIDGE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ)
        self.watchdog = threading.Timer(TIMEOUT, self.process.kill)
        self.watchdog.start()

    def send(self, **message: Any) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.process.stdin.flush()

    def read(self) -> Json:
        assert self.process.stdout is not None
        length = 0
        while (line := self.process.stdout.readline()) != b"\r\n":
            assert line, "the bridge is gone"
            length = int(line.removeprefix(b"Content-Length: "))
        return dict(json.loads(self.process.stdout.read(length)))

    def answer(self, number: int) -> Json:
        while (message := self.read()).get("id") != number:
            pass
        return dict(message["result"])

    def memory(self) -> int:
        """Resident KiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0])

    def close(self) -> None:
        self.watchdog.cancel()
        self.process.kill()
        self.process.communicate()


def test_an_editor_that_does_not_read_loses_nothing_and_can_cancel(
    environ: dict[str, str], workspace: Path, tmp_path: Path
) -> None:
    client = Blocking(environ)
    try:
        options = {"acp": rich({"flood": flood(tmp_path)})}
        params = {"processId": os.getpid(), "capabilities": {}, "initializationOptions": options}
        client.send(id=1, method="initialize", params=params)
        client.send(id=2, method="acp/session/new", params={"agent": "flood", "cwd": str(workspace)})
        opened = client.answer(2)
        session = opened["sessionId"]
        model = ThreadModel.of(opened["thread"])
        asked = {"sessionId": session, "prompt": "go"}
        client.send(id=3, method="acp/session/prompt", params=asked)
        end = time.monotonic() + TIMEOUT
        idle = client.memory()
        while not (tmp_path / "said").exists():
            assert time.monotonic() < end
            time.sleep(0.05)
        assert client.memory() - idle < 40 * 1024
        client.send(id=5, method="acp/session/cancel", params={"sessionId": session})
        client.send(id=6, method="acp/thread/get", params={"sessionId": session})
        sizes: list[int] = []
        answered = False
        while not (answered and model.entries[-1]["kind"] == "stop"):
            message = client.read()
            if message.get("id") == 6:
                answered = True
                assert message["result"]["rev"] == model.rev, "an answer ran ahead of what was told"
            elif message.get("method") == "acp/thread/changed":
                sizes += [len(op.get("text", "")) for op in message["params"]["ops"]]
                model.changed(message["params"])
        assert model.entries[-1]["stopReason"] == "cancelled"
        assert max(sizes) > 10_000, "what piled up was not merged"
        client.send(id=7, method="acp/thread/get", params={"sessionId": session})
        assert client.answer(7)["entries"] == model.entries
        said = "".join(e["text"] for e in model.entries if e["kind"] == "agent")
        assert said == "".join(f"line {number}\n" for number in range(LINES))
    finally:
        client.close()
