"""The connection's life: the handshake before everything else, what ends it, and with which exit status."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from support.lsp_client import BRIDGE, TIMEOUT, LspClient, LspError

Environ = dict[str, str]
INITIALIZE = {"processId": None, "rootUri": None, "capabilities": {}}
HEAVY = (
    "pygls",
    "lsprotocol",
    "pydantic",
    "anyio",
    "acp_bridge.host.host",
    "acp_bridge.config",
    "typer",
    "rich",
)


def frame(message: Any, header: bytes = b"Content-Length") -> bytes:
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"%b: %d\r\n\r\n%b" % (header, len(body), body)


def request(number: int, method: str, params: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def talk(environ: Environ, data: bytes) -> tuple[int, dict[Any, Any], str]:
    """Send everything at once, close stdin; returns the exit status, the answers by id, stderr."""
    done = subprocess.run([*BRIDGE], input=data, capture_output=True, env=environ, timeout=TIMEOUT)
    answers: dict[Any, Any] = {}
    rest = done.stdout
    while rest:
        head, _, rest = rest.partition(b"\r\n\r\n")
        length = int(head.lower().removeprefix(b"content-length:"))
        message = json.loads(rest[:length])
        rest = rest[length:]
        if "method" not in message:
            answers[message["id"]] = message.get("result", message.get("error"))
    return done.returncode, answers, done.stderr.decode()


def test_a_person_at_a_terminal_is_told_what_this_is(environ: Environ) -> None:
    master, slave = pty.openpty()
    bridge = subprocess.Popen(
        [*BRIDGE], stdin=slave, stdout=slave, stderr=subprocess.PIPE, env=environ, text=True
    )
    os.close(slave)
    assert bridge.stderr is not None
    told = bridge.stderr.readline() + bridge.stderr.readline()
    os.close(master)
    bridge.wait(TIMEOUT)
    bridge.stderr.close()
    assert "waits for an editor" in told
    assert "acp-bridge --help" in told


def test_nothing_heavy_is_imported_before_the_handshake(environ: Environ) -> None:
    code = f"import sys, acp_bridge.faces.lsp.main; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environ, check=True)
    assert done.stdout.strip() == b"[]"


def test_initialize_is_answered_in_half_the_time_that_importing_lsprotocol_takes(environ: Environ) -> None:
    def until_answer() -> float:
        start = time.perf_counter()
        process = subprocess.Popen([*BRIDGE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ)
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(frame(request(1, "initialize", INITIALIZE)))
        process.stdin.flush()
        process.stdout.readline()
        taken = time.perf_counter() - start
        process.kill()
        process.communicate()
        return taken

    def importing() -> float:
        code = "import time; t = time.perf_counter(); import lsprotocol.types; print(time.perf_counter() - t)"
        return float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)

    pairs = [(until_answer(), importing()) for _ in range(5)]
    assert min(taken for taken, _ in pairs) <= min(limit for _, limit in pairs) / 2


async def test_the_answer_names_the_commands_and_the_protocol_version(environ: Environ) -> None:
    async with LspClient.run(env=environ) as client:
        capabilities = client.initialize_result["capabilities"]
        assert capabilities["experimental"] == {"acp": {"version": 1}}
        assert capabilities["positionEncoding"] == "utf-16"
        for name in ("ask", "newThread", "openThread", "send", "cancel", "permission.answer"):
            assert f"acpBridge.{name}" in capabilities["executeCommandProvider"]["commands"]


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        (["utf-8", "utf-16"], "utf-8"),
        (["utf-32", "utf-8"], "utf-32"),
        (["utf-7", "utf-16", "utf-8"], "utf-16"),
        (["utf-7"], "utf-16"),
        (None, "utf-16"),
        ("utf-8", "utf-16"),
    ],
)
async def test_the_position_encoding_is_the_first_one_of_the_client_that_is_known(
    environ: Environ, offered: Any, chosen: str
) -> None:
    async with LspClient.run(env=environ, capabilities={"general": {"positionEncodings": offered}}) as client:
        assert client.initialize_result["capabilities"]["positionEncoding"] == chosen


@pytest.mark.parametrize(
    "params",
    [
        {"capabilities": None, "clientInfo": "emacs", "initializationOptions": [], "workspaceFolders": 1},
        {"capabilities": {"window": [], "general": 1, "workspace": {"workspaceEdit": None}}},
        {"initializationOptions": {"acp": "yes"}, "rootUri": 3, "processId": "x"},
        None,
    ],
)
async def test_a_misshapen_handshake_is_answered_all_the_same(environ: Environ, params: Any) -> None:
    client = await LspClient.spawn(env=environ)
    result = await client.request("initialize", params)
    assert result["serverInfo"]["name"] == "acp-bridge"
    assert await client.request("acp/agents/list", {})
    await client.stop()
    assert client.process.returncode == 0


async def test_a_request_before_initialize_is_refused_and_initialize_still_works(environ: Environ) -> None:
    client = await LspClient.spawn(env=environ)
    with pytest.raises(LspError) as raised:
        await client.request("acp/agents/list", {})
    assert raised.value.code == -32002
    client.notify("textDocument/didOpen", {"nonsense": True})
    await client.initialize()
    with pytest.raises(LspError) as raised:
        await client.request("initialize", INITIALIZE)
    assert raised.value.code == -32600
    await client.stop()


async def test_requests_sent_right_behind_initialize_are_answered_in_order(environ: Environ) -> None:
    client = await LspClient.spawn(env=environ)
    waiting = [client.start_request("initialize", INITIALIZE)]
    waiting += [client.start_request("acp/agents/list", {}) for _ in range(3)]
    await asyncio.wait_for(asyncio.gather(*waiting), TIMEOUT)
    answered = [m["id"] for way, m in client.messages if way == "in" and "result" in m]
    assert answered == [1, 2, 3, 4]
    await client.stop()


async def test_exit_after_shutdown_is_0(environ: Environ) -> None:
    async with LspClient.run(env=environ) as client:
        assert await client.shutdown() == 0


async def test_exit_without_shutdown_is_1(environ: Environ) -> None:
    async with LspClient.run(env=environ) as client:
        client.notify("exit", None)
        assert await asyncio.wait_for(client.process.wait(), TIMEOUT) == 1


async def test_after_shutdown_only_exit_is_served(environ: Environ) -> None:
    async with LspClient.run(env=environ) as client:
        await client.request("shutdown", None)
        with pytest.raises(LspError) as raised:
            await client.request("acp/agents/list", {})
        assert raised.value.code == -32600
        client.notify("exit", None)
        assert await asyncio.wait_for(client.process.wait(), TIMEOUT) == 0


def test_the_end_of_stdin_ends_the_bridge_and_what_was_asked_is_answered(environ: Environ) -> None:
    asked = frame(request(1, "initialize", INITIALIZE)) + frame(request(2, "shutdown"))
    status, answers, _ = talk(environ, asked)
    assert (status, answers[2]) == (0, None)
    assert talk(environ, frame(request(1, "initialize", INITIALIZE)))[0] == 1
    assert talk(environ, b"")[0] == 1


async def test_a_process_id_that_is_not_visible_is_not_watched(environ: Environ) -> None:
    gone = await asyncio.create_subprocess_exec("true")
    await gone.wait()
    async with LspClient.run(env=environ, processId=gone.pid) as client:
        assert await client.request("acp/agents/list", {})


def test_a_header_in_small_letters_is_understood(environ: Environ) -> None:
    asked = frame(request(1, "initialize", INITIALIZE), b"content-length") + frame(request(2, "shutdown"))
    assert talk(environ, asked)[1][2] is None


def test_what_is_no_json_is_answered_with_a_parse_error_and_costs_nothing_else(environ: Environ) -> None:
    asked = frame(request(1, "initialize", INITIALIZE)) + frame(b"{nonsense") + frame(request(2, "shutdown"))
    status, answers, _ = talk(environ, asked)
    assert answers[None]["code"] == -32700
    assert (status, answers[2]) == (0, None)


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["--config"], "--config needs a value"),
        (["--log-level", "loud"], "--log-level is one of"),
        (["--port", "1"], "unknown argument '--port'"),
    ],
)
def test_a_bad_argument_is_told_with_the_usage(environ: Environ, argv: list[str], words: str) -> None:
    done = subprocess.run([*BRIDGE, *argv], capture_output=True, text=True, env=environ, timeout=TIMEOUT)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr and "usage: acp-bridge lsp" in done.stderr


async def test_a_configuration_file_of_the_command_line_counts_and_its_faults_are_told(
    environ: Environ, tmp_path: Path
) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text('{"agent_servers": {"Mine": {"command": "mine-agent", "args": []}}}')
    bad.write_text("{no json")
    argv = [*BRIDGE, "--stdio", "--config", str(good), f"--config={bad}"]
    async with LspClient.run(argv, env=environ) as client:
        agents = (await client.request("acp/agents/list", {}))["agents"]
        assert "Mine" in [agent["id"] for agent in agents]
        [told] = await client.wait_for(lambda: client.received("window/showMessage"))
        assert str(bad) in told["message"]
