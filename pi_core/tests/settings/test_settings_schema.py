"""The class names every setting of the contract, and the JSON schema that is made of it is one."""

from __future__ import annotations

from jsonschema import Draft202012Validator

from pi_core.settings.schema_info import find, json_schema, problem_with, settings
from pi_testing import for_each

DOCUMENT_004 = {
    "theme": None,
    "hideThinkingBlock": False,
    "showHardwareCursor": False,
    "defaultProvider": None,
    "defaultModel": None,
    "enabledModels": [],
    "defaultThinkingLevel": "medium",
    "steeringMode": "one-at-a-time",
    "followUpMode": "one-at-a-time",
    "quietStartup": False,
    "collapseChangelog": False,
    "doubleEscapeAction": "tree",
    "editorPaddingX": 0,
    "autocompleteMaxVisible": 5,
    "shellPath": None,
    "shellCommandPrefix": None,
    "compaction.enabled": True,
    "compaction.reserveTokens": 16384,
    "compaction.keepRecentTokens": 20000,
    "retry.enabled": True,
    "retry.maxRetries": 3,
    "retry.baseDelayMs": 2000,
    "retry.maxDelayMs": 60000,
    "images.autoResize": True,
    "images.blockImages": False,
    "terminal.showImages": True,
    "terminal.clearOnShrink": False,
    "branchSummary.reserveTokens": 16384,
    "thinkingBudgets.low": None,
    "packages": [],
    "extensions": [],
    "skills": [],
    "prompts": [],
    "themes": [],
    "enableSkillCommands": True,
}


@for_each("name", DOCUMENT_004)
def test_settings_of_document_004_are_there_with_their_defaults(name):
    setting = find(tuple(name.split(".")))

    assert setting is not None
    assert setting.default == DOCUMENT_004[name]


def test_the_schema_is_a_json_schema():
    Draft202012Validator.check_schema(json_schema())


def test_every_setting_is_described_once_and_its_default_fits():
    names = [each.name for each in settings()]

    assert len(names) == len(set(names)) > 60
    for each in settings():
        assert each.description[0].isupper()
        assert not each.description.endswith(".")
        assert problem_with(tuple("any" if step == "*" else step for step in each.steps), each.default) is None


def test_names_in_the_middle_are_free():
    assert find(("compaction", "modelOverrides", "acme/one", "reserveTokens")).kind == "a whole number of at least 0"
    assert find(("compaction", "modelOverrides", "acme/one")) is None
    assert find(("compaction",)) is None


@for_each(
    ("key", "value", "problem"),
    [
        ("theme", "dark", None),
        ("theme", None, None),
        ("unknown.thing", object, None),
        ("packages", ["npm:a", {"source": "git:b", "skills": []}], None),
        ("packages", [5], "Setting 'packages.0' must be a string or an object, not 5."),
        ("hooks.timeout", True, "Setting 'hooks.timeout' must be a number of at least 0.001, not true."),
        ("hooks.specs", {"tool_call": {"timeout": "x"}}, "Setting 'hooks.specs.tool_call.timeout' must be a number"),
        ("compaction", 5, "Setting 'compaction' must be an object, not 5."),
    ],
)
def test_values_are_judged(key, value, problem):
    found = problem_with(key.split("."), value)

    assert found is None if problem is None else found.startswith(problem)
