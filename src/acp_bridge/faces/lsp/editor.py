"""One editor and the host behind it: what is loaded after the handshake, put together in one place.

`run` lives as long as the connection; leaving it stops every agent.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import TaskGroup

from acp_bridge import __version__
from acp_bridge.config.load import Configuration, load
from acp_bridge.config.problems import Problem
from acp_bridge.faces.lsp import commands, methods
from acp_bridge.faces.lsp.connection import Connection
from acp_bridge.faces.lsp.edits import Edits
from acp_bridge.faces.lsp.initialize import dig, folder_paths
from acp_bridge.faces.lsp.permissions import PermissionMessages
from acp_bridge.faces.lsp.progress import TurnProgress
from acp_bridge.faces.lsp.serve import fail, serve
from acp_bridge.faces.lsp.threadfiles import ThreadFiles
from acp_bridge.faces.lsp.ui import Ui
from acp_bridge.host.errors import HostError
from acp_bridge.host.host import Host
from acp_bridge.host.session import Session
from acp_bridge.jsonrpc.peer import IncomingCall

if TYPE_CHECKING:
    from acp_bridge.faces.lsp.standard import Standard

log = logging.getLogger(__name__)
Json = dict[str, Any]

ERROR, WARNING, INFO = 1, 2, 3


async def run(connection: Connection, configs: list[Path]) -> None:
    """Load the configuration, open the host, serve until the connection ends."""
    features = connection.features
    project = Path(features.folders[0]) if features.folders else None
    loading = partial(load, flags=configs, editor=features.acp, project=project)
    configuration = await asyncio.get_running_loop().run_in_executor(None, loading)
    client_info = {"name": "acp-bridge", "version": __version__}
    folder = str(project) if project is not None else None
    host = Host(configuration, client_info=client_info, default_cwd=folder)
    async with host.running(), anyio.create_task_group() as tasks:
        editor = Editor(connection, host, configuration, tasks)
        host.attach(editor.ui)
        editor.start()
        await connection.ended.wait()
        host.detach(editor.ui)
        tasks.cancel_scope.cancel()


class Editor:
    """What every part of this face shares: the peer, the client's features, the host, and the other parts."""

    def __init__(
        self, connection: Connection, host: Host, configuration: Configuration, tasks: TaskGroup
    ) -> None:
        self.connection = connection
        self.peer = connection.peer
        self.features = connection.features
        self.documents = connection.documents
        self.host = host
        self.settings = configuration.settings
        self.problems = configuration.problems
        self.selected_agent: str | None = None
        self.edits = Edits(self.peer, self.features)
        self.documents.edits = self.edits
        self.threads = ThreadFiles(self)
        self.permissions = PermissionMessages(self)
        self.progress = TurnProgress(self)
        self.ui = Ui(self)
        self._tasks = tasks
        self._standard: Standard | None = None
        self._for_standard: list[IncomingCall] = []

    def start(self) -> None:
        """Serve what waited, tell what is wrong in the configuration, load the standard features."""
        self._report(self.problems)
        self.spawn(self.permissions.run)
        self.connection.attach(self)
        self.spawn(self._load_standard)
        self.spawn(self._resolve_environ)

    async def _resolve_environ(self) -> None:
        """Ask the login shell ahead of the first agent: what is available depends on its PATH."""
        await self.host.resolved_environ()

    def spawn(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run a coroutine in the connection's task group; what it raises is logged and harms nobody else."""
        self._tasks.start_soon(_guarded, work)

    def request(self, call: IncomingCall) -> None:
        if call.method.startswith("acp/"):
            serve(call, partial(methods.work, self, call.method, call.params), self.spawn)
        elif call.method == "workspace/executeCommand":
            serve(call, partial(commands.work, self, call.params), self.spawn)
        elif self._standard is None:
            self._for_standard.append(call)
        else:
            self._standard.request(call)

    def notification(self, method: str, params: Any) -> None:
        if method == "window/workDoneProgress/cancel":
            self.progress.cancelled(dig(params, "token"))
        elif method == "workspace/didChangeWorkspaceFolders":
            gone = folder_paths(dig(params, "event", "removed"))
            came = folder_paths(dig(params, "event", "added"))
            self.features.folders = [folder for folder in self.features.folders if folder not in gone] + came

    def drained(self) -> None:
        self.host.drained(self.ui)

    def label(self, agent_id: str) -> str:
        """The agent's name for people."""
        return self.host.runner(agent_id).label

    def tell(self, severity: int, text: str) -> None:
        """Show one message to the user, in plain LSP."""
        self.peer.notify("window/showMessage", {"type": severity, "message": text})

    def tell_error(self, what: str, error: HostError) -> None:
        """Show why something failed and what to try."""
        hint = f" ({error.hint})" if error.hint else ""
        self.tell(ERROR, f"{what}: {error.message}{hint}")

    def folder(self, cwd: str | None, uri_path: str | None = None) -> str:
        """The folder a session works in: `cwd` as given, else the workspace folder of a file, else the first,
        else the one the editor started us in.

        The host refuses what is no folder.
        """
        if cwd is not None:
            return cwd
        folders = self.features.folders
        if uri_path is not None:
            inside = [folder for folder in folders if Path(uri_path).is_relative_to(folder)]
            if inside:
                return max(inside, key=len)
            if not folders:
                return str(Path(uri_path).parent)
        return folders[0] if folders else str(Path.cwd())

    def session_of(self, session_id: str | None, uri: str | None) -> Session:
        """By id, by thread file, else the newest. Raises HostError unknownSession or notFound."""
        if session_id is not None:
            return self.host.session(session_id)
        if uri is not None:
            return self.threads.session_at(uri)
        sessions = [session for session in self.host.sessions.values() if session.published]
        if not sessions:
            raise HostError("unknownSession", "there is no session yet", "start one with acpBridge.newThread")
        return sessions[-1]

    def agent(self, agent: str | None) -> str:
        """The agent asked for, else the one selected, else the default. Raises HostError."""
        return agent or self.selected_agent or self.host.default_agent()

    async def _load_standard(self) -> None:
        make = await asyncio.get_running_loop().run_in_executor(None, _import_standard)
        try:
            self._standard = standard = make(self)
        except Exception as error:
            for call in self._for_standard:
                fail(call, error)
            raise
        waiting, self._for_standard = self._for_standard, []
        for call in waiting:
            standard.request(call)

    def _report(self, problems: list[Problem]) -> None:
        if not problems:
            return
        for problem in problems:
            log.warning("configuration: %s", problem)
        told = "; ".join(str(problem) for problem in problems[:3])
        more = f"; and {len(problems) - 3} more in the log" if len(problems) > 3 else ""
        self.tell(WARNING, f"acp-bridge: {told}{more}")


def _import_standard() -> Callable[[Editor], Standard]:
    from acp_bridge.faces.lsp.standard import Standard

    return Standard


async def _guarded(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    try:
        await work()
    except Exception:
        log.exception("a task failed")
