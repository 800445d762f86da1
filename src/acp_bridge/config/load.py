"""`load`: every place that may describe agents, in order of precedence, as one `Configuration`.

Highest first: `--config` files (the last one first), the editor's user settings, the trusted project (its
editor settings, then its `.acp-bridge/`), the user's folder, the shipped agents. An id set in a higher place
replaces the whole entry. What an untrusted project says is not even read. Loading never raises for what
stands in a file: everything that cannot be used is a `Problem`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from acp_bridge.config import acp_json
from acp_bridge.config.entries import Entries, Place
from acp_bridge.config.files import read_entries, read_file, read_json
from acp_bridge.config.paths import (
    ACP_JSON,
    AGENTS_JSON,
    PROJECT_FOLDER,
    SETTINGS_JSON,
    expand_home,
    shipped_agents,
    user_folder,
)
from acp_bridge.config.problems import Problem, json_kind
from acp_bridge.config.server import AgentServer, Source
from acp_bridge.config.settings import Settings, merge

_EDITOR: Final = "editor settings"
_WORKSPACE: Final = "workspace settings"


@dataclass(frozen=True, slots=True)
class Configuration:
    """`servers` by id, highest place first and in file order within one; `problems` in order of discovery."""

    servers: dict[str, AgentServer]
    problems: list[Problem]
    settings: Settings


def load(
    *,
    flags: Sequence[Path] = (),
    editor: Mapping[str, Any] | None = None,
    project: Path | None = None,
    trusted: bool = False,
    user_dir: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> Configuration:
    """Read all configuration.

    `flags` are the files of `--config`, in the order given. `editor` is `initializationOptions.acp`; its
    `trusted: true` counts as `trusted`. `project` is the workspace folder. `environ` is what `~` and
    $ACP_BRIDGE_CONFIG_DIR are looked up in.
    """
    known_environ = os.environ if environ is None else environ
    loader = _Loader(editor or {}, project, trusted, user_dir or user_folder(known_environ), known_environ)
    return loader.load(flags)


class _Loader:
    def __init__(
        self,
        editor: Mapping[str, Any],
        project: Path | None,
        trusted: bool,
        user_dir: Path | None,
        environ: Mapping[str, str],
    ) -> None:
        self.editor = editor
        self.project = project
        self.trusted = trusted or editor.get("trusted") is True
        self.user_dir = user_dir
        self.environ = environ
        self.problems: list[Problem] = []

    def load(self, flags: Sequence[Path]) -> Configuration:
        servers: dict[str, AgentServer | None] = {}
        workspace = self._workspace()
        for entries in self._places(flags, workspace):
            self.problems += entries.problems
            servers = servers | {key: entries.servers[key] for key in entries.servers if key not in servers}
        usable = {key: server for key, server in servers.items() if server is not None}
        return Configuration(usable, self.problems, self._settings(workspace, usable))

    def _places(self, flags: Sequence[Path], workspace: Mapping[str, Any]) -> Iterator[Entries]:
        for flag in reversed(flags):
            path = Path(expand_home(str(flag), self.environ)).absolute()
            yield read_file(path, self._place("flag", str(path)), required=True)
        yield self._editor_servers(self.editor, "editor", _EDITOR)
        if self.trusted:
            yield self._editor_servers(workspace, "project", _WORKSPACE)
            if self.project:
                yield self._folder(self.project / PROJECT_FOLDER, "project")
        if self.user_dir:
            yield self._folder(self.user_dir, "user")
        else:
            yield Entries({}, [_no_home()])
        yield self._shipped()

    def _shipped(self) -> Entries:
        try:
            name, content = shipped_agents()
        except OSError as error:
            hint = "install acp-bridge again"
            return Entries({}, [Problem(AGENTS_JSON, "", "", f"shipped file cannot be read: {error}", hint)])
        return read_entries(content, self._place("shipped", name))

    def _place(self, source: Source, file: str) -> Place:
        return Place(source, file, self.environ)

    def _editor_servers(self, options: Mapping[str, Any], source: Source, name: str) -> Entries:
        servers = options.get("agentServers")
        if servers is None:
            return Entries()
        return acp_json.read(servers, self._place(source, name), "agentServers")

    def _folder(self, folder: Path, source: Source) -> Entries:
        """Both files of one folder; acp.json beats agents.json."""
        acp_path, agents_path = folder / ACP_JSON, folder / AGENTS_JSON
        found = read_file(acp_path, self._place(source, str(acp_path)))
        kandev = read_file(agents_path, self._place(source, str(agents_path)))
        found.problems += kandev.problems
        for key, server in kandev.servers.items():
            if key in found.servers:
                message = f"stands in {ACP_JSON} of this folder too, which counts"
                hint = "remove one of the two"
                found.problems.append(Problem(str(agents_path), key, "", message, hint, "warning"))
            else:
                found.servers[key] = server
        return found

    def _workspace(self) -> Mapping[str, Any]:
        """`workspace` of the editor if it counts. Reports what is ignored for want of trust."""
        if not isinstance(self.editor.get("trusted", False), bool):
            message = "must be true or false; the folder is taken as not trusted"
            self.problems.append(Problem(_EDITOR, "", "trusted", message))
        workspace = self.editor.get("workspace")
        if workspace is not None and not isinstance(workspace, Mapping):
            message = f"must be an object, not {json_kind(workspace)}"
            self.problems.append(Problem(_EDITOR, "", "workspace", message))
            workspace = None
        if self.trusted:
            return workspace or {}
        if workspace and any(workspace.values()):
            self.problems.append(_ignored(_WORKSPACE))
        if self.project:
            folder = self.project / PROJECT_FOLDER
            present = [folder / name for name in (ACP_JSON, AGENTS_JSON) if os.path.lexists(folder / name)]
            self.problems += [_ignored(str(path)) for path in present]
        return {}

    def _settings(self, workspace: Mapping[str, Any], usable: Mapping[str, AgentServer]) -> Settings:
        path = self.user_dir / SETTINGS_JSON if self.user_dir else None
        value, problems = read_json(path) if path else (None, [])
        layers = [
            (str(path), value),
            (f"{_WORKSPACE}: settings", workspace.get("settings")),
            (f"{_EDITOR}: settings", self.editor.get("settings")),
        ]
        settings, more = merge(layers)
        self.problems += problems + more
        chosen = settings.default_agent
        if chosen and chosen not in usable:
            place = next(name for name, raw in reversed(layers) if _sets(raw, "defaultAgent", chosen))
            hint = f"known: {', '.join(usable)}"
            self.problems.append(Problem(place, "", "defaultAgent", f"there is no agent {chosen!r}", hint))
        return settings


def _no_home() -> Problem:
    message = "your configuration folder is not known, so nothing of yours is read"
    hint = "set ACP_BRIDGE_CONFIG_DIR to an absolute path"
    return Problem("environment", "", "", message, hint, "warning")


def _ignored(what: str) -> Problem:
    message = "is ignored, because the folder is not trusted"
    hint = "read it, then trust the workspace in your editor"
    return Problem(what, "", "", message, hint, "warning")


def _sets(raw: Any, key: str, value: Any) -> bool:
    return isinstance(raw, Mapping) and raw.get(key) == value
