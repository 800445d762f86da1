"""agents.json in Kandev's shape: a bare array of entries, or `{"version": …, "agents": […]}`.

Source: "Adding New Agents to Kandev", section "Agent Configuration".
"""

from __future__ import annotations

from typing import Any

from acp_bridge.config.entries import Entries, Place, build
from acp_bridge.config.problems import Problem, json_kind


def read(agents: Any, place: Place) -> Entries:
    """The entries of the array; a bad one, or one whose id stands above already, is reported and skipped."""
    if not isinstance(agents, list):
        hint = 'write [{"id": …, "cmd": […]}, …]'
        problem = Problem(place.file, "", "agents", f"must be a list, not {json_kind(agents)}", hint)
        return Entries({}, [problem])
    found = Entries()
    for index, raw in enumerate(agents):
        _add(found, raw, f"agents[{index}]", place)
    return found


def _add(found: Entries, raw: Any, position: str, place: Place) -> None:
    def problem(field: str, message: str, hint: str = "") -> None:
        found.problems.append(Problem(place.file, position, field, message, hint))

    if not isinstance(raw, dict):
        problem("", f"must be an object, not {json_kind(raw)}")
        return
    agent_id = raw.get("id")
    if not isinstance(agent_id, str) or not agent_id.strip():
        message = f"must be a string, not {json_kind(agent_id)}" if "id" in raw else "is missing"
        problem("id", "is empty" if isinstance(agent_id, str) else message, "give the agent a unique id")
        return
    if agent_id in found.servers:
        problem("id", f"{agent_id!r} stands in this file already; the first counts", "give it another id")
        return
    server, problems = build(raw, agent_id, place)
    found.servers[agent_id] = server
    found.problems += problems
