"""One list of config options from configOptions, modes and legacy models."""

from __future__ import annotations

from typing import Any

import pytest

from acp_bridge.agents.acp.options import SessionOptions
from acp_bridge.agents.acp.updates import read
from acp_bridge.agents.events import ConfigOptions, Event

MODES = {
    "currentModeId": "ask",
    "availableModes": [
        {"id": "ask", "name": "Ask", "description": "Asks first"},
        {"id": "https://agent.example/modes#auto"},
        {"name": "no id"},
    ],
}
MODELS = {
    "currentModelId": "big",
    "availableModels": [{"modelId": "big", "name": "Big"}, {"modelId": "small", "name": "Small"}],
}
FOLDED_MODE = {
    "id": "mode",
    "name": "Mode",
    "category": "mode",
    "type": "select",
    "currentValue": "ask",
    "options": [
        {"value": "ask", "name": "Ask", "description": "Asks first"},
        {"value": "https://agent.example/modes#auto", "name": "https://agent.example/modes#auto"},
    ],
}
FOLDED_MODEL = {
    "id": "model",
    "name": "Model",
    "category": "model",
    "type": "select",
    "currentValue": "big",
    "options": [{"value": "big", "name": "Big"}, {"value": "small", "name": "Small"}],
}
EFFORT = {
    "id": "effort",
    "name": "Effort",
    "type": "select",
    "currentValue": "low",
    "options": [
        {"group": "g", "name": "G", "options": [{"value": "low", "name": "Low"}, {"value": 3}]},
        {"value": "x"},
    ],
}
EFFORT_CLEANED = {
    **EFFORT,
    "options": [{"group": "g", "name": "G", "options": [{"value": "low", "name": "Low"}]}],
}
FAST = {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": True, "_meta": {"x": 1}}


def after(result: dict[str, Any]) -> SessionOptions:
    options = SessionOptions()
    options.opened(result)
    return options


def test_modes_and_models_become_options() -> None:
    assert after({"modes": MODES, "models": MODELS}).current() == [FOLDED_MODE, FOLDED_MODEL]


def test_config_options_win_over_modes_and_models() -> None:
    options = after({"modes": MODES, "models": MODELS, "configOptions": [FAST]})
    assert options.current() == [FAST]
    assert read({"sessionUpdate": "current_mode_update", "currentModeId": "auto"}, options) == []


@pytest.mark.parametrize("key", ["currentModeId", "modeId"])
def test_a_mode_update_changes_the_folded_option(key: str) -> None:
    options = after({"modes": MODES, "models": MODELS})
    (event,) = read({"sessionUpdate": "current_mode_update", key: "other"}, options)
    assert isinstance(event, ConfigOptions)
    assert event.options == [{**FOLDED_MODE, "currentValue": "other"}, FOLDED_MODEL]


def test_a_config_option_update_replaces_everything_and_takes_over() -> None:
    options = after({"modes": MODES})
    update = {"sessionUpdate": "config_option_update", "configOptions": [FAST, EFFORT]}
    assert read(update, options) == [ConfigOptions(options=[FAST, EFFORT_CLEANED])]
    assert read({"sessionUpdate": "current_mode_update", "currentModeId": "auto"}, options) == []


def test_events_do_not_share_a_list_that_changes() -> None:
    options = after({"modes": MODES})
    first: list[Event] = read({"sessionUpdate": "current_mode_update", "currentModeId": "one"}, options)
    read({"sessionUpdate": "current_mode_update", "currentModeId": "two"}, options)
    assert isinstance(first[0], ConfigOptions)
    assert first[0].options[0]["currentValue"] == "one"


@pytest.mark.parametrize(
    "bad",
    [
        {"id": "x"},
        {"id": "x", "name": "X", "type": "slider", "currentValue": 3},
        {"id": "x", "name": "X", "type": "boolean", "currentValue": "yes"},
        {"id": "x", "name": "X", "type": "select", "currentValue": 1, "options": []},
        {"id": "x", "name": "X", "type": "select", "currentValue": "a", "options": None},
        7,
    ],
)
def test_a_bad_option_is_left_out_alone(bad: Any) -> None:
    assert after({"configOptions": [bad, FAST]}).current() == [FAST]


@pytest.mark.parametrize(
    "result", [{}, {"modes": None}, {"modes": {"currentModeId": 1}}, {"configOptions": None}]
)
def test_nothing_offered_is_nothing_shown(result: dict[str, Any]) -> None:
    options = SessionOptions()
    assert not options.opened(result)
    assert options.current() == []


def test_options_said_before_the_answer_hold_against_its_modes() -> None:
    options = SessionOptions()
    options.replace([FAST])
    assert not options.opened({"modes": MODES})
    assert options.current() == [FAST]


@pytest.mark.parametrize(
    ("result", "config_id", "value", "call"),
    [
        ({"modes": MODES}, "mode", "auto", ("session/set_mode", {"sessionId": "s", "modeId": "auto"})),
        ({"models": MODELS}, "model", "small", ("session/set_model", {"sessionId": "s", "modelId": "small"})),
        (
            {"configOptions": [FAST]},
            "fast",
            False,
            (
                "session/set_config_option",
                {"sessionId": "s", "configId": "fast", "value": False, "type": "boolean"},
            ),
        ),
        (
            {"modes": MODES, "configOptions": [{**FOLDED_MODE}]},
            "mode",
            "auto",
            ("session/set_config_option", {"sessionId": "s", "configId": "mode", "value": "auto"}),
        ),
    ],
)
def test_an_option_is_set_the_way_it_was_offered(
    result: dict[str, Any], config_id: str, value: Any, call: tuple[str, dict[str, Any]]
) -> None:
    assert after(result).setter("s", config_id, value) == call
