"""Which protocol words give an agent, and what is said of the others."""

from __future__ import annotations

import pytest

from acp_bridge.agents.agent import AgentError
from acp_bridge.agents.demo import DemoAgent
from acp_bridge.agents.dialects import create
from acp_bridge.config.server import AgentServer
from agents.recorder import Recorder

INFO = {"name": "test", "version": "0"}


def test_demo_is_made_from_its_entry() -> None:
    agent = create(AgentServer(id="demo", protocol="demo"), Recorder(), cwd="/w", client_info=INFO)
    assert isinstance(agent, DemoAgent)


@pytest.mark.parametrize(
    ("word", "says"), [("kandev", "does not speak yet"), ("carrier-pigeon", "is no known protocol")]
)
def test_a_word_nobody_speaks_is_a_clear_error(word: str, says: str) -> None:
    server = AgentServer(id="x", protocol=word, file="/conf/agents.json")
    with pytest.raises(AgentError) as error:
        create(server, Recorder(), cwd="/w", client_info=INFO)
    assert error.value.kind == "config"
    assert says in error.value.message
    assert "/conf/agents.json" in error.value.message
    assert "demo" in error.value.hint and "carrier" not in error.value.hint
