"""What every shape of the editor protocol is made of."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel
from typing_extensions import TypeAliasType

Json = dict[str, Any]


class Wire(BaseModel):
    """Base of every shape: camelCase on the wire, unknown fields ignored."""

    model_config = ConfigDict(alias_generator=to_camel, extra="ignore")


class Kept(Wire):
    """A shape whose unknown fields are kept and passed on."""

    model_config = ConfigDict(extra="allow")


class Nothing(Wire):
    """No fields."""


class ContentBlock(Kept):
    """A content block of ACP v1: text, image, audio, resource_link or resource."""

    type: str


Prompt = TypeAliasType("Prompt", str | list[ContentBlock])


class Position(Wire):
    line: int
    character: int


class Range(Wire):
    start: Position
    end: Position


class Location(Wire):
    uri: str
    path: str
    line: int | None = None


class FileName(Wire):
    uri: str
    path: str
