"""Agent → bridge → editor, measured: `python benchmarks/streaming [MEASURE …]`.

Measures: cpu, latency, asleep, cancel, start. Each names its target and says whether it was reached; the
exit status is 1 if one was not. Ratios come from runs that alternate, so a drifting machine matters little.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rebuild import check
from routes import ROUTES, Ours, Route, Tools

MESSAGES = 200_000


def watch(route: Route, asleep: float = 0, verify: bool = True) -> dict[str, Any]:
    """Let the editor program read one whole turn; its report with the bridge's CPU seconds."""
    received = route.scratch / "received"
    route.begin()
    editor = [str(route.tools.folder / "editor"), str(received), str(asleep)]
    report = json.loads(
        subprocess.run(editor, stdin=route.process.stdout, stdout=subprocess.PIPE, check=True).stdout
    )
    report["cpu"] = route.used()  # type: ignore[attr-defined]
    if verify:
        report["bytes"] = check(received, route.scratch / "sent")
    return report


def verdict(name: str, value: float, limit: float, unit: str) -> bool:
    good = value <= limit
    print(
        f"  {'reached' if good else 'MISSED '}  {name}: {value:.2f}{unit}, target at most {limit:.2f}{unit}",
        flush=True,
    )
    return good


def cpu(tools: Tools, rounds: int) -> bool:
    """CPU a message, 200,000 small chunks as fast as they go."""
    used: dict[str, list[float]] = {name: [] for name in ROUTES}
    for _ in range(rounds):
        for name, make in ROUTES.items():
            with make(tools, ["small", str(MESSAGES), "0"]) as route:
                used[name].append(watch(route)["cpu"] / MESSAGES * 1e6)
    for name, values in used.items():
        print(f"  {name:6} {statistics.median(values):7.2f} µs a message  {[round(v, 2) for v in values]}")
    return verdict(
        "CPU a message, of the SDK's",
        statistics.median(used["ours"]) / statistics.median(used["sdk"]),
        0.25,
        " ×",
    )


def latency(tools: Tools, rounds: int) -> bool:
    """Added latency, one chunk every 5 ms."""
    seen: dict[str, list[float]] = {name: [] for name in ("ours", "relay", "sdk")}
    for _ in range(rounds):
        for name in seen:
            with ROUTES[name](tools, ["paced", "400", "5000"]) as route:
                seen[name].append(watch(route)["p50_us"])
    for name, values in seen.items():
        print(f"  {name:6} p50 {statistics.median(values):7.0f} µs  {[round(v) for v in values]}")
    ratio = statistics.median(a / b for a, b in zip(seen["ours"], seen["relay"], strict=True))
    return verdict("latency p50, of the C relay's", ratio, 6, " ×")


def asleep(tools: Tools, rounds: int) -> bool:
    """An editor that does not read for 3 s."""
    costs = []
    for _ in range(rounds):
        with Ours(tools, ["small", str(MESSAGES), "0"]) as route:
            size = watch(route, asleep=3)["bytes"]
            costs.append(route.memory("VmHWM") - route.idle_memory)
    print(
        f"  {size / 2**20:.0f} MiB of text, nothing lost; peak over idle {[round(c, 1) for c in costs]} MiB"
    )
    return verdict("memory over idle", statistics.median(costs), 40, " MiB")


def cancel(tools: Tools, rounds: int) -> bool:
    """From the editor's session/cancel to the agent's: idle, under a flood, under a flood nobody reads."""
    found = {
        what: [_cancel(tools, what) for _ in range(max(7, rounds))] for what in ("quiet", "flood", "unread")
    }
    for what, values in found.items():
        print(f"  {what:6} p50 {statistics.median(values):7.0f} µs  {[round(v) for v in values]}")
    idle = statistics.median(found["quiet"])
    good = [
        verdict(f"cancel p50, {what}", statistics.median(found[what]) / idle, 10, " ×")
        for what in ("flood", "unread")
    ]
    return all(good)


def _cancel(tools: Tools, what: str) -> float:
    with Ours(tools, ["quiet" if what == "quiet" else "flood", "0", "0"]) as route:
        route.begin()
        reader = None
        if what != "unread":
            editor = [str(tools.folder / "editor"), os.devnull]
            reader = subprocess.Popen(editor, stdin=route.process.stdout, stdout=subprocess.DEVNULL)
        time.sleep(1)
        sent = time.monotonic_ns()
        route.cancel()
        arrived = route.scratch / "cancelled"
        while not arrived.exists():
            time.sleep(0.001)
            assert time.monotonic_ns() - sent < 20e9, "session/cancel never reached the agent"
        if reader is not None:
            reader.kill()
            reader.wait()
        return (int(arrived.read_text()) - sent) / 1e3


def start(tools: Tools, rounds: int) -> bool:
    """From spawn to the answer to initialize, against importing lsprotocol.types."""
    code = "import time; t = time.perf_counter(); import lsprotocol.types; print(time.perf_counter() - t)"
    body = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}
    ).encode()
    answers, imports = [], []
    for _ in range(max(9, rounds)):
        begun = time.monotonic()
        server = subprocess.Popen(
            [sys.executable, "-m", "acp_bridge", "lsp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        assert b"Content-Length" in os.read(server.stdout.fileno(), 65536)
        answers.append(time.monotonic() - begun)
        server.kill()
        server.wait()
        imports.append(
            float(subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True).stdout)
        )
    ours, theirs = statistics.median(answers), statistics.median(imports)
    print(f"  answer after {ours * 1e3:.0f} ms; the import takes {theirs * 1e3:.0f} ms")
    return verdict("spawn to answer, of the import", ours / theirs, 0.5, " ×")


MEASURES = {"cpu": cpu, "latency": latency, "asleep": asleep, "cancel": cancel, "start": start}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("measure", nargs="*", choices=[*MEASURES, []], help="which ones (default: all)")
    parser.add_argument("--rounds", type=int, default=5)
    folder = Path(tempfile.gettempdir()) / "acp-bridge-benchmarks"
    parser.add_argument("--tools", type=Path, default=folder, help="where programs are built (%(default)s)")
    options = parser.parse_args()
    tools = Tools(options.tools)
    results = []
    for name in options.measure or MEASURES:
        print(f"{name}: {(MEASURES[name].__doc__ or '').strip()}", flush=True)
        results.append(MEASURES[name](tools, options.rounds))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
