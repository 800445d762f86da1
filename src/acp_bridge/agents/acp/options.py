"""One list of config options a session, whatever the agent offered: configOptions, modes, legacy models.

configOptions win: an agent that gives any is driven by them alone (ACP: "use configOptions exclusively").
Otherwise modes become a select option `mode` and models a select option `model`; setting those goes back
over the legacy calls. Source: ACP schema v1, session/new, session/set_mode; session/set_model is older.
"""

from __future__ import annotations

from typing import Any

from acp_bridge.agents.acp import lenient
from acp_bridge.agents.events import Json

MODE = "mode"
MODEL = "model"


class SessionOptions:
    """The options of one session as last heard."""

    def __init__(self) -> None:
        self._options: list[Json] = []
        self._folded = True

    def current(self) -> list[Json]:
        """A list of its own, ConfigOptions shaped."""
        return [dict(option) for option in self._options]

    def opened(self, result: Json) -> bool:
        """Take the answer to session/new, load, resume or fork; False if it holds no options at all."""
        if isinstance(result.get("configOptions"), list):
            self.replace(result["configOptions"])
            return True
        folded = [
            option
            for option in (
                _from_modes(lenient.obj(result, "modes")),
                _from_models(lenient.obj(result, "models")),
            )
            if option is not None
        ]
        if folded and self._folded:
            self._options = folded
        return bool(folded) and self._folded

    def replace(self, options: list[Any]) -> None:
        """Take a complete configOptions list; items that make no sense are left out."""
        self._options = lenient.kept((o for o in options if isinstance(o, dict)), check_option)
        self._folded = False

    def select(self, config_id: str, value: Any) -> bool:
        """Note that `config_id` now is `value`; False if there is no such option."""
        for place, option in enumerate(self._options):
            if option["id"] == config_id:
                self._options[place] = {**option, "currentValue": value}
                return True
        return False

    def mode_changed(self, mode_id: str) -> bool:
        """Take a current_mode_update; False where configOptions already tell the mode."""
        return self._folded and self.select(MODE, mode_id)

    def setter(self, session_id: str, config_id: str, value: Any) -> tuple[str, Json]:
        """The call that sets an option: (method, params)."""
        if self._folded and config_id == MODE:
            return "session/set_mode", {"sessionId": session_id, "modeId": value}
        if self._folded and config_id == MODEL:
            return "session/set_model", {"sessionId": session_id, "modelId": value}
        params: Json = {"sessionId": session_id, "configId": config_id, "value": value}
        if isinstance(value, bool):
            params["type"] = "boolean"
        return "session/set_config_option", params


def check_option(option: Json) -> Json | None:
    """The option with its bad choices left out; None if it is of an unknown type or makes no sense."""
    if not lenient.strings(option, "id", "name"):
        return None
    current = option.get("currentValue")
    if option.get("type") == "boolean":
        return option if isinstance(current, bool) else None
    choices = lenient.objects(option, "options")
    if option.get("type") != "select" or not isinstance(current, str) or not isinstance(choices, list):
        return None
    return {**option, "options": lenient.kept(choices, _check_choice)}


def _check_choice(choice: Json) -> Json | None:
    if lenient.strings(choice, "value", "name"):
        return choice
    grouped = lenient.objects(choice, "options")
    if not lenient.strings(choice, "group", "name") or not isinstance(grouped, list):
        return None
    return {**choice, "options": [item for item in grouped if lenient.strings(item, "value", "name")]}


def _from_modes(modes: Json) -> Json | None:
    return _folded(modes, MODE, "Mode", "currentModeId", "availableModes", "id")


def _from_models(models: Json) -> Json | None:
    return _folded(models, MODEL, "Model", "currentModelId", "availableModels", "modelId")


def _folded(
    state: Json, option_id: str, name: str, current_key: str, list_key: str, id_key: str
) -> Json | None:
    available = lenient.objects(state, list_key)
    if not lenient.strings(state, current_key) or not isinstance(available, list):
        return None
    choices = [_choice(item, id_key) for item in available if lenient.strings(item, id_key)]
    return {
        "id": option_id,
        "name": name,
        "category": option_id,
        "type": "select",
        "currentValue": state[current_key],
        "options": choices,
    }


def _choice(item: Json, id_key: str) -> Json:
    choice: Json = {"value": item[id_key], "name": lenient.text_or_none(item, "name") or item[id_key]}
    if lenient.strings(item, "description"):
        choice["description"] = item["description"]
    return choice
