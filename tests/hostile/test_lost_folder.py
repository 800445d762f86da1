"""Started in a folder that has been removed meanwhile: the server serves, a command says what is wrong."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from hostile.stage import environment, program
from support.leftovers import until_gone
from support.lsp_client import LspClient, rich

IN_LOST_FOLDER = (
    "import os, sys; os.rmdir(os.getcwd()); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
)


def lost(folder: Path, *words: str) -> tuple[list[str], Path]:
    """(argv, cwd) of acp-bridge in a folder that is gone when it starts."""
    (folder / "lost").mkdir()
    return [sys.executable, "-c", IN_LOST_FOLDER, "-m", "acp_bridge", *words], folder / "lost"


async def test_a_server_works(tmp_path: Path) -> None:
    marker, env = environment(tmp_path)
    argv, cwd = lost(tmp_path, "lsp")
    acp = rich({"hostile": program("koog_whole_messages")})
    async with LspClient.run(argv, acp=acp, env=env, cwd=cwd) as client:
        session = await client.new_session("hostile", tmp_path)
        assert (await client.turn(session, "go")).stop_reason == "end_turn"
        assert await client.shutdown() == 0
    await until_gone(marker)


async def test_a_command_says_so(tmp_path: Path) -> None:
    _, env = environment(tmp_path)
    argv, cwd = lost(tmp_path, "run", "demo", "hello")
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*argv, cwd=cwd, env=env, stdout=pipe, stderr=pipe)
    out, err = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode != 0 and out == b""
    assert b"the current folder does not exist any more" in err
