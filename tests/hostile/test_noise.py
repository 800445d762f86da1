"""What an agent says beside, around and instead of messages costs nothing but itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hostile.stage import hostile


@pytest.mark.parametrize("name", ["noise", "scalars", "batches"])
async def test_what_is_no_message_is_skipped(name: str, tmp_path: Path) -> None:
    async with hostile(tmp_path, name) as scene:
        session = await scene.session()
        for _ in range(2):
            turn = await scene.client.turn(session, "go")
            assert (turn.text, turn.stop_reason, turn.errors) == ("one two three", "end_turn", [])


async def test_noise_is_kept_for_the_log(tmp_path: Path) -> None:
    async with hostile(tmp_path, "noise") as scene:
        await scene.turn()
        log = await scene.client.request("acp/agents/log", {"agent": "hostile"})
    assert any(line["stream"] == "noise" and "Debug: hi" in line["text"] for line in log["lines"])


async def test_characters_split_over_writes(tmp_path: Path) -> None:
    async with hostile(tmp_path, "split_utf8") as scene:
        turn = await scene.turn()
    assert turn.text == "né 日本 😀 \u2028 \u0000 done"


async def test_a_line_of_50_mib(tmp_path: Path) -> None:
    async with hostile(tmp_path, "big_line") as scene:
        turn = await scene.turn(timeout=120)
    assert turn.stop_reason == "end_turn"
    assert len(turn.text) == (50 << 20) + 1
    assert turn.text == "0123456789abcdef" * ((50 << 20) // 16) + "!"


async def test_a_megabyte_on_stderr(tmp_path: Path) -> None:
    async with hostile(tmp_path, "stderr_flood") as scene:
        turn = await scene.turn()
        log = await scene.client.request("acp/agents/log", {"agent": "hostile"})
    assert (turn.text, turn.stop_reason) == ("before after", "end_turn")
    lines = [line["text"] for line in log["lines"] if line["stream"] == "stderr"]
    assert any(line == "007999 a line of sixty-four characters and some colour in it" for line in lines)
    assert lines[-1].startswith("xxxx")
    assert not any("\x1b" in line for line in lines)
    assert sum(map(len, lines)) < 1 << 20


async def test_a_flood_of_small_messages(tmp_path: Path) -> None:
    async with hostile(tmp_path, "flood") as scene:
        turn = await scene.turn()
    assert turn.text == "".join(f"{number}," for number in range(20000))


async def test_json_nested_too_deep(tmp_path: Path) -> None:
    """What an editor can be told arrives, what it could not is noise; nothing in between stops the thread."""
    async with hostile(tmp_path, "deep_json") as scene:
        turn = await scene.turn()
    assert turn.text.startswith("before ") and turn.text.endswith("after")
    assert turn.stop_reason == "end_turn"
    assert len(turn.tools) == len([entry for entry in turn.entries if entry["kind"] == "unknown"]) == 1


async def test_lone_surrogates(tmp_path: Path) -> None:
    """Every frame to the editor stays valid UTF-8 (the client decodes it); what is around them is kept."""
    async with hostile(tmp_path, "lone_surrogates") as scene:
        turn = await scene.turn()
    assert turn.stop_reason == "end_turn"
    assert "escaped " in turn.text and " alone " in turn.text and turn.text.endswith("end")
    assert "\ud83d" not in turn.text
    assert [tool["status"] for tool in turn.tools] == ["completed"]
    assert turn.tools[0]["title"].startswith("title ")


async def test_ids_echoed_as_strings(tmp_path: Path) -> None:
    async with hostile(tmp_path, "string_ids") as scene:
        turn = await scene.turn()
    assert (turn.text, turn.stop_reason) == ("answered", "end_turn")


async def test_answers_given_twice(tmp_path: Path) -> None:
    async with hostile(tmp_path, "answers_twice") as scene:
        session = await scene.session()
        for _ in range(2):
            turn = await scene.client.turn(session, "go")
            assert (turn.text, turn.stop_reason) == ("once ", "end_turn")
    assert [entry["kind"] for entry in scene.client.threads[session].entries] == ["user", "agent", "stop"] * 2


async def test_every_request_is_answered_with_its_very_id(tmp_path: Path) -> None:
    async with hostile(tmp_path, "odd_ids") as scene:
        turn = await scene.turn()
    expected = ["null", '"abc"', "0", "-1", "1.5", '""', "9007199254740993", '"0"']
    assert turn.text == " ".join(sorted(expected))


async def test_words_no_schema_knows(tmp_path: Path) -> None:
    """Nothing fails the turn; what can be shown is, in its place."""
    async with hostile(tmp_path, "unknown_words") as scene:
        turn = await scene.turn()
        [session_id] = scene.client.sessions
        await scene.client.wait_for(lambda: scene.client.sessions[session_id]["state"] == "idle")
        session = scene.client.sessions[session_id]
    assert turn.stop_reason == "end_turn"
    assert turn.text.startswith("before ") and turn.text.endswith("after")
    assert [tool["status"] for tool in turn.tools if tool["title"] == "odd"] == ["completed"]
    assert any("hologram" in json.dumps(entry) for entry in turn.entries if entry["kind"] == "unknown")
    assert [command["name"] for command in session["commands"]] == ["ok"]
    plans = [entry for entry in turn.entries if entry["kind"] == "plan"]
    assert [[item["content"] for item in plan["entries"]] for plan in plans][:1] == [["kept"]]
