"""Params and results of the session calls."""

from __future__ import annotations

from typing import Any

import pytest

from acp_bridge.agents.acp import sessions
from acp_bridge.agents.agent import AgentError, Capabilities, SessionParams

STDIO = {"name": "one", "command": "/m", "args": [], "env": []}
HTTP = {"name": "two", "type": "http", "url": "https://m.example", "headers": []}
SSE = {"name": "three", "type": "sse", "url": "https://m.example", "headers": []}
NEW = {"name": "four", "type": "telepathy"}


@pytest.mark.parametrize(
    ("able", "sent", "left_out"),
    [
        (Capabilities(), [STDIO], ["two", "three", "four"]),
        (Capabilities(mcp_http=True), [STDIO, HTTP], ["three", "four"]),
        (Capabilities(mcp_http=True, mcp_sse=True), [STDIO, HTTP, SSE], ["four"]),
    ],
)
def test_mcp_servers_go_by_what_the_agent_announced(
    able: Capabilities, sent: list[dict[str, Any]], left_out: list[str]
) -> None:
    params = SessionParams(cwd="/w", mcp_servers=[STDIO, HTTP, SSE, NEW])
    assert sessions.wire_params(params, able) == ({"cwd": "/w", "mcpServers": sent}, left_out)


@pytest.mark.parametrize(
    ("can", "directories", "more"),
    [
        (False, ["/a"], {}),
        (True, [], {}),
        (True, ["/a", "/b"], {"additionalDirectories": ["/a", "/b"]}),
    ],
)
def test_additional_directories_need_the_capability(
    can: bool, directories: list[str], more: dict[str, Any]
) -> None:
    params = SessionParams(cwd="/w", additional_directories=directories)
    wire, _ = sessions.wire_params(params, Capabilities(additional_directories=can))
    assert wire == {"cwd": "/w", "mcpServers": [], **more}


@pytest.mark.parametrize("result", [None, [], {}, {"sessionId": None}, {"sessionId": ""}, {"sessionId": 5}])
def test_a_session_without_an_id_is_an_error(result: Any) -> None:
    with pytest.raises(AgentError, match="Agent A made a session without a sessionId"):
        sessions.session_id("Agent A", result)


def test_a_list_of_sessions() -> None:
    good = {"sessionId": "s", "cwd": "/w", "title": None}
    answer = {"sessions": [good, {"sessionId": "t"}, 5], "nextCursor": "opaque"}
    assert sessions.listing(answer) == {"sessions": [good], "nextCursor": "opaque"}
    assert sessions.listing({"sessions": None, "nextCursor": None}) == {"sessions": []}
    assert sessions.listing(None) == {"sessions": []}
