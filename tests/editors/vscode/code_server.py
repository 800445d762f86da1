"""VS Code, for real: code-server with the packaged extension installed, and scenarios driven in a browser.

Everything it writes lies in one folder. Scenarios are the `.mjs` files here; each prints its steps and fails
the test at the first one that does not come true on the screen.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support import parts

HERE = Path(__file__).parent
EXTENSION_ID = "acp-bridge.acp-bridge"
READY_SECONDS = 60
SCENARIO_SECONDS = 240

USER_SETTINGS: dict[str, Any] = {
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
    "workbench.welcomePage.walkthroughs.openOnInstall": False,
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.reduceMotion": "on",
    "workbench.colorTheme": "Default Dark Modern",
    "security.workspace.trust.startupPrompt": "never",
    "telemetry.telemetryLevel": "off",
    "update.mode": "none",
    "extensions.autoUpdate": False,
    "extensions.autoCheckUpdates": False,
    "extensions.ignoreRecommendations": True,
    "chat.disableAIFeatures": True,
    "git.enabled": False,
    "files.autoSave": "off",
    "window.confirmBeforeClose": "never",
    "remote.autoForwardPorts": False,
}
SERVER_FLAGS = [
    "--auth=none",
    "--disable-telemetry",
    "--disable-update-check",
    "--disable-getting-started-override",
    "--disable-proxy",
    "--ignore-last-opened",
]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass
class CodeServer:
    """A running server. `workspace` is the folder that scenarios open."""

    root: Path
    port: int
    process: subprocess.Popen[bytes]
    artifacts: Path
    workspace: Path = field(init=False)

    def __post_init__(self) -> None:
        self.workspace = self.root / "workspace"
        self.workspace.mkdir(exist_ok=True)

    @property
    def machine_settings(self) -> Path:
        return self.root / "data" / "Machine" / "settings.json"

    def drive(self, scenario: str, **values: str) -> None:
        """Play `scenario`.mjs in a fresh browser profile; its steps and console go to the artifacts."""
        pictures = self.artifacts / "vscode"
        pictures.mkdir(parents=True, exist_ok=True)
        environ = parts.node_environ() | {
            "PLAYWRIGHT": str(parts.playwright()),
            "BROWSER": parts.chromium(),
            "BASE": f"http://127.0.0.1:{self.port}",
            "WORKSPACE": str(self.workspace),
            "PICTURES": str(pictures),
            "PROFILE": str(self.root / f"browser-{scenario}"),
            **values,
        }
        played = subprocess.run(
            [parts.node24(), HERE / f"{scenario}.mjs"],
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SCENARIO_SECONDS,
        )
        text = played.stdout.decode(errors="replace")
        (pictures / f"{scenario}.txt").write_text(text)
        print(text)
        assert played.returncode == 0, f"{scenario}: {text[-3000:]}"


@contextlib.contextmanager
def running(
    root: Path,
    artifacts: Path,
    machine_settings: dict[str, Any],
    user_settings: dict[str, Any] | None = None,
    *,
    trusted: bool = True,
) -> Iterator[CodeServer]:
    """Install the extension into a fresh VS Code under `root`, serve it, end it with all it started.

    Every folder is trusted unless `trusted` is False. Settings of machine scope count only in
    `machine_settings`: the window is a remote one.
    """
    data, extensions = root / "data", root / "extensions"
    settings = {**USER_SETTINGS, **(user_settings or {})}
    for folder, values in (("User", settings), ("Machine", machine_settings)):
        (data / folder).mkdir(parents=True)
        (data / folder / "settings.json").write_text(json.dumps(values))
    port = free_port()
    (root / "config.yaml").write_text(f"bind-addr: 127.0.0.1:{port}\nauth: none\ncert: false\n")
    common = [
        *parts.code_server(),
        *("--config", str(root / "config.yaml")),
        *("--user-data-dir", str(data)),
        *("--extensions-dir", str(extensions)),
    ]
    environ = parts.node_environ() | {
        "EXTENSIONS_GALLERY": "{}",
        "HOME": str(root),
    }
    for inherited in [name for name in environ if name.startswith(("VSCODE_", "XDG_"))]:
        del environ[inherited]
    install = [*common, "--install-extension", str(parts.extension())]
    subprocess.run(install, env=environ, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    with (artifacts / "code-server.log").open("ab") as log:
        process = subprocess.Popen(
            [*common, *SERVER_FLAGS, *(["--disable-workspace-trust"] if trusted else [])],
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            _wait_until_ready(port, process)
            yield CodeServer(root, port, process, artifacts)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            process.wait(30)


def _wait_until_ready(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + READY_SECONDS
    health = f"http://127.0.0.1:{port}/healthz"
    while time.monotonic() < deadline:
        assert process.poll() is None, f"code-server ended with status {process.returncode}"
        with (
            contextlib.suppress(OSError),
            urllib.request.urlopen(health, timeout=2),
        ):
            return
        time.sleep(0.1)
    raise TimeoutError("code-server did not become ready")
