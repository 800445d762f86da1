"""From what a UI sent as a prompt to content blocks, and from those to what an agent can take.

An agent without `embeddedContext` gets links instead of embedded files; a picture or a sound an agent cannot
take is refused before anything is sent (ACP: prompt blocks MUST be filtered by promptCapabilities).
"""

from __future__ import annotations

from typing import Any

from acp_bridge.agents.agent import Capabilities
from acp_bridge.host.errors import HostError
from acp_bridge.host.visible import one_line

Json = dict[str, Any]


def as_blocks(prompt: Any) -> list[Json]:
    """A string or a list of content blocks as blocks; raises HostError badParam for anything else."""
    if isinstance(prompt, str):
        prompt = [{"type": "text", "text": prompt}]
    if not isinstance(prompt, list) or not all(
        isinstance(block, dict) and isinstance(block.get("type"), str) for block in prompt
    ):
        hint = "send a string or an array of content blocks, each with a `type`"
        raise HostError("badParam", "prompt is neither text nor content blocks", hint, param="prompt")
    for block in prompt:
        if block["type"] == "text" and not isinstance(block.get("text"), str):
            raise HostError("badParam", "a text block has no `text`", "give it one", param="prompt")
        if block["type"] == "resource" and not isinstance(block.get("resource"), dict):
            raise HostError("badParam", "a resource block has no `resource`", "give it one", param="prompt")
    if not any(block["type"] != "text" or block["text"].strip() for block in prompt):
        raise HostError("badParam", "the prompt is empty", "write something to send", param="prompt")
    return prompt


def refuse_unsupported(blocks: list[Json], capabilities: Capabilities, agent: str) -> None:
    """Raises HostError unsupported where a block can neither be sent nor turned into one that can."""
    for kind, able in (("image", capabilities.image), ("audio", capabilities.audio)):
        if not able and any(block["type"] == kind for block in blocks):
            hint = "remove it from the prompt, or choose another agent"
            raise HostError("unsupported", f"{agent} takes no {kind} in a prompt", hint, param="prompt")


def fit(blocks: list[Json], capabilities: Capabilities) -> list[Json]:
    """The blocks in the form this agent takes."""
    if capabilities.embedded_context:
        return blocks
    return [_as_link(block) if block["type"] == "resource" else block for block in blocks]


def _as_link(block: Json) -> Json:
    resource = block.get("resource") or {}
    uri = str(resource.get("uri", ""))
    link = {"type": "resource_link", "uri": uri, "name": uri.rsplit("/", 1)[-1] or uri}
    if resource.get("mimeType"):
        link["mimeType"] = resource["mimeType"]
    return link


def title_of(blocks: list[Json]) -> str | None:
    """A session title made of the first prompt."""
    text = " ".join(block.get("text", "") for block in blocks if block["type"] == "text")
    return one_line(text, 60) or None
