"""Real agents at the command line: the documented sample request of the console client, run with a trace."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import pytest

from real_agents.conftest import Workshop

pytestmark = [pytest.mark.real_agent, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(180)]

SAMPLE = "List files in the current directory and create a new file named 'acp-test.txt'"
SAMPLE += " with the content 'Hello from ACP!'."


async def test_the_sample_request_of_the_console_client(workshop: Workshop) -> None:
    """Raw line, events and ops stand side by side in the trace, and no secret in it."""
    project = workshop.new_folder()
    trace = workshop.folder / "trace.jsonl"
    argv = ["run", "--json", "--permission", "allow", "--cwd", str(project), "--trace", str(trace)]
    told = f"{SAMPLE} (CWD:{project} SCN:sample )"
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "acp_bridge", *argv, workshop.subject.entry, told),
        env=workshop.env,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), 150)
    lines: list[dict[str, Any]] = [json.loads(line) for line in out.splitlines()]
    assert process.returncode == 0, err.decode()[-2000:]
    assert lines[-1]["event"] == "end" and lines[-1]["stopReason"] == "end_turn"
    assert (project / "acp-test.txt").read_text().rstrip("\n") == "Hello from ACP!"
    assert "Both are done." in json.dumps(lines)
    rows = [json.loads(line) for line in trace.read_text().splitlines()]
    assert all(row.keys() >= {"t", "dir", "raw", "events", "ops"} for row in rows)
    assert any("session/update" in (row["raw"] or "") and row["events"] and row["ops"] for row in rows)
    assert "sk-fake" not in trace.read_text() and "sk-ant-fake" not in trace.read_text()
