"""Every recorded conversation through the bridge: an editor on one side, the agent on the other.

The driver is the recorded client at an editor's place: session/new, prompts, permission answers and cancels
as they were. Before each of its steps, and at the end, the thread the editor holds must equal what `reducer`
makes of the recording up to there: texts, tool titles and statuses, plans, errors, stop reasons.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from replay.conversation import Conversation, load, names
from replay.reducer import Session, reduce
from support.leftovers import mark, until_gone
from support.lsp_client import LspClient, LspError, rich

AGENT = Path(__file__).with_name("replay_agent.py")
RECORDINGS = names()
Json = dict[str, Any]


class Stage:
    """One bridge and the recordings of one agent, each an agent of its own with a folder of its own."""

    def __init__(self, client: LspClient, conversations: dict[str, Conversation], folder: Path) -> None:
        self.client = client
        self.conversations = conversations
        self.folder = folder

    def report(self, name: str) -> Json:
        path = self.folder / name / "report.json"
        return json.loads(path.read_text()) if path.exists() else {"done": False, "problem": "no report"}


class Stages:
    """One stage at a time: the bridge of the last agent and backend leaves when the next one's comes."""

    def __init__(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        self._folders = tmp_path_factory
        self._key = ("", "")
        self._stage: Stage | None = None
        self._open = AsyncExitStack()

    async def of(self, agent: str, backend: str) -> Stage:
        if self._stage is None or (agent, backend) != self._key:
            await self.close()
            folder = self._folders.mktemp(agent)
            self._stage = await self._open.enter_async_context(stage(agent, backend, folder))
            self._key = agent, backend
        return self._stage

    async def close(self) -> None:
        await self._open.aclose()
        self._stage = None


@asynccontextmanager
async def stage(agent: str, backend: str, folder: Path) -> AsyncIterator[Stage]:
    own = [name for recorded, name in RECORDINGS if recorded == agent]
    conversations = {name: prepare(name, folder / name) for name in own}
    servers = {name: server(folder / name) for name in own}
    marker, env = mark()
    env |= {"ACP_BRIDGE_CONFIG_DIR": str(folder / "config"), "HOME": str(folder), "ACP_BRIDGE_IO": backend}
    async with LspClient.run(acp=rich(servers, trusted=True), env=env, root=folder) as client:
        yield Stage(client, conversations, folder)
    await until_gone(marker)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stages(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stages]:
    stages = Stages(tmp_path_factory)
    yield stages
    await stages.close()


def prepare(name: str, folder: Path) -> Conversation:
    project = folder / "project"
    project.mkdir(parents=True)
    conversation = load(name, project)
    (folder / "script.json").write_text(json.dumps(conversation.script))
    for path, text in conversation.files.items():
        Path(path).write_bytes(text.encode())
    return conversation


def server(folder: Path) -> Json:
    files = [str(AGENT), str(folder / "script.json"), str(folder / "report.json")]
    return {"command": sys.executable, "args": ["-I", "-S", *files], "env": {}}


class Driver:
    """Plays the client side of one conversation through an editor's connection."""

    def __init__(self, stage: Stage, name: str) -> None:
        self.client = stage.client
        self.stage = stage
        self.conversation = stage.conversations[name]
        self.name = name
        self.ours: dict[str, str] = {}
        self.unpaired: list[str] = []
        self.permissions: list[Any] = []

    async def play(self) -> None:
        steps = self.conversation.steps
        for at, (direction, message) in enumerate(steps):
            if direction == "<-":
                if message.get("method") == "session/request_permission":
                    self.permissions.append(message["id"])
            elif self.is_ours_to_do(message):
                await self.caught_up(at)
                await self.act(message)
        await self.caught_up(len(steps))

    def is_ours_to_do(self, message: Json) -> bool:
        """Whether the user did this; the rest (file answers, what a cancel answers) the bridge does alone."""
        if "method" in message:
            return message["method"] != "initialize"
        outcome = message.get("result", {}).get("outcome", {})
        return message["id"] in self.permissions and outcome.get("outcome") == "selected"

    async def act(self, message: Json) -> None:
        method, params = message.get("method"), message.get("params") or {}
        if method == "authenticate":
            asked = {"agent": self.name, "methodId": params["methodId"]}
            await self.client.request("acp/agents/authenticate", asked)
        elif method == "session/new":
            await self.open(message)
        elif method == "session/prompt":
            await self.client.prompt(self.ours[params["sessionId"]], params["prompt"])
        elif method == "session/cancel":
            await self.client.request("acp/session/cancel", {"sessionId": self.ours[params["sessionId"]]})
        else:
            await self.answer(message)

    async def open(self, message: Json) -> None:
        answer = next(
            m
            for d, m in self.conversation.steps
            if d == "<-" and m.get("id") == message["id"] and "method" not in m
        )
        cwd = message["params"]["cwd"]
        if "error" in answer:
            with pytest.raises(LspError) as caught:
                await self.client.new_session(self.name, cwd)
            assert (caught.value.kind == "authRequired") == (answer["error"]["code"] == -32000)
            return
        self.ours[answer["result"]["sessionId"]] = await self.client.new_session(self.name, cwd)

    async def answer(self, message: Json) -> None:
        outcome = message["result"]["outcome"]
        number = self.permissions.index(message["id"])
        request = await self.client.wait_for(
            lambda: self.asked()[number] if len(self.asked()) > number else None, why=f"permission {number}"
        )
        answer = await self.client.answer_permission(request, lambda _: outcome["optionId"])
        assert answer is not None
        assert answer["accepted"] and answer["outcome"] == outcome

    def asked(self) -> list[Json]:
        ours = set(self.ours.values())
        requests = [params["request"] for params in self.client.received("acp/permission/requested")]
        return [request for request in requests if request["sessionId"] in ours]

    async def caught_up(self, at: int) -> None:
        """Wait until the editor shows what the recording up to step `at` must look like."""
        expected = {
            session_id: session
            for session_id, session in reduce(self.conversation.steps[:at]).items()
            if session_id in self.ours
        }

        def equal() -> bool:
            departed = self.stage.report(self.name)["problem"]
            assert departed in ("", "no report"), departed
            return all(self.view(session_id) == session.entries for session_id, session in expected.items())

        try:
            await self.client.wait_for(equal, timeout=20)
        except AssertionError as error:
            raise AssertionError(self.difference(at, expected)) from error

    def difference(self, at: int, expected: dict[str, Session]) -> str:
        lines = [f"{self.name} before step {at}: {self.stage.report(self.name)['problem']}"]
        for session_id, session in expected.items():
            seen = self.view(session_id)
            if seen != session.entries:
                lines.append("recorded: " + json.dumps(session.entries)[-1500:])
                lines.append("shown:    " + json.dumps(seen)[-1500:])
        return "\n".join(lines)

    async def report(self) -> Json:
        """The agent's own; a file tells nobody that it came, so it is looked for."""
        for _ in range(1000):
            report = self.stage.report(self.name)
            if report["problem"] != "no report":
                break
            await asyncio.sleep(0.02)
        return report

    def view(self, session_id: str) -> list[list[Any]]:
        return [view(entry) for entry in self.client.threads[self.ours[session_id]].entries]


def view(entry: Json) -> list[Any]:
    """An entry of the thread in the reducer's words."""
    kind = entry["kind"]
    if kind == "user":
        return [kind, "".join(block.get("text", "") for block in entry["blocks"])]
    if kind in ("agent", "thought"):
        return [kind, entry["text"]]
    if kind == "tool":
        return [kind, entry["title"], entry["status"]]
    if kind == "plan":
        return [kind, entry["entries"]]
    return [kind, entry["stopReason"]] if kind == "stop" else [kind]


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(("agent", "name"), RECORDINGS, ids=[name for _, name in RECORDINGS])
@pytest.mark.parametrize("backend", ["asyncio", "threads"])
async def test_the_thread_is_what_was_recorded(stages: Stages, backend: str, agent: str, name: str) -> None:
    driver = Driver(await stages.of(agent, backend), name)
    await driver.play()
    for path, text in driver.conversation.written.items():
        assert Path(path).read_bytes().decode() == text
    assert (await driver.report())["problem"] == ""
