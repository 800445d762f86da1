"""What is generated from the editor protocol is fresh, and the protocol is the documented one."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from acp_bridge.faces.lsp.generate import SCHEMA, TYPES, generated, main
from acp_bridge.faces.lsp.initialize import COMMANDS as DECLARED
from acp_bridge.faces.lsp.protocol.tables import CLIENT_REQUESTS, COMMANDS, NOTIFICATIONS, REQUESTS

ROOT = Path(__file__).parents[3]
DOCUMENT = ROOT / "docs" / "editor-protocol.md"


def test_the_generated_files_are_fresh() -> None:
    command = [sys.executable, "-m", "acp_bridge.faces.lsp.generate", "--check", str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_stale_file_is_named_and_written_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 0
    assert main(["--check", str(tmp_path)]) == 0
    (tmp_path / TYPES).write_text("old")
    capsys.readouterr()
    assert main(["--check", str(tmp_path)]) == 1
    assert TYPES in capsys.readouterr().err and (tmp_path / TYPES).read_text() == "old"
    assert main([str(tmp_path)]) == 0
    assert (tmp_path / TYPES).read_text() == generated()[TYPES]


def test_the_schema_defines_everything_it_refers_to() -> None:
    text = generated()[SCHEMA]
    schema = json.loads(text)
    assert {ref.rsplit("/", 1)[-1] for ref in re.findall(r'"\$ref": "([^"]+)"', text)} <= set(schema["$defs"])
    assert "session_id" not in text


def test_every_message_is_in_the_document_and_none_that_is_not() -> None:
    written = set(re.findall(r"`(acp/[a-z]+(?:/[A-Za-z]+)?)[` {]", DOCUMENT.read_text("utf-8")))
    assert {*REQUESTS, *CLIENT_REQUESTS, *NOTIFICATIONS} == written


def test_every_command_is_declared_at_the_handshake_and_documented() -> None:
    assert tuple(COMMANDS) == DECLARED
    text = DOCUMENT.read_text("utf-8")
    assert [name for name in COMMANDS if f"`{name.removeprefix('acpBridge.')}" not in text] == []
