"""From an entry to argv, folder and environment: pure, one row a field."""

from __future__ import annotations

from typing import Any

import pytest

from acp_bridge.agents.acp.prepare import prepare
from acp_bridge.agents.agent import AgentError
from acp_bridge.config.server import AgentServer
from acp_bridge.launch.spec import LaunchSpec


def server(**fields: Any) -> AgentServer:
    return AgentServer(id="x", file="/conf/agents.json", **{"cmd": ["agent"], **fields})


@pytest.mark.parametrize(
    ("fields", "model", "argv"),
    [
        ({}, None, ["agent"]),
        ({"cmd": ["agent", "acp", "a b", "$HOME"]}, None, ["agent", "acp", "a b", "$HOME"]),
        ({"cmd": ["agent", "--root={workspace}"]}, None, ["agent", "--root=/w s"]),
        ({"model_flag": "--model {model}"}, "m 1", ["agent", "--model", "m 1"]),
        ({"model_flag": '-c model="{model}"'}, "m", ["agent", "-c", 'model="m"']),
        ({"model_flag": "--model={model}"}, "m", ["agent", "--model=m"]),
        ({"model_flag": "--model {model}"}, None, ["agent"]),
        ({"model_flag": "--model {model}"}, "", ["agent"]),
        ({}, "m", ["agent"]),
        ({"workspace_flag": "--workspace"}, None, ["agent", "--workspace", "/w s"]),
        ({"workspace_flag": "-w", "cmd": ["agent", "-w", "/other"]}, None, ["agent", "-w", "/other"]),
        ({"workspace_flag": "-w", "cmd": ["agent", "-w=/other"]}, None, ["agent", "-w=/other"]),
        (
            {"workspace_flag": "-w", "model_flag": "-m {model}"},
            "{workspace}",
            ["agent", "-m", "{workspace}", "-w", "/w s"],
        ),
    ],
)
def test_argv(fields: dict[str, Any], model: str | None, argv: list[str]) -> None:
    assert list(prepare(server(**fields), cwd="/w s", model=model).argv) == argv


@pytest.mark.parametrize(
    ("working_dir", "cwd"),
    [("", "/w"), ("{workspace}", "/w"), ("{workspace}/sub", "/w/sub"), ("/elsewhere", "/elsewhere")],
)
def test_folder(working_dir: str, cwd: str) -> None:
    assert prepare(server(working_dir=working_dir), cwd="/w").cwd == cwd


def test_environment_is_the_entrys_alone_and_what_acp_carries_stays_off_the_command_line() -> None:
    spec = prepare(
        server(env={"KEY": "value"}),
        cwd="/w",
        mcp_servers=[{"name": "m", "command": "/m", "args": [], "env": []}],
        resume_token="token",
        settings={"x": 1},
    )
    assert spec == LaunchSpec(argv=("agent",), cwd="/w", env={"KEY": "value"})


@pytest.mark.parametrize(
    ("fields", "field", "says"),
    [
        ({"cmd": []}, "cmd", "agent type requires either image (Docker) or cmd (standalone)"),
        ({"image": "x"}, "image", "containers"),
        ({"model_flag": "--model"}, "model_flag", "{model}"),
        ({"model_flag": '--model "{model}'}, "model_flag", "words"),
        ({"working_dir": "sub"}, "working_dir", "absolute"),
        ({"working_dir": "~/w"}, "working_dir", "absolute"),
    ],
)
def test_what_cannot_be_prepared_names_file_entry_and_field(
    fields: dict[str, Any], field: str, says: str
) -> None:
    with pytest.raises(AgentError) as error:
        prepare(server(**fields), cwd="/w", model="m")
    assert error.value.kind == "config"
    for part in ("'x'", "/conf/agents.json", field, says):
        assert part in error.value.message
    assert error.value.hint
