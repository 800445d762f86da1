"""All thread files of one editor: where they lie, which session each shows, what the user asked to see."""

from __future__ import annotations

import os
import re
import secrets
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from acp_bridge.faces.lsp.documents import Document, Watcher
from acp_bridge.faces.lsp.positions import Change
from acp_bridge.faces.lsp.threadfile import ThreadFile
from acp_bridge.faces.lsp.uris import path_of
from acp_bridge.host.errors import HostError
from acp_bridge.host.session import Session
from acp_bridge.jsonrpc.messages import Answer

if TYPE_CHECKING:
    from acp_bridge.faces.lsp.editor import Editor

INFO = 3
START_SECONDS = 1.0


class Start:
    """How the session of a thread is started: `agent` in `cwd`, shown in `file` (None: by the editor)."""

    def __init__(self, agent: str, cwd: str, file: ThreadFile | None) -> None:
        self.agent = agent
        self.cwd = cwd
        self.file = file
        self._error: HostError | None = None
        self._over = anyio.Event()

    @property
    def over(self) -> bool:
        """It has started, or failed."""
        return self._over.is_set()

    def begin(self) -> None:
        self._error = None
        self._over = anyio.Event()

    def end(self, error: HostError | None = None) -> None:
        self._error = error
        self._over.set()

    async def soon(self) -> None:
        """Return when it is over, or after a second. Raises the error if it failed."""
        with anyio.move_on_after(START_SECONDS):
            await self._over.wait()
        if self._error is not None:
            raise self._error


class ThreadFiles(Watcher):
    """Thread files by path and by session; `starts` by their URI."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self.starts: dict[str, Start] = {}
        self._by_path: dict[str, ThreadFile] = {}
        editor.documents.watchers.append(self)

    def create(self, agent: str, draft: str = "") -> ThreadFile:
        """A new file on the disk, ready to be written into; its session comes later."""
        day = datetime.now().strftime("%Y-%m-%d")
        word = re.sub(r"[^A-Za-z0-9]+", "-", agent).strip("-") or "agent"
        path = self._folder() / f"{day}-{word}-{secrets.token_hex(3)}.acp.md"
        live = self._editor.features.name is not None and self._editor.settings.thread_stream == "live"
        title = f"Thread with {self._editor.label(agent)}"
        file = ThreadFile(path, title, draft, self._editor, live=live)
        self._by_path[str(path)] = file
        self._editor.spawn(file.run)
        return file

    def of(self, session: Session) -> ThreadFile | None:
        """The file that shows a session."""
        return next((file for file in self._by_path.values() if file.session is session), None)

    def path_of(self, session: Session) -> str | None:
        """Its path, for telling the user."""
        file = self.of(session)
        return None if file is None else str(file.path)

    def find(self, uri: str) -> ThreadFile | None:
        """The file of that URI, if it is one of ours."""
        path = path_of(uri)
        return None if path is None else self._by_path.get(path)

    def at(self, uri: str) -> ThreadFile:
        """The same; raises HostError("notFound")."""
        file = self.find(uri)
        if file is None:
            hint = "start a thread with acpBridge.newThread and write into its file"
            raise HostError("notFound", f"{uri} is no thread of this session of the editor", hint)
        return file

    def session_at(self, uri: str) -> Session:
        """The session of a thread file. Raises HostError."""
        session = self.at(uri).session
        if session is None:
            raise HostError("unknownSession", f"{uri} has no session yet", "send a prompt first")
        return session

    def changed(self, session: Session) -> None:
        """Something of the session changed."""
        file = self.of(session)
        if file is not None:
            file.changed()

    def show(self, file: ThreadFile) -> None:
        """Open the file in the editor, or tell where it is. Never waits for the editor."""
        if not self._editor.features.show_document:
            self._tell(file)
            return
        params = {"uri": file.uri, "takeFocus": True}
        self._editor.peer.request("window/showDocument", params, partial(self._shown, file))

    def opened(self, document: Document) -> None:
        if (file := self.find(document.uri)) is not None:
            file.opened(document)

    def edited(self, document: Document, before: str, changes: list[Change]) -> None:
        if (file := self.find(document.uri)) is not None:
            file.layout.edited(document.text, changes)

    def saved(self, document: Document) -> None:
        if (file := self.find(document.uri)) is not None:
            file.saved()

    def closed(self, document: Document) -> None:
        if (file := self.find(document.uri)) is not None:
            file.closed()

    def _shown(self, file: ThreadFile, answer: Answer) -> None:
        value = None if answer.error is not None else answer.value()
        if not isinstance(value, dict) or value.get("success") is not True:
            self._tell(file)

    def _tell(self, file: ThreadFile) -> None:
        self._editor.tell(INFO, f"The thread is in {file.path}: open it to read and to write.")

    def _folder(self) -> Path:
        chosen = self._editor.settings.thread_folder
        if chosen:
            folders = self._editor.features.folders
            return Path(folders[0] if folders else Path.cwd(), Path(chosen).expanduser())
        return state_folder() / "threads"


def state_folder() -> Path:
    """Where the bridge keeps what outlives it: $ACP_BRIDGE_STATE_DIR, else the platform's state folder."""
    chosen = os.environ.get("ACP_BRIDGE_STATE_DIR")
    if chosen:
        return Path(chosen)
    from platformdirs import user_state_path

    return user_state_path("acp-bridge", appauthor=False)
