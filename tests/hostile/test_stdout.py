"""Nothing but frames reaches the editor, whatever a library or a child process prints to stdout."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from pathlib import Path

from hostile.stage import environment, program
from support.leftovers import until_gone
from support.lsp_client import LspClient, rich

PRINTS = '''
import os, subprocess, sys

class Chatty:
    """Prints in every way there is when certain libraries are looked for."""

    def find_spec(self, name, path=None, target=None):
        if name in ("pygls.server", "lsprotocol.types", "pydantic", "anyio"):
            print("print at the import of", name, flush=True)
            sys.stdout.buffer.write(b"buffer\\n")
            sys.stdout.flush()
            os.write(1, b"file descriptor\\n")
            subprocess.run(["echo", "child process"])
        return None

sys.meta_path.insert(0, Chatty())
'''


async def test_a_library_that_prints_beside_json_lines(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(PRINTS)
    marker, env = environment(tmp_path)
    env["PYTHONPATH"] = str(tmp_path)
    entry = program("koog_whole_messages")
    command = shlex.join(["env", "PYTHONPATH=", entry["command"], *entry["args"]])
    argv = ["-m", "acp_bridge", "run", "--json", "--cwd", str(tmp_path), "--agent-command", command, "go"]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *argv,
        env=env,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, err
    events = [json.loads(line)["event"] for line in out.splitlines()]
    assert (events[0], events[-1]) == ("session", "end")
    assert b"print at the import of" in err
    await until_gone(marker)


async def test_a_library_that_prints(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(PRINTS)
    marker, env = environment(tmp_path)
    env["PYTHONPATH"] = str(tmp_path)
    servers = {"hostile": {**program("koog_whole_messages"), "env": {"PYTHONPATH": ""}}}
    async with LspClient.run(acp=rich(servers), env=env) as client:
        session = await client.new_session("hostile", tmp_path)
        assert (await client.turn(session, "go")).stop_reason == "end_turn"
        document = client.documents.open(tmp_path / "a.txt", "text")
        params = {"textDocument": {"uri": document}, "range": RANGE, "context": {"diagnostics": []}}
        await client.request("textDocument/codeAction", params)
        assert await client.shutdown() == 0
    said = "\n".join(client.stderr)
    words = ("print at the import of lsprotocol.types", "buffer", "file descriptor", "child process")
    assert [word for word in words if word not in said] == [], said[:2000]
    await until_gone(marker)


RANGE = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
