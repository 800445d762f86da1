"""Which of the tools an agent offered its model does a scripted step mean, and with what arguments.

A script says "write this file"; every agent has its own name and parameters for that. Names are looked up in
a table, parameters are matched by their spelling without case and separators, required ones that remain are
filled with something of their type.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

NAMES: dict[str, list[str]] = {
    "write": [
        *("write_file", "Write", "write", "create_file", "create", "write_to_file", "WriteFile"),
        *("apply_patch", "str_replace_editor", "str-replace-editor", "save-file"),
    ],
    "edit": [
        *("edit_file", "Edit", "edit", "replace", "search_replace", "StrReplaceFile"),
        *("apply_patch", "str-replace-editor"),
    ],
    "shell": [
        *("run_shell_command", "Bash", "bash", "exec_command", "shell_command", "shell", "local_shell"),
        *("execute", "execute_command", "run_command", "terminal", "Shell", "launch-process"),
    ],
    "plan": [
        *("TodoWrite", "todowrite", "write_todos", "todo_write", "update_plan", "todo"),
        *("TodoList", "SetTodoList", "add_tasks"),
    ],
    "read": ["read_file", "Read", "read", "view", "ReadFile", "cat"],
    "ask": ["AskUserQuestion", "question", "ask_user", "ask_user_question", "request_user_input"],
    "exitplan": ["ExitPlanMode", "exit_plan_mode", "exit_plan"],
}
PARAMETERS: dict[str, tuple[str, ...]] = {
    "path": ("filepath", "path", "absolutepath", "file", "filename"),
    "content": ("content", "contents", "filecontent", "filetext"),
    "old": ("oldstring", "oldstr", "old", "search"),
    "new": ("newstring", "newstr", "new"),
    "command": ("command", "cmd"),
    "plan": ("todos", "plan", "items", "tasks"),
}
FILLERS: dict[str, Any] = {"boolean": False, "integer": 1, "number": 1, "array": [], "object": {}}


@dataclass(frozen=True)
class Tool:
    """A tool the agent offered: its JSON schema, or `custom` for one that takes plain text."""

    schema: Json = field(default_factory=dict)
    custom: bool = False


@dataclass(frozen=True)
class Call:
    """A tool call the model makes; `arguments` is a text only for a custom tool."""

    name: str
    arguments: Json | str

    @property
    def custom(self) -> bool:
        return isinstance(self.arguments, str)


def find(kind: str, offered: Mapping[str, Tool]) -> str | None:
    """The offered tool that does `kind`: exact name, then without case, then by the end of a longer name."""
    candidates = NAMES.get(kind, [kind])
    lower = {name.lower(): name for name in offered}
    for candidate in candidates:
        if candidate in offered:
            return candidate
    for candidate in candidates:
        if candidate.lower() in lower:
            return lower[candidate.lower()]
    return next((name for word in candidates for name in offered if name.endswith(word)), None)


def choose(wanted: Json, offered: Mapping[str, Tool]) -> Call:
    """The call for one scripted tool `{kind, args, force?}`; files are written by shell if need be."""
    kind, wishes = wanted["kind"], dict(wanted.get("args", {}))
    name = find(kind, offered)
    if name is None and kind in ("write", "edit") and (name := find("shell", offered)):
        text = wishes.get("content", wishes.get("new", ""))
        wishes = {"command": f"cat > {wishes['path']} <<'X'\n{text}\nX"}
    if name is None:
        return Call(NAMES.get(kind, [kind])[0], wishes)
    tool = offered[name]
    if name == "apply_patch":
        patch = _patch(wishes)
        return Call(name, patch if tool.custom else {next(iter(_properties(tool)), "input"): patch})
    return Call(name, {**_arguments(name, kind, wishes, tool), **wanted.get("force", {})})


def _properties(tool: Tool) -> Json:
    return tool.schema.get("properties") or {}


def _patch(wishes: Json) -> str:
    if "content" in wishes:
        lines = "\n".join("+" + line for line in wishes["content"].rstrip("\n").split("\n"))
        return f"*** Begin Patch\n*** Add File: {wishes['path']}\n{lines}\n*** End Patch"
    change = f"@@\n-{wishes['old']}\n+{wishes['new']}"
    return f"*** Begin Patch\n*** Update File: {wishes['path']}\n{change}\n*** End Patch"


def _arguments(name: str, kind: str, wishes: Json, tool: Tool) -> Json:
    arguments: Json = {}
    for parameter, schema in _properties(tool).items():
        schema = schema if isinstance(schema, dict) else {}
        spelling = parameter.lower().replace("_", "").replace("-", "")
        wish = next(
            (word for word, names in PARAMETERS.items() if spelling in names and word in wishes), None
        )
        if wish == "plan":
            arguments[parameter] = _plan(wishes["plan"], schema)
        elif wish == "command" and name == "str_replace_editor":
            arguments[parameter] = "create"
        elif wish == "command" and schema.get("type") == "array":
            arguments[parameter] = ["bash", "-lc", wishes["command"]]
        elif wish:
            arguments[parameter] = wishes[wish]
        elif parameter in wishes:
            arguments[parameter] = wishes[parameter]
        elif parameter in (tool.schema.get("required") or []):
            arguments[parameter] = _filler(parameter, schema)
    if "description" in _properties(tool):
        arguments.setdefault("description", f"fake {kind}")
    return arguments


def _filler(parameter: str, schema: Json) -> Any:
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type")
    return FILLERS.get(kind if isinstance(kind, str) else "string", f"fake {parameter}")


def _plan(rows: list[list[str]], schema: Json) -> list[Json]:
    """`[[text, status], …]` in the shape of the list the tool wants."""
    fields: Json = (schema.get("items") or {}).get("properties") or {"content": {}, "status": {}}
    return [
        {
            name: value
            for name in fields
            if (value := _plan_field(name, fields[name], number, *row)) is not None
        }
        for number, row in enumerate(rows, 1)
    ]


def _plan_field(name: str, schema: Json, number: int, text: str, status: str) -> str | None:
    if name in ("content", "step", "description", "task", "title", "name"):
        return text
    if name in ("status", "state"):
        known = schema.get("enum") or [status]
        if status in known:
            return status
        return "done" if status == "completed" and "done" in known else str(known[0])
    return {"priority": "medium", "id": str(number), "activeForm": f"doing {text}"}.get(name)
