"""`acp-bridge agents`: which agents there are, and whether they can be started here."""

from __future__ import annotations

import json
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from acp_bridge.host.errors import HostError
from acp_bridge.host.host import Host
from acp_bridge.host.secrets import MASK, Masker, key_like
from acp_bridge.host.visible import one_line

Json = dict[str, Any]
WIDTH_OF_A_PIPE = 1000


def list_agents(host: Host, as_json: bool, out: Console) -> None:
    """A table, or `{"agents": [...], "default": id | null}` as in `acp/agents/list`."""
    agents = host.list_agents()
    default = default_agent(host)
    if as_json:
        print_json({"agents": agents, "default": default}, out)
        return
    if not out.is_terminal:
        out.width = WIDTH_OF_A_PIPE
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("", "agent", "name", "protocol", "available", "where from, or why not"):
        table.add_column(column, overflow="fold")
    for agent in agents:
        table.add_row(*_row(agent, default))
    out.print(table)
    if not all(agent.get("available") for agent in agents):
        out.print(Text("acp-bridge doctor tells how to get what is missing", "dim"))
    if default is None:
        out.print(Text('* none is the default: set "defaultAgent" in settings.json, or name one', "dim"))
    else:
        out.print(Text("* the default: used where no agent is named", "dim"))


def print_json(value: object, out: Console) -> None:
    """One indented JSON document."""
    out.file.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def default_agent(host: Host) -> str | None:
    """The agent used where none is named; None if one must be."""
    try:
        return host.default_agent()
    except HostError:
        return None


def _row(agent: Json, default: str | None) -> list[Text]:
    available = bool(agent.get("available"))
    reason, _, _ = str(agent.get("reason") or "").partition("; install it with")
    why = str(agent.get("source") or "") if available else reason
    return [
        Text("*" if agent["id"] == default else "", "bold green"),
        Text(one_line(agent["id"]), "bold" if available else "dim"),
        Text(one_line(agent.get("displayName") or agent.get("name") or "")),
        Text(str(agent.get("protocol") or "")),
        Text("yes" if available else "no", "green" if available else "yellow"),
        Text(one_line(why, 400), "dim"),
    ]


def show_agent(host: Host, agent_id: str, as_json: bool, out: Console) -> None:
    """Everything known of one agent; values of its environment are masked. Raises HostError unknownAgent."""
    runner = host.runner(agent_id)
    server, listed = runner.server, runner.summary()
    mask = Masker({}, [server.env])
    entry = server.model_dump(exclude_defaults=True, by_alias=True, mode="json")
    entry["env"] = {name: MASK if key_like(name) else mask(value) for name, value in server.env.items()}
    shown = {**listed, "entry": mask.json(entry)}
    if as_json:
        print_json(shown, out)
        return
    for key, value in shown.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
        out.print(Text.assemble((f"{key}: ", "bold"), text), soft_wrap=True)
