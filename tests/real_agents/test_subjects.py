"""Every departure of an agent that the tests allow has its reason beside it."""

from __future__ import annotations

import dataclasses

import pytest

from real_agents.subjects import SUBJECTS, Subject


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_every_departure_has_a_reason(subject: Subject) -> None:
    plain = Subject(subject.name, subject.entry)
    names = [field.name for field in dataclasses.fields(Subject) if field.name != "quirks"]
    departures = {name for name in names if getattr(subject, name) != getattr(plain, name)}
    assert departures == subject.quirks.keys()
