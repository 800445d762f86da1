"""What is needed to start one agent, as data: the pure result of `prepare`, the input of `launch`."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class LaunchSpec:
    """`argv` never goes through a shell. `env` lies over the full inherited environment (with the login
    shell's merged in where that is needed). `cwd` is absolute. `files` are written (0600) before the start.
    `mounts` and `image` are for runtimes other than local."""

    argv: tuple[str, ...]
    cwd: str
    env: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    mounts: tuple[tuple[str, str, bool], ...] = ()
    image: str = ""
    unset_env: frozenset[str] = frozenset()
