"""The real agents under test, and in what each differs, as data: a value, and why it is so."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Subject:
    """`name` is that of the installed part, `entry` the id in the shipped agents.json.

    rejected_stop   stop reason of a turn whose only tool call the user rejected
    goes_on         whether the agent still speaks after such a rejection
    shows_output    whether the output of a command stands in its tool call
    config_options  what must be set for the agent to ask the user at all
    writes_through_client   whether its edits come as fs/write_text_file (else it writes the disk itself)
    quirks          reason for every value that is not the default
    """

    name: str
    entry: str
    rejected_stop: str = "end_turn"
    goes_on: bool = True
    writes_through_client: bool = False
    shows_output: bool = True
    config_options: dict[str, str] = field(default_factory=dict)
    quirks: dict[str, str] = field(default_factory=dict)


SUBJECTS = [
    Subject(
        "opencode",
        "opencode",
        goes_on=False,
        writes_through_client=True,
        quirks={
            "goes_on": "a rejected permission ends its loop; the turn ends as end_turn without another word",
            "writes_through_client": "it calls fs/write_text_file, whether the client advertises it or not",
        },
    ),
    Subject(
        "claude-agent-acp",
        "claude-acp",
        config_options={"mode": "default"},
        quirks={"config_options": "it starts in the mode `auto`, where a model decides in the user's place"},
    ),
    Subject(
        "codex-acp",
        "codex-acp",
        rejected_stop="cancelled",
        goes_on=False,
        quirks={
            "rejected_stop": "its reject_once option is `abort`, which interrupts the turn",
            "goes_on": "for the same reason",
        },
    ),
    Subject(
        "gemini",
        "gemini",
        shows_output=False,
        quirks={"shows_output": "its update that completes a command carries an empty content"},
    ),
]
