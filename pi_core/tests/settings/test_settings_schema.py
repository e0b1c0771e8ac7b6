"""Every setting of the contract is declared by pi or a plugin, and the JSON schema that is made of them is one."""

from __future__ import annotations

from functools import cache

from jsonschema import Draft202012Validator

from pi_core import PluginHost, Settings
from pi_core.settings.declared import DeclaredSetting
from pi_core.settings.schema_info import KnownSettings
from pi_testing import for_each


@cache
def known():
    """Return the settings of pi and of all plugins, which takes seconds: too long while tests are collected."""
    return PluginHost(Settings.in_memory()).known_settings


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
    setting = known().find(tuple(name.split(".")))

    assert setting is not None
    assert setting.default == DOCUMENT_004[name]


def test_the_schema_is_a_json_schema():
    Draft202012Validator.check_schema(known().json_schema)


def test_every_setting_is_described_once_and_its_default_fits():
    names = [each.name for each in known()]

    assert len(names) == len(set(names)) > 60
    for each in known():
        assert each.description[0].isupper()
        assert not each.description.endswith(".")
        assert known().problem_with(tuple("any" if step == "*" else step for step in each.steps), each.default) is None


def test_names_in_the_middle_are_free():
    assert (
        known().find(("compaction", "modelOverrides", "acme/one", "reserveTokens")).kind
        == "a whole number of at least 0"
    )
    assert known().find(("compaction", "modelOverrides", "acme/one")) is None
    assert known().find(("compaction",)) is None


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
    found = known().problem_with(key.split("."), value)

    assert found is None if problem is None else found.startswith(problem)


def declared(name: str, plugin: str = "acme", **schema: object) -> DeclaredSetting:
    return DeclaredSetting(name, schema, "What it does", "set", protected=False, plugin=plugin)


ACME = KnownSettings(
    (
        declared("acme", type="object"),
        declared("acme.level", enum=["low", "high"], default="low"),
        declared("acme.url", type="string", pattern="^https://"),
        declared("acme.of.*.count", type=["integer", "null"], minimum=1),
        declared("acme.anything"),
        declared("acme.level", "other", enum=["low"]),
        declared("images.blockImages", "other", type="string"),
    )
)


@for_each(
    ("key", "value", "problem"),
    [
        ("acme.level", "low", None),
        ("acme.level", "max", "Setting 'acme.level' must be low or high, not \"max\"."),
        ("acme.level", "high", "Setting 'acme.level' must be low, not \"high\"."),
        ("acme.url", "https://a.example", None),
        ("acme.url", 5, "Setting 'acme.url' must be a string, not 5."),
        ("acme.url", "ftp://", "Setting 'acme.url' cannot be \"ftp://\": 'ftp://' does not match '^https://'."),
        ("acme.of.x.count", 0, "Setting 'acme.of.x.count' must be a whole number of at least 1, not 0."),
        ("acme.of", {"x": {"count": 0}}, "Setting 'acme.of.x.count' must be a whole number of at least 1, not 0."),
        ("acme.anything", {"a": [1]}, None),
        ("acme.anything.below", 5, None),
        ("acme", 5, "Setting 'acme' must be an object, not 5."),
        ("acme.level.x", 5, "Setting 'acme.level' is low or high; there is no 'acme.level.x'."),
        ("images.blockImages", True, "Setting 'images.blockImages' must be a string, not true."),
    ],
)
def test_values_of_plugins_are_judged_by_every_declaration(key, value, problem):
    assert ACME.problem_with(key.split("."), value) == problem


def test_settings_of_plugins_are_listed_like_pis_own():
    listed = {each.name: (each.kind, each.default, each.plugin) for each in ACME}

    assert listed["acme.level"] == ("low or high", "low", "acme")
    assert listed["acme.of.*.count"] == ("a whole number of at least 1", None, "acme")
    assert listed["images.blockImages"] == ("true or false", False, None)
    assert "acme" not in listed
    assert ACME.json_schema["properties"]["acme"]["description"] == "What it does"
    Draft202012Validator.check_schema(ACME.json_schema)
