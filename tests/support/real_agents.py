"""How a test starts a real agent without a network: its program, its home, the model server's address.

Each agent's own settings file is written into `home`, so that it finds no key, account or configuration of
whoever runs the tests. Start it with exactly the environment given here: PATH and HOME are in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.parts import PARTS


@dataclass(frozen=True)
class RealAgent:
    """What to launch. `auth_method` is the ACP method to authenticate with first, if any."""

    command: list[str]
    env: dict[str, str]
    cwd: str
    auth_method: str | None = None


@dataclass(frozen=True)
class _Settings:
    arguments: list[str] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    on_node: bool = False
    auth_method: str | None = None


def settle(name: str, url: str, home: Path) -> RealAgent:
    """Write the settings of agent `name` under `home`, pointed at the model server `url`."""
    home.mkdir(parents=True, exist_ok=True)
    settings = SETTINGS[name](url, home)
    node = PARTS["node24"].path
    program = [str(PARTS[name].path)]
    env = {
        "PATH": f"{node.parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        **settings.env,
    }
    command = [*([str(node)] if settings.on_node else []), *program, *settings.arguments]
    return RealAgent(command, env, str(home), settings.auth_method)


def _write(path: Path, content: str | dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))


def _opencode(url: str, home: Path) -> _Settings:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Fake",
        "options": {"baseURL": f"{url}/v1", "apiKey": "fake-key"},
        "models": {"fake-model": {"name": "Fake model"}, "fake-model-2": {"name": "Fake 2"}},
    }
    settings = {
        "autoupdate": False,
        "share": "disabled",
        "model": "fake/fake-model",
        "small_model": "fake/fake-model",
        "permission": {"edit": "ask", "bash": "ask"},
        "provider": {"fake": provider},
    }
    _write(home / ".config/opencode/opencode.json", settings)
    return _Settings(["acp"], {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"})


def _claude(url: str, home: Path) -> _Settings:
    approved = {"approved": ["sk-ant-fake"], "rejected": []}
    _write(home / ".claude.json", {"hasCompletedOnboarding": True, "customApiKeyResponses": approved})
    env = {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "sk-ant-fake",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
    }
    return _Settings(env=env, on_node=True)


CODEX_SETTINGS = """\
model = "gpt-5.5"
model_provider = "fake"
approval_policy = "on-request"
sandbox_mode = "read-only"
check_for_update_on_startup = false
[model_providers.fake]
name = "Fake"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
request_max_retries = 0
stream_max_retries = 0
[analytics]
enabled = false
"""


def _codex(url: str, home: Path) -> _Settings:
    """Codex refuses to put its sandbox helper under the temporary folder, where a test's home lies: it gets
    another one."""
    _write(home / ".codex/config.toml", CODEX_SETTINGS.format(url=url))
    (home / "tmp").mkdir(exist_ok=True)
    key = "sk-fake"
    env = {"FAKE_KEY": key, "OPENAI_API_KEY": key, "CODEX_API_KEY": key, "TMPDIR": str(home / "tmp")}
    return _Settings(env=env, auth_method="openai-api-key")


def _gemini(url: str, home: Path) -> _Settings:
    security = {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}}
    settings = {
        "security": security,
        "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
    }
    _write(home / ".gemini/settings.json", settings)
    env = {"GEMINI_API_KEY": "fake-key", "GOOGLE_GEMINI_BASE_URL": url, "NO_COLOR": "1"}
    return _Settings(["--acp"], env, on_node=True, auth_method="gemini-api-key")


SETTINGS: dict[str, Callable[[str, Path], _Settings]] = {
    "opencode": _opencode,
    "claude-agent-acp": _claude,
    "codex-acp": _codex,
    "gemini": _gemini,
}
