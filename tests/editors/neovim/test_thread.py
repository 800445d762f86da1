"""The thread and its view, fed with random ops: judged by a model that knows only the protocol."""

from __future__ import annotations

import random
from typing import Any

import pytest

from support.neovim import Neovim
from support.thread_model import ThreadModel

pytestmark = pytest.mark.editor
Json = dict[str, Any]

SETUP = """
local state = ...
local Thread, View = require('acp_bridge.thread'), require('acp_bridge.view')
local context = function() return { agent = 'Demo', cwd = '/tmp', pending = {} } end
_G.thread = Thread.new(state)
_G.buf = vim.api.nvim_create_buf(false, true)
_G.view = View.new(_G.buf, _G.thread, context)
_G.fresh = function()
  local thread = Thread.new({ epoch = 'x', rev = 0, entries = vim.deepcopy(_G.thread:list()) })
  local buf = vim.api.nvim_create_buf(false, true)
  View.new(buf, thread, context)
  return buf
end
_G.marks = function(buf)
  local ns = vim.api.nvim_create_namespace('acp_bridge')
  local found = {}
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buf, ns, 0, -1, { details = true })) do
    local d = mark[4]
    table.insert(found, { mark[2], mark[3], d.end_col or -1, d.hl_group or d.line_hl_group })
  end
  table.sort(found, function(a, b) return vim.inspect(a) < vim.inspect(b) end)
  return found
end
"""

KINDS = ("user", "agent", "thought", "tool", "stop", "plan", "notice", "novel")
PIECES = ("word ", "two\n", "\n\n", "  ", "ünï\r\n", "# head\n", "")


def entry(dice: random.Random, number: int) -> Json:
    kind = dice.choice(KINDS)
    made: Json = {"id": f"e{number}", "kind": kind, "turnId": "t"}
    if kind == "user":
        made["blocks"] = [{"type": "text", "text": f"ask {number}\n"}]
    elif kind in ("agent", "thought"):
        made["text"] = dice.choice(PIECES)
    elif kind == "tool":
        diff = {
            "type": "diff",
            "uri": "file:///tmp/a",
            "path": "/tmp/a",
            "oldText": "1\n2\n",
            "newText": "1\n3\n",
        }
        made |= {"name": "n", "title": f"Tool {number}", "status": "pending", "content": [diff]}
        made |= {"locations": [{"uri": "file:///tmp/b", "path": "/tmp/b", "line": 3}], "output": ""}
    elif kind == "plan":
        made["entries"] = [{"content": "do", "status": "pending"}]
    elif kind == "notice":
        made |= {"severity": "warning", "title": "Look"}
    elif kind == "stop":
        made["stopReason"] = dice.choice(["end_turn", "cancelled"])
    return made


def op(dice: random.Random, model: ThreadModel, number: int) -> Json:
    if not model.entries or dice.random() < 0.25:
        put: Json = {"op": "put", "entry": entry(dice, number)}
        if model.entries and dice.random() < 0.3:
            put["after"] = dice.choice(model.entries)["id"]
        return put
    target = dice.choice(model.entries[-4:])
    if dice.random() < 0.1:
        return {"op": "remove", "id": target["id"]}
    if target["kind"] in ("agent", "thought"):
        return {"op": "append", "id": target["id"], "field": "text", "text": dice.choice(PIECES)}
    if target["kind"] == "tool" and dice.random() < 0.5:
        return {"op": "append", "id": target["id"], "field": "output", "text": dice.choice(PIECES)}
    if target["kind"] == "tool":
        return {"op": "patch", "id": target["id"], "set": {"status": dice.choice(["completed", "failed"])}}
    return {"op": "put", "entry": {**entry(dice, number), "id": target["id"]}}


@pytest.mark.parametrize("seed", range(6))
def test_any_ops_lead_to_the_same_thread_and_the_same_picture(nvim: Neovim, seed: int) -> None:
    dice = random.Random(seed)
    model = ThreadModel("x", 0, [])
    nvim.lua(SETUP, {"epoch": "x", "rev": 0, "entries": []})
    for number in range(60):
        ops = []
        for step in range(dice.randint(1, 4)):
            made = op(dice, model, number * 10 + step)
            model.apply(made)
            ops.append(made)
        change = {"epoch": "x", "fromRev": model.rev, "rev": model.rev + len(ops), "ops": ops}
        model.rev += len(ops)
        assert nvim.lua("return _G.thread:change(...)", change) == "applied"
        if dice.random() < 0.5:
            nvim.lua("_G.view:draw()")
            lines, wanted = nvim.lua(
                "local fresh = _G.fresh()\n"
                "return { vim.api.nvim_buf_get_lines(_G.buf, 0, -1, false),"
                " vim.api.nvim_buf_get_lines(fresh, 0, -1, false) }"
            )
            assert lines == wanted
    nvim.lua("_G.view:draw()")
    assert nvim.lua("return _G.thread:list()") == model.entries
    marks, wanted_marks = nvim.lua("return { _G.marks(_G.buf), _G.marks(_G.fresh()) }")
    assert marks == wanted_marks
    assert marks


def test_only_lines_that_differ_are_written(nvim: Neovim) -> None:
    entries = [
        {"id": "u", "kind": "user", "turnId": "t", "blocks": [{"type": "text", "text": "go"}]},
        {"id": "a", "kind": "agent", "turnId": "t", "text": "one\ntwo"},
        {"id": "p", "kind": "plan", "turnId": "t", "entries": [{"content": c} for c in ("x", "y", "z")]},
    ]
    nvim.lua(SETUP, {"epoch": "x", "rev": 0, "entries": entries})
    before = nvim.lua("return vim.api.nvim_buf_get_lines(_G.buf, 0, -1, false)")
    nvim.lua(
        "_G.written = {}\n"
        "local function note(_, _, _, first, last, now) table.insert(_G.written, { first, last, now }) end\n"
        "vim.api.nvim_buf_attach(_G.buf, false, { on_lines = note })"
    )
    plan = [{"content": "x"}, {"content": "y", "status": "completed"}, {"content": "z"}]
    ops = [
        {"op": "append", "id": "a", "field": "text", "text": " more\nthree"},
        {"op": "patch", "id": "p", "set": {"entries": plan}},
    ]
    nvim.lua("_G.thread:change(...); _G.view:draw()", {"epoch": "x", "fromRev": 0, "rev": 2, "ops": ops})
    after = nvim.lua("return vim.api.nvim_buf_get_lines(_G.buf, 0, -1, false)")
    two, y = before.index("two"), before.index("    · y")
    assert after[two : two + 2] == ["two more", "three"]
    assert after[y + 1] == "    ✓ y"
    assert nvim.lua("return _G.written") == [[two, two + 1, two + 2], [y + 1, y + 2, y + 2]]


@pytest.mark.parametrize(
    ("change", "answer", "rev"),
    [
        ({"epoch": "x", "fromRev": 3, "rev": 5}, "old", 5),
        ({"epoch": "x", "fromRev": 6, "rev": 7}, "gap", 5),
        ({"epoch": "y", "fromRev": 5, "rev": 6}, "gap", 5),
        ({"epoch": "x", "fromRev": 4, "rev": 6}, "gap", 5),
        ({"epoch": "x", "fromRev": 5, "rev": 9}, "applied", 9),
    ],
)
def test_revisions(nvim: Neovim, change: Json, answer: str, rev: int) -> None:
    nvim.lua(SETUP, {"epoch": "x", "rev": 5, "entries": []})
    assert nvim.lua("return _G.thread:change(...)", {**change, "ops": []}) == answer
    assert nvim.lua("return _G.thread.rev") == rev


def test_a_gap_is_closed_by_fetching(chat: Neovim) -> None:
    chat.keys("iplain<C-s>")
    chat.sees("Hello from the demo agent.")
    chat.sees(" ready")
    told = chat.buffer("/demo")
    chat.lua(
        "local session = require('acp_bridge.sessions').current()\n"
        "session.thread:replace({ epoch = 'lost', rev = 0, entries = {} }); session.chat.view:draw()"
    )
    assert chat.buffer("/demo") == [""]
    chat.keys("iplain<C-s>")
    chat.until(lambda: chat.buffer("/demo")[: len(told) - 1] == told[:-1], "the thread is not fetched")
    chat.sees(" ready")
    assert sum("only text" in line for line in chat.buffer("/demo")) == 2


def test_null_clears_a_field_where_neovim_tells_it(nvim: Neovim) -> None:
    entries = [
        {"id": "t", "kind": "tool", "turnId": None, "title": "T", "status": "pending", "requestId": "r"}
    ]
    nvim.lua(SETUP, {"epoch": "x", "rev": 0, "entries": entries})
    code = (
        "_G.thread:change({ epoch = 'x', fromRev = 0, rev = 2, ops = {"
        " { op = 'patch', id = 't', set = { requestId = vim.NIL } },"
        " { op = 'put', entry = { id = 'f', kind = 'stop', turnId = vim.NIL }, after = vim.NIL } } })\n"
        "return { _G.thread:entry('t').requestId == nil, _G.thread.order }"
    )
    assert nvim.lua(code) == [True, ["f", "t"]]
