"""Settings: from which place each one comes, and that a bad one costs no other."""

import pytest

DEFAULTS = {"default_agent": "", "thread_stream": "live", "thread_folder": ""}


def test_defaults(loaded):
    assert loaded().settings.model_dump() == DEFAULTS


def test_each_key_comes_from_the_highest_place_that_sets_it(loaded, write, user_dir):
    write(
        user_dir / "settings.json",
        '{"defaultAgent": "demo", "threadStream": "end", "threadFolder": "~/t",} // me',
    )
    assert loaded().settings.model_dump() == {
        "default_agent": "demo",
        "thread_stream": "end",
        "thread_folder": "~/t",
    }
    editor = {
        "trusted": True,
        "workspace": {"settings": {"defaultAgent": "gemini", "threadStream": "live"}},
        "settings": {"defaultAgent": "codex-acp", "threadFolder": None},
    }
    configuration = loaded(editor=editor)
    assert configuration.problems == []
    assert configuration.settings.model_dump() == {
        "default_agent": "codex-acp",
        "thread_stream": "live",
        "thread_folder": "~/t",
    }


def test_an_untouched_setting_of_an_editor_hides_nothing(loaded, write, user_dir):
    write(user_dir / "settings.json", {"defaultAgent": "demo"})
    assert loaded(editor={"settings": {"defaultAgent": ""}}).settings.default_agent == "demo"


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("threadStream", "sometimes", "must be one of 'live' or 'end'"),
        ("threadStream", True, "must be one of 'live' or 'end'"),
        ("defaultAgent", 7, "must be a string, not a number"),
        ("threadFolder", ["x"], "must be a string, not a list"),
    ],
)
def test_a_bad_value_is_a_problem_and_the_default_is_kept(loaded, key, value, words):
    configuration = loaded(editor={"settings": {key: value}})
    [problem] = configuration.problems
    assert (problem.file, problem.field, problem.severity) == ("editor settings: settings", key, "error")
    assert words in problem.message
    assert configuration.settings.model_dump() == DEFAULTS


def test_a_bad_value_leaves_the_place_below(loaded, write, user_dir):
    write(user_dir / "settings.json", {"threadStream": "end"})
    assert loaded(editor={"settings": {"threadStream": "never"}}).settings.thread_stream == "end"


@pytest.mark.parametrize(("key", "hint"), [("defaultAgents", "'defaultAgent'"), ("zzz", "threadStream")])
def test_an_unknown_setting_is_a_warning(loaded, key, hint):
    configuration = loaded(editor={"settings": {key: 1, "threadStream": "end"}})
    [problem] = configuration.problems
    assert (problem.field, problem.severity) == (key, "warning")
    assert hint in problem.hint
    assert configuration.settings.thread_stream == "end"


def test_settings_that_are_no_object(loaded, write, user_dir):
    path = write(user_dir / "settings.json", "[]")
    [problem] = loaded().problems
    assert (problem.file, problem.message) == (str(path), "must be an object, not a list")


def test_settings_that_are_no_json(loaded, write, user_dir):
    path = write(user_dir / "settings.json", "{defaultAgent}")
    [problem] = loaded().problems
    assert problem.file == str(path)
    assert "line 1, column 2" in problem.message


def test_a_default_agent_that_is_not_there_is_told_with_the_choices(loaded):
    configuration = loaded(editor={"settings": {"defaultAgent": "claud"}})
    [problem] = configuration.problems
    assert problem.field == "defaultAgent"
    assert "'claud'" in problem.message
    assert "claude-acp" in problem.hint
    assert configuration.settings.default_agent == "claud"


def test_an_unknown_default_agent_is_reported_with_the_place_that_chose_it(loaded, write, user_dir):
    path = write(user_dir / "settings.json", '{"defaultAgent": "nope"}')
    [problem] = loaded().problems
    assert (problem.file, problem.field) == (str(path), "defaultAgent")
    [problem] = loaded(editor={"settings": {"defaultAgent": "neither"}}).problems
    assert problem.file == "editor settings: settings"
