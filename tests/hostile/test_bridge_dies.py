"""However the bridge ends, nothing it started outlives it: not even grandchildren that ignore SIGTERM."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hostile.stage import environment, program
from support.leftovers import marked, until_gone
from support.lsp_client import LspClient, rich

STUBBORN_CHILDREN = 3


@asynccontextmanager
async def busy(folder: Path, *, process_id: int | None = None) -> AsyncIterator[tuple[LspClient, str]]:
    """A bridge in mid-turn whose agent has stubborn children; yields it and the marker."""
    marker, env = environment(folder)
    client = await LspClient.spawn(env=env)
    try:
        servers = {"hostile": program("leaves_children")}
        await client.initialize(acp=rich(servers), processId=process_id or os.getpid())
        session = await client.new_session("hostile", folder)
        await client.prompt(session, "wait")
        await client.wait_for(lambda: any(e["kind"] == "agent" for e in client.threads[session].entries))
        assert len(marked(marker)) >= 2 + STUBBORN_CHILDREN
        yield client, marker
        await until_gone(marker)
    finally:
        if client.process.returncode is None:
            client.process.kill()
        await client.stop()
        await until_gone(marker)


@pytest.mark.parametrize(
    "end", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT], ids=lambda s: s.name
)
async def test_a_signal(end: signal.Signals, tmp_path: Path) -> None:
    async with busy(tmp_path) as (client, _):
        client.process.send_signal(end)
        await asyncio.wait_for(client.process.wait(), 20)


async def test_the_end_of_its_input(tmp_path: Path) -> None:
    async with busy(tmp_path) as (client, _):
        assert client.process.stdin is not None
        client.process.stdin.close()
        await asyncio.wait_for(client.process.wait(), 20)


async def test_exit_without_shutdown(tmp_path: Path) -> None:
    async with busy(tmp_path) as (client, _):
        client.notify("exit", None)
        assert await asyncio.wait_for(client.process.wait(), 20) == 1


async def test_shutdown_and_exit(tmp_path: Path) -> None:
    async with busy(tmp_path) as (client, _):
        assert await client.shutdown() == 0


async def test_the_death_of_the_editor_whose_process_id_it_has(tmp_path: Path) -> None:
    editor = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    try:
        async with busy(tmp_path, process_id=editor.pid) as (client, _):
            editor.kill()
            editor.wait()
            await asyncio.wait_for(client.process.wait(), 30)
    finally:
        editor.kill()
        editor.wait()


async def test_children_of_a_finished_turn_end_with_the_agent(tmp_path: Path) -> None:
    marker, env = environment(tmp_path)
    async with LspClient.run(acp=rich({"hostile": program("leaves_children")}), env=env) as client:
        session = await client.new_session("hostile", tmp_path)
        assert (await client.turn(session, "go")).stop_reason == "end_turn"
        assert len(marked(marker)) >= 2 + STUBBORN_CHILDREN
        await client.request("acp/agents/restart", {"agent": "hostile"})
        await client.wait_for(lambda: client.agents["hostile"]["state"] == "running")
        await client.shutdown()
        await until_gone(marker)
