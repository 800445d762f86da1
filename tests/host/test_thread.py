"""The thread: whatever happens to it, ops lead any observer from where it stood to where the thread is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_bridge.host.errors import HostError
from acp_bridge.host.thread import LOG_LENGTH, Thread
from acp_bridge.jsonrpc.messages import dumps

from .rebuild import apply_ops

TEXTS = st.text(st.characters(exclude_categories=()), max_size=8)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["put", "put_after", "append", "append_output", "patch", "patch_text", "clear", "remove", "look"]
        ),
        st.integers(0, 30),
        TEXTS,
    ),
    max_size=40,
)


def do(thread: Thread, step: str, number: int, text: str) -> None:
    some = thread.entry(thread.order[number % len(thread.order)]) if thread.order else None
    if step == "put":
        thread.put("agent", {"n": number}, turn_id="t", text_field="text")
    elif some is None:
        return
    elif step == "put_after":
        thread.put("tool", {"output": text}, turn_id="t", after=some.id)
    elif step == "append":
        thread.append(some, "text", text)
    elif step == "append_output":
        thread.append(some, "output", text)
    elif step == "patch":
        thread.patch(some, {"n": number, "title": text})
    elif step == "patch_text":
        thread.patch(some, {"text": text})
    elif step == "clear":
        thread.patch(some, {"title": None})
    elif step == "remove":
        thread.remove(some)


@given(STEPS)
def test_a_watcher_that_looks_now_and_then_sees_the_same_thread(steps: list[tuple[str, int, str]]) -> None:
    thread = Thread("ses")
    delta = thread.watch()
    seen: list[dict[str, Any]] = []
    rev = 0
    for step, number, text in [*steps, ("look", 0, "")]:
        if step != "look":
            do(thread, step, number, text)
            continue
        message = delta.message()
        assert message["fromRev"] == rev
        seen = apply_ops(seen, message["ops"])
        rev = message["rev"]
        delta.reset()
        assert seen == thread.entries()
    assert rev == thread.rev


@given(STEPS, st.integers(0, 40))
def test_get_since_any_revision_leads_to_the_present(steps: list[tuple[str, int, str]], since: int) -> None:
    thread = Thread("ses")
    states = {0: thread.entries()}
    for step, number, text in steps:
        do(thread, step, number, text)
        states[thread.rev] = thread.entries()
    since = min(since, thread.rev)
    result = thread.get(epoch=thread.epoch, since_rev=since)
    assert apply_ops(states[since], result["ops"]) == thread.entries()


@given(STEPS, st.integers(0, 3))
def test_the_encoded_form_says_the_same_however_long_the_text(
    steps: list[tuple[str, int, str]], size: int
) -> None:
    thread = Thread("ses")
    delta = thread.watch()
    for step, number, text in steps:
        do(thread, step, number, text * 10**size if step.startswith("append") else text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("acp_bridge.host.thread.PIECE", 7)
        assert json.loads(b"".join(delta.encoded())) == json.loads(dumps(delta.message()))


def test_consecutive_text_is_one_append_and_a_created_entry_needs_none() -> None:
    thread = Thread("ses")
    delta = thread.watch()
    entry = thread.put("agent", {}, turn_id="t", text_field="text")
    thread.append(entry, "text", "ab")
    assert [op["op"] for op in delta.ops()] == ["put"]
    delta.reset()
    thread.append(entry, "text", "c")
    thread.append(entry, "text", "d")
    assert delta.ops() == [{"op": "append", "id": entry.id, "field": "text", "text": "cd"}]


def test_halves_of_a_surrogate_pair_never_break_the_thread() -> None:
    thread = Thread("ses")
    entry = thread.put("agent", {}, turn_id="t", text_field="text")
    thread.append(entry, "text", "\ud83d")
    thread.append(entry, "text", "x")
    assert entry.text() == "\ufffdx"


def test_another_epoch_and_a_revision_too_old_get_entries() -> None:
    thread = Thread("ses")
    entry = thread.put("agent", {}, turn_id="t", text_field="text")
    assert "entries" in thread.get(epoch="another", since_rev=0)
    for number in range(LOG_LENGTH + 1):
        thread.patch(entry, {"n": number})
    assert "entries" in thread.get(epoch=thread.epoch, since_rev=0)
    assert thread.get(epoch=thread.epoch, since_rev=thread.rev)["ops"] == []
    assert "entries" in thread.get(epoch=thread.epoch, since_rev=thread.rev + 1)


def test_pages_go_back_to_the_first_entry() -> None:
    thread = Thread("ses")
    for number in range(5):
        thread.put("agent", {"n": number}, turn_id="t")
    page = thread.get(limit=2)
    seen = page["entries"]
    while "prevCursor" in page:
        page = thread.get(before=page["prevCursor"], limit=2)
        seen = page["entries"] + seen
    assert [entry["n"] for entry in seen] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(("asked", "param"), [({"limit": 0}, "limit"), ({"before": "nonsense"}, "before")])
def test_bad_pages_name_the_parameter(asked: dict[str, Any], param: str) -> None:
    thread = Thread("ses")
    with pytest.raises(HostError) as caught:
        thread.get(**asked)
    assert (caught.value.kind, caught.value.param) == ("badParam", param)


SCRIPT = [
    ("put", 1, ""), ("put", 2, ""), ("append", 0, "a"), ("patch", 0, "t"), ("append_output", 1, "o"),
    ("patch_text", 0, "new"), ("append", 0, "b"), ("put_after", 0, "in"), ("patch", 1, "u"), ("clear", 0, ""),
    ("remove", 2, ""), ("put", 3, ""), ("append", 2, "c"), ("remove", 2, ""), ("append", 0, "d"),
]  # fmt: skip


@pytest.mark.parametrize("looks", range(1, len(SCRIPT)))
def test_every_kind_of_change_reaches_whoever_looks_that_often(looks: int) -> None:
    thread = Thread("ses")
    delta = thread.watch()
    seen: list[dict[str, Any]] = []
    states = {0: thread.entries()}
    for number, step in enumerate(SCRIPT):
        do(thread, *step)
        states[thread.rev] = thread.entries()
        if number % looks == 0:
            seen = apply_ops(seen, delta.ops())
            delta.reset()
            assert seen == thread.entries()
    for since, state in states.items():
        assert apply_ops(state, thread.get(epoch=thread.epoch, since_rev=since)["ops"]) == thread.entries()
