"""docs/configuration.md: its examples load, and it names what there is."""

import re
from pathlib import Path

import pytest

from acp_bridge.config.protocols import PROTOCOLS
from acp_bridge.config.settings import Settings

PAGE = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text("utf-8")
EXAMPLES = re.findall(r"^```json\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("example", EXAMPLES, ids=["acp.json", "agents.json", "settings.json"])
def test_an_example_loads(loaded, write, user_dir, example):
    if "defaultAgent" in example:
        write(user_dir / "settings.json", example)
        configuration = loaded()
        assert configuration.settings.default_agent == "claude-acp"
    else:
        write(user_dir / "agents.json", example)
        configuration = loaded()
        assert {server.source for server in configuration.servers.values()} == {"user", "shipped"}
    assert configuration.problems == []


def test_the_message_shown_is_the_one_told(loaded, write, user_dir):
    write(user_dir / "agents.json", [{"id": "my-agent", "cmd": ["x"], "env": {"PORT": 1}}])
    [problem] = loaded().problems
    shown = re.search(
        r"^```text\n/home/me/.config/acp-bridge/agents.json(.*?)\n```", PAGE, re.DOTALL | re.MULTILINE
    )
    assert shown
    assert str(problem) == str(user_dir / "agents.json") + shown[1]


def test_every_setting_and_protocol_is_named():
    names = {field.alias for field in Settings.model_fields.values()}
    assert names == {name for name in re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE) if name in names}
    for word in PROTOCOLS:
        assert f"`{word}`" in PAGE
