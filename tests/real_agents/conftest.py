"""One bridge and one running agent for all tests of one agent: clean environment, own home, no network."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from real_agents.subjects import SUBJECTS, Subject
from support.leftovers import mark, until_gone
from support.lsp_client import LspClient, Turn, rich
from support.model_server import ModelServer
from support.parts import real_agent
from support.real_agents import RealAgent

SHIPPED = Path(__file__).resolve().parents[2] / "agents.json"
Json = dict[str, Any]


@dataclass
class Workshop:
    """Where a subject works. Every test takes a folder and a session of its own."""

    subject: Subject
    client: LspClient
    model: ModelServer
    env: dict[str, str]
    folder: Path
    folders: list[Path] = field(default_factory=list)

    def new_folder(self) -> Path:
        project = self.folder / f"project-{len(self.folders)}"
        project.mkdir()
        (project / "README.md").write_text("hello world\nsecond line\n")
        self.folders.append(project)
        return project

    async def session(self) -> tuple[str, Path]:
        """(session id, its folder)."""
        project = self.new_folder()
        options = {"configOptions": self.subject.config_options} if self.subject.config_options else {}
        return await self.client.new_session(self.subject.entry, project, **options), project

    async def turn(self, session: str, project: Path, scenario: str, **params: Any) -> Turn:
        return await self.client.turn(session, prompt(project, scenario), **params)


def prompt(project: Path, scenario: str) -> str:
    """What the scripted model server goes by."""
    return f"CWD:{project} SCN:{scenario} please"


def configured(subject: Subject, agent: RealAgent, folder: Path) -> dict[str, str]:
    """Write the subject's entry, the shipped one with the program under test, and return the environment."""
    shipped = json.loads(SHIPPED.read_text())["agents"]
    entry = next(entry for entry in shipped if entry["id"] == subject.entry)
    config = folder / "config"
    config.mkdir()
    (config / "agents.json").write_text(json.dumps([{**entry, "cmd": agent.command}]))
    return {**agent.env, "ACP_BRIDGE_CONFIG_DIR": str(config)}


@pytest_asyncio.fixture(
    scope="module", loop_scope="module", params=SUBJECTS, ids=lambda subject: subject.name
)
async def workshop(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, model_server: ModelServer
) -> AsyncIterator[Workshop]:
    subject: Subject = request.param
    folder = tmp_path_factory.mktemp(subject.name)
    agent = real_agent(subject.name, model_server.url, folder / "home")
    marker, env = mark(configured(subject, agent, folder))
    try:
        async with LspClient.run(acp=rich(), env=env, root=folder) as client:
            if agent.auth_method is not None:
                method = {"agent": subject.entry, "methodId": agent.auth_method}
                await client.request("acp/agents/authenticate", method, timeout=120)
            yield Workshop(subject, client, model_server, env, folder)
            assert await client.shutdown() == 0
    finally:
        await until_gone(marker, 30)
