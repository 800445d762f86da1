"""The agents that come with the program: what they are, and that the built wheel has them."""

import importlib.util
import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from acp_bridge.config.availability import check
from acp_bridge.config.protocols import PROTOCOLS

ROOT = Path(__file__).parents[2]
COMMANDS = {
    "claude-acp": ["claude-agent-acp"],
    "codex-acp": ["codex-acp"],
    "gemini": ["gemini", "--acp"],
    "opencode": ["opencode", "acp"],
    "copilot": ["copilot", "--acp"],
    "auggie": ["auggie", "--acp"],
    "qwen": ["qwen", "--acp"],
    "kimi": ["kimi", "acp"],
    "vibe": ["vibe-acp"],
    "goose": ["goose", "acp"],
    "cursor": ["cursor-agent", "acp"],
    "fast-agent": ["fast-agent", "acp", "--shell"],
    "demo": [],
}
"""Looked up in each agent's own documentation and in the public ACP registry."""

KANDEV_FIELDS = json.loads((Path(__file__).parent / "data" / "kandev-gemini.json").read_text("utf-8")).keys()


def raw():
    return json.loads((ROOT / "agents.json").read_text("utf-8"))


def test_every_agent_has_its_real_command(loaded):
    configuration = loaded()
    assert configuration.problems == []
    assert {key: server.cmd for key, server in configuration.servers.items()} == COMMANDS
    assert {server.source for server in configuration.servers.values()} == {"shipped"}


def test_they_stand_in_kandevs_shape():
    assert raw()["version"] == "1.0"
    for entry in raw()["agents"]:
        assert [field for field in entry if field != "install_hint"] == list(KANDEV_FIELDS)


def test_they_speak_acp_and_no_timeout_is_set(loaded):
    for key, server in loaded().servers.items():
        assert server.protocol == ("demo" if key == "demo" else "acp")
        assert server.resource_limits.timeout_seconds is None
        assert server.enabled
        assert server.description
        assert server.label


def test_gemini_writes_its_files_itself(loaded):
    """It cannot create a file whose reading errors, so it gets neither fs capability."""
    withheld = {
        key for key, server in loaded().servers.items() if server.protocol_config.get("client_fs") is False
    }
    assert withheld == {"gemini"}


def test_on_an_empty_machine_only_the_demo_agent_is_available_and_the_others_say_how_to_get_them(
    loaded, home
):
    for key, server in loaded().servers.items():
        found = check(server, {"PATH": "", "HOME": str(home)})
        assert found.available is (key == "demo")
        assert key == "demo" or server.install_hint in found.reason


def test_the_table_of_protocol_words_is_whole():
    aliases = {word for word, meant in PROTOCOLS.items() if meant.dialect == "acp"}
    assert aliases == {"acp", "gemini", "opencode", "auggie", "copilot"}
    own = {word for word, meant in PROTOCOLS.items() if meant.dialect == word}
    assert own == {"acp", "kandev", "legacy", "claude-code", "codex", "rest", "mcp", "demo"}
    assert own | aliases == set(PROTOCOLS)


LIST_AGENTS = """
import json, acp_bridge
from acp_bridge.config.load import load
loaded = load()
print(json.dumps({"package": acp_bridge.__file__, "problems": [str(p) for p in loaded.problems],
                  "agents": {k: [s.cmd, s.file] for k, s in loaded.servers.items()}}))
"""


@pytest.mark.skipif(importlib.util.find_spec("hatchling") is None, reason="hatchling is not installed")
def test_the_built_wheel_lists_them_outside_the_checkout(tmp_path):
    wheels, venv, empty = tmp_path / "wheels", tmp_path / "venv", tmp_path / "config"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    build = [*pip, "wheel", "-q", "--no-deps", "--no-index", "--no-build-isolation", "-w", wheels, ROOT]
    subprocess.run(build, check=True, timeout=240)
    [wheel] = wheels.glob("acp_bridge_ls-*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True, timeout=120)
    python = next(
        path for path in (venv / "bin" / "python", venv / "Scripts" / "python.exe") if path.exists()
    )
    install = [*pip, "--python", python, "install", "-q", "--no-deps", "--no-index", wheel]
    subprocess.run(install, check=True, timeout=120)
    purelib = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site = Path(
        subprocess.run(purelib, check=True, timeout=60, capture_output=True, text=True).stdout.strip()
    )
    # The dependencies are lent; a .pth file found there is not followed, so the checkout stays out.
    (site / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")

    def run(*arguments):
        environ = {"PATH": "", "ACP_BRIDGE_CONFIG_DIR": str(empty), "HOME": str(tmp_path), "COLUMNS": "200"}
        command = [python, *arguments]
        return subprocess.run(
            command, check=True, timeout=120, capture_output=True, text=True, cwd=tmp_path, env=environ
        ).stdout

    told = json.loads(run("-c", LIST_AGENTS))
    assert Path(told["package"]).is_relative_to(site)
    assert told["problems"] == []
    assert {key: command for key, (command, _) in told["agents"].items()} == COMMANDS
    assert {file for _, file in told["agents"].values()} == {
        str(site / "acp_bridge" / "config" / "agents.json")
    }
    listed = run("-m", "acp_bridge", "agents", "list")
    assert set(COMMANDS) <= set(listed.split())
