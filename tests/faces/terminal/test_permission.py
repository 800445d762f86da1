"""`--permission` as a table: options and policy to the answer."""

from __future__ import annotations

from typing import Any

import pytest

from acp_bridge.faces.terminal.permission import Policy, decide, describe, option_of_answer

ONCE = {"optionId": "yes", "name": "Yes", "kind": "allow_once"}
ALWAYS = {"optionId": "always", "name": "Always", "kind": "allow_always"}
NO = {"optionId": "no", "name": "No", "kind": "reject_once"}
NEVER = {"optionId": "never", "name": "Never", "kind": "reject_always"}
ODD = {"optionId": "odd", "name": "Allow", "kind": "allow_if_nice"}
NO_KIND = {"optionId": "bare", "name": "Allow"}


@pytest.mark.parametrize(
    ("policy", "options", "outside", "answer"),
    [
        (Policy.allow, [ALWAYS, ONCE, NO], False, "yes"),
        (Policy.allow, [ALWAYS, NO], False, "no"),
        (Policy.allow, [ODD, NO_KIND, NO], False, "no"),
        (Policy.allow, [ALWAYS, NEVER], False, None),
        (Policy.allow, [ODD, NO_KIND], False, None),
        (Policy.allow, [ONCE, NO], True, "no"),
        (Policy.allow, [ONCE], True, None),
        (Policy.reject, [ONCE, NEVER, NO], False, "no"),
        (Policy.reject, [ONCE, NEVER], False, None),
        (Policy.reject, [], False, None),
        (Policy.ask, [ONCE, NO], False, "no"),
    ],
)
def test_decisions(policy: Policy, options: list[Any], outside: bool, answer: str | None) -> None:
    decision = decide({"options": options, "outsideRoots": outside}, policy)
    assert decision.option_id == answer
    assert decision.why
    assert ("turn is cancelled" in decision.why) == (answer is None)


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("1\n", "yes"),
        (" 2 \n", "no"),
        ("0\n", None),
        ("3\n", None),
        ("yes\n", None),
        ("\n", None),
        ("²", None),
    ],
)
def test_typed_answers(line: str, answer: str | None) -> None:
    assert option_of_answer({"options": [ONCE, NO]}, line) == answer


@pytest.mark.parametrize(
    ("action", "lines"),
    [
        ({"type": "shell", "details": {"command": "ls", "cwd": "/w"}}, ["$ ls", "in /w"]),
        ({"type": "shell", "details": {"command": ["a b", "c"]}}, ["$ 'a b' c"]),
        ({"type": "move", "details": {"paths": [{"path": "/a"}, {"path": "/b"}]}}, ["move /a", "move /b"]),
        ({"type": "other", "details": {"rawInput": {"x": "\u200b"}}}, ['{"x": "<U+200B>"}']),
        ({"type": "other", "details": {"rawInput": None}}, []),
        (None, []),
    ],
)
def test_what_is_asked(action: Any, lines: list[str]) -> None:
    assert describe({"action": action, "options": []}) == lines
