"""The two pages on Neovim name every command, key, option and highlight there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.neovim import PLUGIN

DOCS = Path(__file__).resolve().parents[3] / "docs" / "neovim.md"
HELP = PLUGIN / "doc" / "acp_bridge.txt"
LUA = PLUGIN / "lua" / "acp_bridge"

COMMANDS = re.findall(r"^command\('(\w+)'", (PLUGIN / "plugin" / "acp_bridge.lua").read_text(), re.MULTILINE)
TYPES = (LUA / "config.lua").read_text().split("local types = {")[1].split("\n}")[0]
OPTIONS = re.findall(r"^  (\w+) = ", TYPES, re.MULTILINE)
KEYS = re.findall(r"^  map\('([^']+)'", (LUA / "chat.lua").read_text(), re.MULTILINE)
GROUPS = re.findall(r"^  (AcpBridge\w+) = ", (LUA / "highlights.lua").read_text(), re.MULTILINE)


@pytest.mark.parametrize("page", [DOCS, HELP], ids=lambda page: page.name)
def test_commands_options_and_keys_are_documented(page: Path) -> None:
    text = page.read_text()
    assert len(COMMANDS) > 8 and len(OPTIONS) > 5 and len(KEYS) > 5
    named = [f":AcpBridge{name}" for name in COMMANDS] + OPTIONS + KEYS
    assert [name for name in named if name != "g?" and name not in text] == []


def test_highlights_are_documented_and_no_others_are_used() -> None:
    text = HELP.read_text()
    assert [group for group in GROUPS if group not in text] == []
    used = {name for file in LUA.glob("*.lua") for name in re.findall(r"AcpBridge[A-Z]\w+", file.read_text())}
    commands = {f"AcpBridge{name}" for name in COMMANDS}
    assert used - commands - set(GROUPS) == set()
