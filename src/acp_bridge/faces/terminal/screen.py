"""A turn as a person reads it: thread ops to a terminal. No I/O of its own.

Output only ever grows: what changes later (a tool's status, a plan's step) is told in a new line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from acp_bridge.faces.terminal.diff import diff_lines
from acp_bridge.faces.terminal.paper import Paper, printable
from acp_bridge.faces.terminal.permission import describe, option_lines, outcome_text
from acp_bridge.faces.terminal.status import Ended, Failed, Outcome
from acp_bridge.host.visible import one_line, visible

Json = dict[str, Any]

OUTPUT_LINES = 12
_TOOL_MARKS = {
    "pending": ("●", "yellow"),
    "in_progress": ("●", "yellow"),
    "completed": ("✓", "green"),
    "failed": ("✗", "red"),
    "cancelled": ("⊘", "dim"),
}
_PLAN_MARKS = {"completed": ("✓", "green"), "in_progress": ("▸", "yellow"), "pending": ("○", "dim")}
_FINISHED = {"completed", "failed", "cancelled"}
_WHO = {
    "user": "you",
    "policy": "--permission",
    "cancel": "",
    "agent": "the agent withdrew it",
    "exit": "the agent ended",
}
_STOPS = {
    "refusal": "the agent refused or failed",
    "max_tokens": "the answer was cut: the model's token limit is reached",
    "max_turn_requests": "stopped: the agent's limit of model requests in one turn is reached",
    "cancelled": "cancelled",
    "interrupted": "interrupted",
}


class Screen:
    """A printer for people (`JsonLines` is the one for programs)."""

    def __init__(self, paper: Paper) -> None:
        self._paper = paper
        self._begun = False
        self._entries: dict[str, Json] = {}
        self._texts: dict[str, list[str]] = {}
        self._streaming: str | None = None
        self._speaking: str | None = None
        self._tools = _Tools(paper)
        self._plans: dict[str, list[tuple[str, str]]] = {}
        self._kinds: dict[str, Callable[[Json], None]] = {
            "tool": self._tools.show,
            "plan": self._plan,
            "notice": self._notice,
            "compaction": self._compaction,
            "elicitation": self._elicitation,
            "unknown": self._unknown,
        }

    def session(self, summary: Json) -> None:
        """A session has begun: paths are shown as seen from its folder."""
        self._begun = True
        self._tools.cwd = summary.get("cwd") or ""

    def ops(self, message: Json) -> None:
        """Show one `acp/thread/changed`: first what became of entries shown already, then what is new."""
        for op in sorted(message["ops"], key=lambda op: op.get("id") not in self._entries):
            if op["op"] == "put":
                self._entry(dict(op["entry"]))
            elif op["op"] == "remove":
                self._entries.pop(op["id"], None)
            elif (entry := self._entries.get(op["id"])) is not None:
                self._change(entry, op)

    def permission_requested(self, request: Json, asked: bool) -> None:
        """Show what is asked, and the options if the person is `asked`."""
        self._begin()
        title = one_line(request.get("title") or "The agent asks for permission")
        self._paper.line(("▲ Permission ", "bold yellow"), (title, "bold"))
        for line in describe(request):
            self._paper.line(f"  {line}")
        details = (request.get("action") or {}).get("details") or {}
        paths = details.get("paths") or []
        if len(paths) == 1 and isinstance(details.get("newText"), str):
            path = paths[0].get("path") or ""
            self._tools.diff({"path": path, "oldText": details.get("oldText"), "newText": details["newText"]})
        for line in option_lines(request) if asked else ():
            self._paper.line((f"    {line}", "cyan"))

    def permission_resolved(self, request: Json, outcome: Json, by: str, why: str) -> None:
        """Show how it was answered; `why` is the reason where it was not the person's choice."""
        answer, reason = outcome_text(request, outcome), why or _WHO.get(by, by)
        self._paper.line(("  → ", "yellow"), answer, (f"  ({reason})" if reason else "", "dim"))
        self._tools.interrupted()

    def note(self, text: str) -> None:
        """Something about this run, not from the agent."""
        self._streaming = None
        self._paper.line((text, "dim"))

    def question(self, text: str) -> None:
        """Leave the cursor behind `text`."""
        self._paper.ask(text)

    def answered(self) -> None:
        """The person typed an answer, right or wrong."""
        self._paper.answered()

    def progress(self, percent: float | None, message: str | None) -> None:
        """Show how far the agent says it is."""
        share = "" if percent is None else f"{percent:.0f} % "
        self.note(f"… {share}{one_line(message or '')}".rstrip())

    def log(self, agent: str, stream: str, text: str) -> None:
        """Show what is said of an agent while it starts, and what it printed where it should not; its stderr
        is told only with a failure."""
        if stream == "noise":
            self.note(f"{agent} printed what is no message: {one_line(text)}")
        elif stream == "log" and not self._begun:
            self.note(one_line(text))

    def end(self, outcome: Outcome) -> None:
        """Show how the turn ended."""
        self._paper.end_line()
        self._paper.end_words()
        if isinstance(outcome, Failed):
            show_failure(self._paper, outcome)
        elif outcome.stop_reason != "end_turn":
            self._stopped(outcome)

    def _stopped(self, outcome: Ended) -> None:
        reason = outcome.stop_reason
        unknown = f"the agent stopped for a reason this version does not know: {one_line(reason)}"
        self._paper.block()
        self._paper.line((f"■ {_STOPS.get(reason, unknown)}", "yellow"))

    def _begin(self) -> None:
        self._streaming = None
        self._paper.block()

    def _change(self, entry: Json, op: Json) -> None:
        if op["op"] == "patch":
            self._entry({**entry, **op["set"]})
        elif entry["id"] in self._texts and op["field"] == "text":
            self._grow(entry, op["text"])
        else:
            self._entry({**entry, op["field"]: (entry.get(op["field"]) or "") + op["text"]})

    def _entry(self, entry: Json) -> None:
        known = self._entries.get(entry["id"])
        self._entries[entry["id"]] = entry
        if entry["kind"] in ("agent", "thought"):
            self._message(entry, known or {})
        elif show := self._kinds.get(entry["kind"]):
            self._streaming = None
            show(entry)

    def _message(self, entry: Json, known: Json) -> None:
        text = entry.pop("text", None)
        if text is not None:
            before = "".join(self._texts.get(entry["id"], ()))
            self._texts[entry["id"]] = [before]
            self._grow(entry, text[len(before) :] if text.startswith(before) else f"\n{text}")
            self._texts[entry["id"]] = [text]
        for block in (entry.get("blocks") or [])[len(known.get("blocks") or []) :]:
            self.note(f"[{block_name(block)}]")

    def _grow(self, entry: Json, text: str) -> None:
        if not text:
            return
        self._texts[entry["id"]].append(text)
        is_words = entry["kind"] == "agent"
        if self._streaming != entry["id"]:
            self._begin()
            self._tools.interrupted()
            self._streaming = entry["id"]
        if is_words and self._speaking != entry["id"]:
            self._speaking = entry["id"]
            self._paper.end_words()
        if is_words:
            self._paper.words(text)
        else:
            self._paper.aside(text, "dim italic")

    def _plan(self, entry: Json) -> None:
        steps = [(str(step.get("content")), str(step.get("status"))) for step in entry.get("entries") or []]
        shown = self._plans.get(entry["id"], [])
        if steps == shown:
            return
        self._plans[entry["id"]] = steps
        same_steps = [text for text, _ in shown] == [text for text, _ in steps]
        done = sum(status == "completed" for _, status in steps)
        self._paper.block()
        self._paper.line(("◆ Plan", "bold cyan"), (f"  {done} of {len(steps)} done", "dim"))
        for index, (text, status) in enumerate(steps):
            if not (same_steps and shown[index][1] == status):
                mark, style = _PLAN_MARKS.get(status, ("○", "dim"))
                self._paper.line((f"  {mark} ", style), one_line(text))
        self._paper.lines(entry.get("content") or "")
        self._tools.interrupted()

    def _notice(self, entry: Json) -> None:
        style = {"error": "red", "warning": "yellow"}.get(entry.get("severity") or "", "blue")
        self._paper.block()
        self._paper.line((f"i {one_line(entry.get('title') or '')}", style))
        self._paper.lines(entry.get("description") or "")

    def _compaction(self, entry: Json) -> None:
        text = one_line(entry.get("error") or entry.get("summary") or "")
        self._paper.block()
        self._paper.line((f"⇣ Context compaction {entry.get('status', '')} {text}".rstrip(), "dim"))

    def _elicitation(self, entry: Json) -> None:
        self._paper.block()
        self._paper.line((f"? {one_line(entry.get('message') or '')}", "yellow"))

    def _unknown(self, entry: Json) -> None:
        raw = entry.get("raw")
        name = (raw.get("sessionUpdate") or raw.get("type")) if isinstance(raw, dict) else None
        self._paper.block()
        self._paper.line((f"· {one_line(str(name or raw))} (unknown to this version)", "dim"))


class _Tools:
    """Tool calls: a line at first sight, one when it is finished, then what it brought; each diff once."""

    def __init__(self, paper: Paper) -> None:
        self.cwd = ""
        self._paper = paper
        self._status: dict[str, str] = {}
        self._shown: dict[str, list[Json]] = {}
        self._output_shown: dict[str, int] = {}
        self._diffs: set[tuple[str, str | None, str]] = set()
        self._newest: str | None = None

    def interrupted(self) -> None:
        """Something else was printed since the newest tool line."""
        self._newest = None

    def show(self, entry: Json) -> None:
        """Show what is new in a `tool` entry."""
        entry_id, status = entry["id"], entry.get("status") or "pending"
        told = self._status.get(entry_id)
        finished = status in _FINISHED and status != told
        self._status[entry_id] = status
        if finished and self._newest == entry_id:
            mark, style = _TOOL_MARKS[status]
            self._paper.line((f"  {mark} {status}", style))
        elif told is None or finished:
            self._title(entry, status)
        for item in entry.get("content") or []:
            if item.get("type") == "diff":
                self.diff(item)
        if status in _FINISHED:
            self._results(entry)

    def _results(self, entry: Json) -> None:
        """What a finished call brought, as far as it was not shown: the last of it may come late."""
        shown = self._shown.setdefault(entry["id"], [])
        for item in entry.get("content") or []:
            if item.get("type") in ("text", "block") and item not in shown:
                shown.append(item)
                self._print(item.get("text") or f"[{block_name(item.get('block') or {})}]")
        output = entry.get("output") or ""
        self._print(output[self._output_shown.get(entry["id"], 0) :])
        self._output_shown[entry["id"]] = len(output)

    def diff(self, item: Json) -> None:
        """Show a `diff` content item, unless the same one was shown."""
        path, old, new = item.get("path") or "", item.get("oldText"), item.get("newText") or ""
        if (path, old, new) in self._diffs:
            return
        self._diffs.add((path, old, new))
        is_new = old is None and not item.get("patch")
        shown = one_line(path.removeprefix(f"{self.cwd}/") if self.cwd else path)
        self._paper.line((f"    {shown}{'  (new file)' if is_new else ''}", "bold dim"))
        for style, line in diff_lines(old, new, patch=item.get("patch")):
            self._paper.line((f"    {printable(line)}", style))

    def _title(self, entry: Json, status: str) -> None:
        mark, style = _TOOL_MARKS.get(status, ("●", "yellow"))
        title = one_line(entry.get("title") or entry.get("name") or "tool")
        kind = one_line(entry.get("toolKind") or "other")
        self._paper.block()
        self._paper.line(
            "  ↳ " if entry.get("parent") else "",
            (f"{mark} ", style),
            (title, "bold"),
            ("" if kind == "other" or title.lower().startswith(kind) else f"  {kind}", "dim"),
        )
        self._newest = entry["id"]

    def _print(self, text: str) -> None:
        lines = text.rstrip("\n").split("\n")
        self._paper.lines("\n".join(lines[:OUTPUT_LINES]), "dim")
        if len(lines) > OUTPUT_LINES:
            self._paper.line((f"    … {len(lines) - OUTPUT_LINES} more lines", "dim"))


def show_failure(paper: Paper, failure: Failed) -> None:
    """What failed, the evidence, and what to try."""
    paper.block()
    paper.line(("error: ", "bold red"), (visible(failure.message), "red"))
    paper.lines(failure.detail, "dim")
    if failure.hint:
        paper.line(("try: ", "bold"), visible(failure.hint))


def block_name(block: Json) -> str:
    """A content block that is no text, in a few words."""
    resource = block.get("resource")
    uri = block.get("uri") or (resource.get("uri") if isinstance(resource, dict) else "")
    words = [str(word) for word in (block.get("type", "content"), block.get("mimeType"), uri) if word]
    return one_line(" ".join(words))
