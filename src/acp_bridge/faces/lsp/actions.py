"""Code actions: what waits for the user's yes, the prompt of a thread file, and asking the agent about code.

Only when invoked, never by themselves: `only` is honoured, an automatic request gets nothing (LSP 3.17,
CodeActionTriggerKind), nothing is preferred, nothing is a source action.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from acp_bridge.faces.lsp.permissions import titles_of
from acp_bridge.faces.lsp.uris import path_of

if TYPE_CHECKING:
    from acp_bridge.faces.lsp.editor import Editor
    from acp_bridge.faces.lsp.threadfile import ThreadFile

Json = dict[str, Any]

QUICK_FIX, REFACTOR = lsp.CodeActionKind.QuickFix.value, lsp.CodeActionKind.Refactor.value
TITLE_LENGTH = 100


@dataclass(frozen=True, slots=True)
class Offer:
    """One action: a title, its kind, the command it runs with one argument."""

    title: str
    kind: str
    command: str
    argument: Json
    diagnostics: tuple[lsp.Diagnostic, ...] = ()


def code_actions(editor: Editor, params: lsp.CodeActionParams) -> list[lsp.CodeAction | lsp.Command]:
    """The answer to textDocument/codeAction."""
    if params.context.trigger_kind == lsp.CodeActionTriggerKind.Automatic:
        return []
    offers = [offer for offer in _offers(editor, params) if _wanted(offer.kind, params.context.only)]
    if editor.features.action_literals:
        return [_literal(offer) for offer in offers]
    return [lsp.Command(offer.title, offer.command, arguments=[offer.argument]) for offer in offers]


def _offers(editor: Editor, params: lsp.CodeActionParams) -> Iterator[Offer]:
    uri = params.text_document.uri
    file = editor.threads.find(uri)
    yield from _permissions(editor, uri, file)
    if file is not None:
        yield from _thread(file)
    else:
        yield from _about_code(uri, params)


def _permissions(editor: Editor, uri: str, file: ThreadFile | None) -> Iterator[Offer]:
    """Every option of each request that concerns this file, or stands in this thread file."""
    path = path_of(uri)
    for pending in editor.host.pending_requests():
        request = pending["request"]
        if pending["kind"] != "permission":
            continue
        in_thread = file is not None and file.session is not None and file.session.id == request["sessionId"]
        concerned = [path_of(place["uri"]) for place in request["action"]["details"].get("paths", [])]
        if not in_thread and path not in concerned:
            continue
        for title, option_id in titles_of(request["options"]).items():
            argument = {"requestId": request["requestId"], "optionId": option_id}
            label = f"{title}: {_short(request['title'])}"
            yield Offer(label, QUICK_FIX, "acpBridge.permission.answer", argument)


def _thread(file: ThreadFile) -> Iterator[Offer]:
    if file.session is not None and file.session.turns.running is not None:
        yield Offer("Cancel the agent's turn", QUICK_FIX, "acpBridge.cancel", {"uri": file.uri})
    else:
        yield Offer("Send the prompt to the agent", QUICK_FIX, "acpBridge.send", {"uri": file.uri})


def _about_code(uri: str, params: lsp.CodeActionParams) -> Iterator[Offer]:
    about = {"uri": uri, "range": _range(params.range)}
    yield Offer("Ask the agent…", REFACTOR, "acpBridge.newThread", about)
    explain = {**about, "prompt": "Explain this code."}
    yield Offer("Ask the agent to explain this", REFACTOR, "acpBridge.ask", explain)
    for diagnostic in params.context.diagnostics:
        text = diagnostic.message if isinstance(diagnostic.message, str) else str(diagnostic.message)
        prompt = f"Fix this problem: {text}"
        argument = {"uri": uri, "range": _range(diagnostic.range), "prompt": prompt}
        title = f"Ask the agent to fix: {_short(text)}"
        yield Offer(title, QUICK_FIX, "acpBridge.ask", argument, (diagnostic,))


def _wanted(kind: str, only: Any) -> bool:
    """`only` names kinds; each stands for all kinds below it, "" for all."""
    if not only:
        return True
    asked = [word.value if isinstance(word, lsp.CodeActionKind) else str(word) for word in only]
    return any(word == "" or kind == word or kind.startswith(word + ".") for word in asked)


def _literal(offer: Offer) -> lsp.CodeAction:
    return lsp.CodeAction(
        title=offer.title,
        kind=offer.kind,
        command=lsp.Command(offer.title, offer.command, arguments=[offer.argument]),
        diagnostics=list(offer.diagnostics) or None,
    )


def _range(where: lsp.Range) -> Json:
    return {
        "start": {"line": where.start.line, "character": where.start.character},
        "end": {"line": where.end.line, "character": where.end.character},
    }


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1] + "…"
