"""`acp-bridge` for a person at a shell: the commands, their options, and the exit statuses of `status`.

Only here are Typer and Rich imported. Every error is printed to stderr as what failed and what to try.
"""

from __future__ import annotations

import dataclasses
import logging
import os
import shlex
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import anyio
import typer
from rich.console import Console
from rich.text import Text

from acp_bridge import __version__
from acp_bridge.config.load import Configuration, load
from acp_bridge.config.problems import Problem
from acp_bridge.config.server import AgentServer
from acp_bridge.faces.terminal import agents as agents_command
from acp_bridge.faces.terminal.demo import demo as play_demo
from acp_bridge.faces.terminal.doctor import doctor as examine
from acp_bridge.faces.terminal.permission import Policy
from acp_bridge.faces.terminal.status import CANCELLED, OK, USAGE, Failed
from acp_bridge.faces.terminal.turn import TurnOptions, play
from acp_bridge.host.errors import HostError
from acp_bridge.host.host import Host
from acp_bridge.jsonrpc.messages import dumps

ConfigFiles = Annotated[
    list[Path] | None,
    typer.Option("--config", metavar="FILE", help="One more configuration file; the last one counts most."),
]


class LogLevel(StrEnum):
    """The values of `--log-level`."""

    debug = "debug"
    info = "info"
    warning = "warning"
    error = "error"


_EPILOG = "acp-bridge lsp (or no command at all) is the language server on stdin and stdout, for editors."
app = typer.Typer(
    name="acp-bridge",
    help="Every editor that speaks LSP gets every coding agent.",
    epilog=_EPILOG,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
)
agents_app = typer.Typer(help="Which agents there are.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(agents_app, name="agents")


@dataclasses.dataclass(slots=True)
class _Global:
    config: list[Path]


def main(argv: Sequence[str]) -> int:
    """Run one command; returns the exit status and never raises."""
    _open_streams()
    err = Console(stderr=True)
    try:
        result = app(list(argv), prog_name="acp-bridge", standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else OK
    except HostError as error:
        return _complain(err, Failed.of(error))
    except (BrokenPipeError, SystemExit):
        # Typer, too, leaves this way when nobody reads stdout any more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return OK
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return _complain(err, _broken(error))
    except (KeyboardInterrupt, typer.Abort):
        return CANCELLED
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        return _usage(err, error)


def _broken(error: OSError) -> Failed:
    """What the system refused us."""
    try:
        os.getcwd()
    except OSError:
        return Failed("badParam", "the current folder does not exist any more", "change to another one")
    return Failed("internal", f"acp-bridge failed: {error}", "check where its output goes")


def _open_streams() -> None:
    """Whoever started us may have closed stdin, stdout or stderr; what is opened next must not become one."""
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


def _complain(err: Console, failure: Failed) -> int:
    err.print(Text.assemble(("error: ", "bold red"), failure.message), soft_wrap=True)
    if failure.detail:
        err.print(Text(failure.detail, "dim"), soft_wrap=True)
    if failure.hint:
        err.print(Text.assemble(("try: ", "bold"), failure.hint), soft_wrap=True)
    return failure.status


def _usage(err: Console, error: Exception) -> int:
    context = getattr(error, "ctx", None)
    message = error.format_message().replace("Value error, ", "")  # type: ignore[attr-defined]
    if context is None or type(error).__name__ == "NoArgsIsHelpError":
        err.print(Text(message), soft_wrap=True)
        return USAGE
    commands = None if getattr(error, "param", None) else getattr(context.command, "commands", None)
    hint = f"{context.command_path} --help"
    if commands:
        hint = f"one of: {', '.join(sorted([*commands, *(() if context.parent else ('lsp',))]))}; or {hint}"
    return _complain(err, Failed("badParam", message, hint))


def _version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"acp-bridge {__version__}\n")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    config: ConfigFiles = None,
    log_level: Annotated[
        LogLevel, typer.Option("--log-level", help="How much of its own doings is told on stderr.")
    ] = LogLevel.warning,
    version: Annotated[
        bool, typer.Option("--version", "-V", help="Print the version.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    logging.basicConfig(
        level=log_level.upper(), stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s"
    )
    context.obj = _Global(list(config or []))


@app.command(short_help="A whole turn with the built-in agent: no network, no key.")
def demo(
    keep: Annotated[bool, typer.Option("--keep", help="Do not remove the scratch folder.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line on stdout.")] = False,
) -> int:
    """A whole turn with the built-in agent, in a scratch folder: no network, no key."""
    return play_demo(keep, as_json)


@app.command(short_help="One turn with an agent: for people, and for scripts.")
def run(
    context: typer.Context,
    words: Annotated[
        list[str], typer.Argument(metavar="[AGENT] PROMPT", help="An agent's id, and what to ask.")
    ],
    cwd: Annotated[Path | None, typer.Option(help="The folder the agent works in.", metavar="DIR")] = None,
    permission: Annotated[
        Policy, typer.Option(help="The answer to permission requests; ask acts as reject without a terminal.")
    ] = Policy.ask,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line on stdout.")] = False,
    trace: Annotated[
        str | None, typer.Option(metavar="FILE|-", help="Write every raw message, event and op (- = stderr).")
    ] = None,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="For later: sessions are not kept yet.")
    ] = None,
    config_option: Annotated[
        list[str] | None, typer.Option(metavar="ID=VALUE", help="Set an option of the agent's, say model=x.")
    ] = None,
    auth_method: Annotated[
        str | None, typer.Option(metavar="ID", help="Log in by this method of the agent's first.")
    ] = None,
    agent_command: Annotated[
        str | None, typer.Option(metavar='"CMD …"', help="Run this ACP agent instead of a configured one.")
    ] = None,
    config: ConfigFiles = None,
) -> int:
    """One turn: send PROMPT to AGENT, show what it does, end when it has ended.

    Exit status: 0 the agent ended its turn, 1 it failed or died, 2 usage or configuration, 3 it refused or
    reached a limit, 4 it wants a log-in, 130 cancelled.
    """
    try:
        if session is not None:
            hint = "leave --session out: every run is a new session"
            raise HostError("unknownSession", f"no session {session!r}: sessions are not kept yet", hint)
        agent, prompt = _agent_and_prompt(words)
        folder = Path(os.path.abspath(cwd or Path.cwd()))
        configuration = _configuration(context, config, folder)
        if agent_command is not None:
            agent, configuration = _with_command(agent_command, agent, configuration)
        options = TurnOptions(
            prompt=prompt,
            agent=agent,
            cwd=folder,
            policy=permission,
            as_json=as_json,
            trace=trace,
            config_options=dict(map(_config_option, config_option or [])),
            auth_method=auth_method,
        )
    except HostError as error:
        if not as_json:
            raise
        return _told_as_json(Failed.of(error))
    return anyio.run(play, options, configuration)


def _told_as_json(failure: Failed) -> int:
    """Before there is a turn: the one and last line."""
    sys.stdout.buffer.write(dumps(failure.as_event()) + b"\n")
    return failure.status


def _agent_and_prompt(words: list[str]) -> tuple[str | None, str]:
    if len(words) > 2:
        hint = 'put the prompt in quotes: acp-bridge run AGENT "what to do"'
        raise HostError("badParam", f"expected [AGENT] PROMPT, got {len(words)} words", hint)
    prompt = words[-1]
    if not prompt.strip():
        raise HostError("badParam", "the prompt is empty", "say what the agent is to do")
    return (words[0] if len(words) == 2 else None), prompt


def _config_option(word: str) -> tuple[str, str]:
    config_id, equals, value = word.partition("=")
    if not (config_id and equals):
        raise HostError(
            "badParam", f"--config-option {word!r} is not id=value", "say --config-option model=x"
        )
    return config_id, value


def _with_command(command: str, agent: str | None, configuration: Configuration) -> tuple[str, Configuration]:
    if agent is not None:
        hint = "leave one of the two out"
        raise HostError("badParam", f"--agent-command and the agent {agent!r} exclude each other", hint)
    try:
        argv = shlex.split(command)
    except ValueError as error:
        hint = "check its quotes"
        raise HostError("badParam", f"--agent-command {command!r} cannot be split: {error}", hint) from error
    if not argv:
        raise HostError("badParam", "--agent-command is empty", 'say --agent-command "program --option"')
    if os.sep in argv[0]:
        argv[0] = os.path.abspath(Path(argv[0]).expanduser())
    name = Path(argv[0]).name
    server = AgentServer(id=name, cmd=argv, protocol="acp", source="flag", file="--agent-command")
    return name, dataclasses.replace(configuration, servers={**configuration.servers, name: server})


def _configuration(context: typer.Context, config: list[Path] | None, project: Path) -> Configuration:
    """All configuration; its problems are told on stderr. A file of `--config` that is no use at all is an
    error."""
    shared = context.find_object(_Global)
    flags = [*(shared.config if shared else []), *(config or [])]
    loaded = load(flags=flags, project=project)
    for problem in loaded.problems:
        if problem.file in map(str, flags) and not problem.entry and problem.severity == "error":
            raise HostError("config", f"{problem.file}: {problem.message}", problem.hint)
    for problem in loaded.problems:
        _warn(problem)
    return loaded


def _warn(problem: Problem) -> None:
    Console(stderr=True).print(Text.assemble(("config: ", "yellow"), str(problem)), soft_wrap=True)


@agents_app.command("list")
def agents_list(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    config: ConfigFiles = None,
) -> None:
    """Every agent: can it be started here, and if not, why."""
    configuration = _configuration(context, config, Path.cwd())
    agents_command.list_agents(Host(configuration), as_json, Console())


@agents_app.command("show")
def agents_show(
    context: typer.Context,
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="The agent's id.")],
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    config: ConfigFiles = None,
) -> None:
    """Everything known of one agent; secrets are masked."""
    configuration = _configuration(context, config, Path.cwd())
    agents_command.show_agent(Host(configuration), agent, as_json, Console())


@app.command()
def doctor(
    context: typer.Context,
    agent: Annotated[str | None, typer.Argument(metavar="[AGENT]", help="The agent's id.")] = None,
    config: ConfigFiles = None,
) -> int:
    """What is wrong, and what to try: configuration, agents, programs. Secrets are masked."""
    shared = context.find_object(_Global)
    flags = [*(shared.config if shared else []), *(config or [])]
    return examine(agent, flags, Console())
