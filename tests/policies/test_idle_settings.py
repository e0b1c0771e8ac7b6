"""Settings that have no effect, because the one that switches their plugin on is not set, are named at the start."""

from __future__ import annotations

import pytest

from pi_core import PluginHost, Settings


def problems(tmp_path, values) -> list[str]:
    host = PluginHost(Settings.in_memory(values, agent_dir=tmp_path))
    host.load_listeners(tmp_path)
    return [each.message for each in host.problems if each.step == "settings"]


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"codemode": {"preview": True}}, "codemode.preview has no effect: the plugin 'codemode' is off"),
        ({"imageGeneration": {"model": "a/b"}}, "imageGeneration.model has no effect"),
        (
            {"notifications": {"after": 3}},
            "notifications.after has no effect: the plugin 'notifications' is off until notifications.command or ",
        ),
    ],
)
def test_a_setting_that_waits_for_another_one_is_named(tmp_path, values, named):
    (problem,) = problems(tmp_path, values)

    assert problem.startswith(named)


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"codemode": {"preview": True, "enabled": True}},
        {"codemode": {"preview": True, "enabled": False}},
        {"notifications": {"after": 3, "terminal": "bell"}},
        {"rewind": {"enabled": False, "include": ["x"]}},
    ],
    ids=str,
)
def test_what_is_switched_on_or_off_on_purpose_is_not_mentioned(tmp_path, values):
    assert problems(tmp_path, values) == []
