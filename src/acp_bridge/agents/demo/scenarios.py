"""What the demo agent can play, as data: a scenario is a tuple of steps, chosen by a word in the prompt.

Every step is a small frozen record; `demo.DemoAgent` performs them. A prompt that holds none of the words of
SCENARIOS gets WHOLE_TURN. Words count anywhere in the prompt, as whole words, first match in table order;
`/word` works too. Paths in steps are relative to the session's cwd.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

NOTES = "demo-notes.md"
NOTES_LINE = "- The demo agent was here.\n"
LOGIN = {"id": "demo-login", "name": "Demo log-in", "description": "Logs in at once; nothing is asked."}

ALLOW_OR_REJECT: tuple[Json, ...] = (
    {"optionId": "allow", "name": "Allow", "kind": "allow_once"},
    {"optionId": "always", "name": "Always allow", "kind": "allow_always"},
    {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
)

COMMANDS: tuple[Json, ...] = (
    {"name": "plain", "description": "Answer with text only"},
    {"name": "slow", "description": "Stream until cancelled"},
    {"name": "big", "description": "Stream many lines", "input": {"hint": "how many"}},
)


@dataclass(frozen=True, slots=True)
class Say:
    """Stream `text` word by word as the agent's message."""

    text: str


@dataclass(frozen=True, slots=True)
class Think:
    """Stream `text` as a thought (left out while the option `thoughts` is off)."""

    text: str


@dataclass(frozen=True, slots=True)
class ShowPlan:
    """Show PLAN with the first `done` entries completed and the next in progress."""

    done: int


@dataclass(frozen=True, slots=True)
class Read:
    """A tool call that reads `path` through the client; a missing file is no failure."""

    path: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Append `line` to `path`: diff, permission (mode `ask`), write through the client."""

    path: str
    line: str


@dataclass(frozen=True, slots=True)
class Shell:
    """A command shown as a tool call after a permission; `output` is what it "printed"."""

    command: str
    output: str


@dataclass(frozen=True, slots=True)
class Question:
    """A form with one field for the user."""

    message: str
    schema: Json


@dataclass(frozen=True, slots=True)
class Forever:
    """Stream `text` again and again until cancelled."""

    text: str


@dataclass(frozen=True, slots=True)
class Lines:
    """Stream "line 1\\n", "line 2\\n", … one chunk each; how many is the number in the prompt."""

    default: int


@dataclass(frozen=True, slots=True)
class Odd:
    """Things a client does not know or rarely sees: unknown kinds, a notice, a compaction, an image block."""


@dataclass(frozen=True, slots=True)
class NeedLogin:
    """End the turn with auth_required unless logged in."""


@dataclass(frozen=True, slots=True)
class Fail:
    """End the turn with an error."""

    message: str
    details: str


@dataclass(frozen=True, slots=True)
class Die:
    """The whole agent is gone, as if its process had exited."""

    code: int
    stderr: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stop:
    """End the turn here with this stop reason."""

    reason: str


Step = (
    Say
    | Think
    | ShowPlan
    | Read
    | Edit
    | Shell
    | Question
    | Forever
    | Lines
    | Odd
    | NeedLogin
    | Fail
    | Die
    | Stop
)
Scenario = tuple[Step, ...]

PLAN: tuple[tuple[str, str], ...] = (
    ("Read the notes", "high"),
    ("Add a line to the notes", "high"),
    ("Say what changed", "low"),
)

WHOLE_TURN: Scenario = (
    Think("The user wants to see what a turn looks like. I will read a file and then change it."),
    ShowPlan(0),
    Say("I am the demo agent: no network, no key. First I read your notes.\n\n"),
    Read(NOTES),
    ShowPlan(1),
    Say(f"Now I add a line to `{NOTES}`; you decide whether I may.\n\n"),
    Edit(NOTES, NOTES_LINE),
    ShowPlan(2),
    Say("That was a whole turn: text, a plan, two tool calls, a permission and a diff.\n"),
    ShowPlan(3),
)

_PLAIN = "Hello from the demo agent. This answer is **only text**.\n"
_COLOUR: Json = {
    "type": "object",
    "properties": {"colour": {"type": "string", "title": "Colour", "enum": ["red", "green", "blue"]}},
    "required": ["colour"],
}

SCENARIOS: dict[str, Scenario] = {
    "two permissions": (
        Say("I change two files.\n\n"),
        Edit(NOTES, NOTES_LINE),
        Edit("demo-more.md", NOTES_LINE),
        Say("Both are decided.\n"),
    ),
    "slow": (Forever("still talking "),),
    "plain": (Say(_PLAIN),),
    "refuse": (Say("I would rather not.\n"), Stop("refusal")),
    "auth": (NeedLogin(), Say("You are logged in.\n")),
    "big": (Lines(1000),),
    "ask": (Say("May I run a command?\n\n"), Shell("echo hello", "hello\n"), Say("Done.\n")),
    "question": (Question("Which colour?", _COLOUR), Say("Thank you.\n")),
    "outside": (
        Say("I write beside your folder.\n\n"),
        Edit("../demo-outside.md", NOTES_LINE),
        Say("Done.\n"),
    ),
    "fail": (Say("This will not end well.\n"), Fail("The demo agent failed on purpose", "scenario: fail")),
    "die": (Say("Goodbye.\n"), Die(3, ("demo agent: dying on purpose",))),
    "odd": (Odd(), Say("Those were odd things.\n"), Stop("end_turn")),
    "limit": (Say("I ran out of tokens.\n"), Stop("max_tokens")),
}


def choose(prompt: str) -> Scenario:
    """The scenario whose word stands in `prompt`, WHOLE_TURN if none does."""
    for word, scenario in SCENARIOS.items():
        if re.search(rf"(?<!\w){word}(?!\w)", prompt, re.IGNORECASE):
            return scenario
    return WHOLE_TURN


def number_in(prompt: str, default: int) -> int:
    """The first whole number in `prompt`."""
    found = re.search(r"\d+", prompt)
    return int(found.group()) if found else default


def plan_entries(done: int) -> list[Json]:
    """PLAN in ACP wire form with `done` entries completed."""
    return [
        {
            "content": content,
            "priority": priority,
            "status": "completed" if i < done else "in_progress" if i == done else "pending",
        }
        for i, (content, priority) in enumerate(PLAN)
    ]


def config_options(mode: str, thoughts: bool) -> list[Json]:
    """The demo's two options in ACP wire form."""
    return [
        {
            "id": "mode",
            "name": "Mode",
            "category": "mode",
            "type": "select",
            "currentValue": mode,
            "options": [
                {"value": "ask", "name": "Ask", "description": "Ask before every change"},
                {"value": "auto", "name": "Auto", "description": "Change files without asking"},
            ],
        },
        {"id": "thoughts", "name": "Show thoughts", "type": "boolean", "currentValue": thoughts},
    ]
