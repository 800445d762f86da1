"""One bridge with one hostile agent, for a test: `async with hostile(tmp_path, "noise") as scene`.

On leaving, the bridge is shut down in order, must exit with status 0, and no process that carries the scene's
marker in its environment may be left: neither the agent, nor its children, nor a guard.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.leftovers import mark, until_gone
from support.lsp_client import Choice, LspClient, Turn, rich

AGENTS = Path(__file__).parent / "agents"
Json = dict[str, Any]


def program(name: str, *args: str, **env: str) -> Json:
    """The `agentServers` entry of a program in agents/."""
    return {"command": sys.executable, "args": [str(AGENTS / f"{name}.py"), *args], "env": env}


def environment(folder: Path) -> tuple[str, dict[str, str]]:
    """(marker, environment) of a bridge that sees no configuration but the test's."""
    marker, env = mark()
    home = folder / "home"
    home.mkdir(exist_ok=True)
    return marker, {**env, "HOME": str(home), "ACP_BRIDGE_CONFIG_DIR": str(home / "acp-bridge")}


@dataclass
class Scene:
    """`project` is the session's folder; `client` the editor; `marker` what every process here carries."""

    client: LspClient
    project: Path
    marker: str

    async def session(self, agent: str = "hostile") -> str:
        return await self.client.new_session(agent, self.project)

    async def turn(self, prompt: str = "go", *, on_permission: Choice = None, **params: Any) -> Turn:
        """A new session and one turn in it."""
        return await self.client.turn(await self.session(), prompt, on_permission=on_permission, **params)


@asynccontextmanager
async def hostile(folder: Path, name: str, *args: str, **env: str) -> AsyncIterator[Scene]:
    async with bridge(folder, {"hostile": program(name, *args, **env)}) as scene:
        yield scene


@asynccontextmanager
async def bridge(folder: Path, servers: Json) -> AsyncIterator[Scene]:
    project = folder / "project"
    project.mkdir(exist_ok=True)
    marker, env = environment(folder)
    try:
        async with LspClient.run(acp=rich(servers), env=env, root=project) as client:
            yield Scene(client, project, marker)
            assert await client.shutdown() == 0
    finally:
        await until_gone(marker)
