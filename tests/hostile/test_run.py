"""The same faults at the command line: `acp-bridge run --json` ends, with the right last line and status."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hostile.stage import AGENTS, environment
from support.leftovers import marked, until_gone

Json = dict[str, Any]


@dataclass
class Ended:
    """Status, the JSON lines of stdout, stderr."""

    status: int
    lines: list[Json]
    stderr: str

    @property
    def text(self) -> str:
        ops = [op for line in self.lines if line["event"] == "ops" for op in line["ops"]]
        puts = "".join(
            op["entry"].get("text", "") for op in ops if op["op"] == "put" and op["entry"]["kind"] == "agent"
        )
        return puts + "".join(op["text"] for op in ops if op["op"] == "append" and op["field"] == "text")


async def run(folder: Path, name: str, *args: str, flags: tuple[str, ...] = (), interrupts: int = 0) -> Ended:
    """`acp-bridge run --json --agent-command …`, interrupted so many times once the agent has spoken."""
    marker, env = environment(folder)
    command = " ".join([sys.executable, str(AGENTS / f"{name}.py"), *args])
    argv = [
        "-m",
        "acp_bridge",
        "run",
        "--json",
        "--cwd",
        str(folder),
        "--agent-command",
        command,
        *flags,
        "go",
    ]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *argv,
        env=env,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=100 << 20,
    )
    assert process.stdout is not None and process.stderr is not None
    errors = asyncio.ensure_future(process.stderr.read())
    lines = []
    try:
        async for line in process.stdout:
            lines.append(json.loads(line))
            if interrupts and b'"kind":"agent"' in line:
                for number in range(interrupts):
                    process.send_signal(signal.SIGINT)
                    await asyncio.sleep(0.5 * (number + 1 < interrupts))
                interrupts = 0
        status = await asyncio.wait_for(process.wait(), 60)
        return Ended(status, lines, (await errors).decode())
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        await until_gone(marker)


@pytest.mark.parametrize("name", ["noise", "scalars", "batches", "string_ids", "early_updates", "deep_json"])
async def test_noise_changes_nothing(name: str, tmp_path: Path) -> None:
    ended = await asyncio.wait_for(run(tmp_path, name), 60)
    assert (ended.status, ended.lines[-1]) == (0, {"event": "end", "stopReason": "end_turn"})
    assert next(line for line in ended.lines if line["event"] != "log")["event"] == "session"


async def test_noise_and_stderr_are_told(tmp_path: Path) -> None:
    ended = await asyncio.wait_for(run(tmp_path, "noise"), 60)
    told = [line for line in ended.lines if line["event"] == "log"]
    assert any(line["stream"] == "noise" and "Debug: hi" in line["text"] for line in told)


@pytest.mark.parametrize(("how", "word"), [("exit3", "3"), ("kill", "SIGKILL")])
async def test_death(how: str, word: str, tmp_path: Path) -> None:
    ended = await asyncio.wait_for(run(tmp_path, "dies", how), 60)
    assert ended.status == 1
    assert ended.lines[-1]["event"] == "error"
    assert ended.lines[-1]["error"]["code"] == "agentDied"
    assert word in ended.lines[-1]["error"]["message"]
    assert ended.text == "so far "


async def test_no_acp(tmp_path: Path) -> None:
    ended = await asyncio.wait_for(run(tmp_path, "no_acp"), 60)
    assert (ended.status, ended.lines[-1]["error"]["code"]) == (1, "agentSpeaksNoAcp")


async def test_an_http_status(tmp_path: Path) -> None:
    ended = await asyncio.wait_for(run(tmp_path, "http_error"), 60)
    assert (ended.status, ended.lines[-1]["event"]) == (1, "error")
    assert "rate limit of the model" in ended.lines[-1]["error"]["message"]


async def test_an_unknown_stop_reason(tmp_path: Path) -> None:
    ended = await asyncio.wait_for(run(tmp_path, "odd_answers", "unknown"), 60)
    assert (ended.status, ended.lines[-1]["stopReason"]) == (1, "quantum_leap")


async def test_refusal(tmp_path: Path) -> None:
    ended = await asyncio.wait_for(run(tmp_path, "koog_refusal"), 60)
    assert (ended.status, ended.lines[-1]) == (3, {"event": "end", "stopReason": "refusal"})


@pytest.mark.parametrize(("choice", "said"), [("allow", "yes"), ("reject", "no")])
async def test_a_permission_before_its_tool_call(choice: str, said: str, tmp_path: Path) -> None:
    ended = await asyncio.wait_for(run(tmp_path, "permission_first", flags=("--permission", choice)), 60)
    assert (ended.status, ended.text) == (0, said)
    asked = [line for line in ended.lines if line["event"] == "permission"]
    assert [line["outcome"] for line in asked] == [{"outcome": "selected", "optionId": said}]


async def test_one_interrupt_cancels(tmp_path: Path) -> None:
    ended = await asyncio.wait_for(run(tmp_path, "permission_after_cancel", interrupts=1), 60)
    assert (ended.status, ended.lines[-1]) == (130, {"event": "end", "stopReason": "cancelled"})


async def test_a_second_interrupt_ends_an_agent_that_is_deaf(tmp_path: Path) -> None:
    ended = await asyncio.wait_for(run(tmp_path, "ignores_cancel", interrupts=2), 60)
    assert ended.status == 130


async def test_allow_never_leaves_the_roots(tmp_path: Path) -> None:
    project, target = tmp_path / "project", tmp_path / "outside"
    project.mkdir()
    target.mkdir()
    (target / "secret.txt").write_text("secret")
    (project / "link").symlink_to(target)
    flags = ("--permission", "allow", "--cwd", str(project))
    ended = await asyncio.wait_for(run(tmp_path, "escapes", str(tmp_path), flags=flags), 60)
    assert ended.status in (0, 130)
    assert sorted(path.name for path in target.iterdir()) == ["secret.txt"]


async def test_an_interrupt_before_the_handshake_is_over(tmp_path: Path) -> None:
    marker, env = environment(tmp_path)
    program = AGENTS / "silent.py"
    argv = ["run", "--json", "--cwd", str(tmp_path), "--agent-command", f"{sys.executable} {program}", "go"]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "acp_bridge", *argv, env=env, stdin=asyncio.subprocess.DEVNULL
    )
    while str(program) not in " ".join(command for command in marked(marker).values() if "-c" not in command):
        await asyncio.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert await asyncio.wait_for(process.wait(), 30) == 130
    await until_gone(marker)
