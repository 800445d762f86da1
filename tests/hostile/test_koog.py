"""One scripted agent for each way in which agents built with Koog differ, and its acp.json as documented."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from hostile.stage import bridge, environment, hostile, program
from support.leftovers import until_gone


async def test_a_repeated_tool_call_is_one_call(tmp_path: Path) -> None:
    async with hostile(tmp_path, "koog_repeats_tool_call") as scene:
        turn = await scene.turn()
    assert [(tool["title"], tool["status"]) for tool in turn.tools] == [("readFile", "completed")]
    assert turn.tools[0]["toolKind"] == "other"
    assert (turn.text, turn.stop_reason) == ("I read it.", "end_turn")


async def test_calls_that_share_an_id_are_two_calls(tmp_path: Path) -> None:
    async with hostile(tmp_path, "koog_shared_id") as scene:
        turn = await scene.turn()
    contents = [tool["content"] for tool in turn.tools]
    assert [tool["status"] for tool in turn.tools] == ["completed", "completed"]
    assert ["first" in json.dumps(contents[0]), "second" in json.dumps(contents[1])] == [True, True]
    assert all(tool["title"] for tool in turn.tools)


async def test_whole_messages(tmp_path: Path) -> None:
    async with hostile(tmp_path, "koog_whole_messages") as scene:
        turn = await scene.turn()
    assert [entry["kind"] for entry in turn.entries] == ["user", "agent", "tool", "agent", "stop"]
    assert turn.entries[3]["text"] == "Here is the whole answer,\nwith two lines."


async def test_refusal_says_refused_or_failed_and_quotes_the_last_text(tmp_path: Path) -> None:
    async with hostile(tmp_path, "koog_refusal") as scene:
        turn = await scene.turn()
    assert turn.stop_reason == "refusal"
    assert len(turn.errors) == 1
    assert "refused or failed" in turn.errors[0]["message"]
    assert "The model is overloaded" in turn.errors[0]["message"] + turn.errors[0]["detail"]


async def test_a_second_prompt_waits_for_the_first(tmp_path: Path) -> None:
    """The agent would fail it and lose the first; the queue never lets it see two."""
    async with hostile(tmp_path, "koog_second_prompt") as scene:
        client, session = scene.client, await scene.session()
        turns = [await client.prompt(session, text) for text in ("first", "second")]
        for turn in turns:
            stop = await client.wait_for(lambda turn=turn: client.stop_of(session, turn), 30)
            assert stop["stopReason"] == "end_turn"
    kinds = [(entry["turnId"], entry["kind"]) for entry in client.threads[session].entries]
    assert kinds == [(turn, kind) for turn in turns for kind in ("user", "agent", "stop")]


async def test_a_batch(tmp_path: Path) -> None:
    async with hostile(tmp_path, "koog_batches") as scene:
        turn = await scene.turn()
    assert (turn.text, turn.stop_reason) == ("from a batch", "end_turn")


async def test_no_memory_between_turns(tmp_path: Path) -> None:
    """Each prompt stands alone on the wire: nothing of the earlier ones is put before it."""
    async with hostile(tmp_path, "koog_no_memory") as scene:
        session = await scene.session()
        for word in ("first", "second"):
            turn = await scene.client.turn(session, word)
            assert turn.text == f"You said 1 block: {word}"


async def test_its_name_with_a_space_works_everywhere(tmp_path: Path) -> None:
    async with bridge(tmp_path, {"Koog Agent": program("koog_whole_messages")}) as scene:
        client = scene.client
        agents = await client.request("acp/agents/list", {})
        assert "Koog Agent" in [agent["id"] for agent in agents["agents"]]
        turn = await client.turn(await scene.session("Koog Agent"), "go")
        assert turn.stop_reason == "end_turn"
        log = await client.request("acp/agents/log", {"agent": "Koog Agent"})
        assert isinstance(log["lines"], list)


async def test_its_documented_acp_json_runs_from_the_users_folder(tmp_path: Path) -> None:
    """The entry as the document has it, `command` being the one thing a user must set."""
    marker, env = environment(tmp_path)
    launcher = tmp_path / "acp-agent"
    source = Path(__file__).parent / "agents" / "koog_whole_messages.py"
    launcher.write_text(f"#!/bin/sh\nexec '{sys.executable}' '{source}'\n")
    launcher.chmod(0o755)
    entry = {"command": str(launcher), "args": [], "env": {"OPENAI_API_KEY": "paste-your-api-key-here"}}
    config = Path(env["ACP_BRIDGE_CONFIG_DIR"])
    config.mkdir(parents=True)
    (config / "acp.json").write_text(json.dumps({"agent_servers": {"Koog Agent": entry}}))
    argv = [sys.executable, "-m", "acp_bridge", "run", "Koog Agent", "--json", "--cwd", str(tmp_path), "go"]
    ended = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout.splitlines()[-1]) == {"event": "end", "stopReason": "end_turn"}
    await until_gone(marker)
