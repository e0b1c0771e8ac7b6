"""A plugin reads its settings through their declarations: the type and the default are said once."""

from __future__ import annotations

from pi_core.settings import Settings
from pi_hookspecs import PluginSetting
from pi_testing import for_each

COUNT = {"type": "integer", "minimum": 1, "default": 3}
NAMES = {"type": "array", "items": {"type": "string"}, "default": ["a"]}
MIXED = {"enum": ["auto", True, False], "default": "auto"}
UNSET = object()


@for_each(
    ("schema", "value", "read", "reported"),
    [
        ({"type": "boolean", "default": True}, False, False, ""),
        ({"type": "boolean", "default": True}, "no", True, "must be true or false"),
        ({"type": "boolean"}, None, None, ""),
        (COUNT, 5, 5, ""),
        (COUNT, 5.0, 5, ""),
        (COUNT, 0, 3, "must be a number of at least 1"),
        (COUNT, None, 3, ""),
        ({"type": ["integer", "null"]}, UNSET, None, ""),
        ({"type": "number", "minimum": 0, "default": 0.5}, UNSET, 0.5, ""),
        ({"type": "number", "default": 0.5}, float("inf"), 0.5, "must be a number"),
        ({"type": "string"}, "x", "x", ""),
        ({"type": "string", "default": "x"}, 5, "x", "must be a string"),
        ({"enum": ["low", "high"], "default": "low"}, "high", "high", ""),
        ({"enum": ["low", "high"], "default": "low"}, "max", "low", "must be low or high"),
        (MIXED, False, False, ""),
        (MIXED, 0, "auto", ""),
        (MIXED, "kitty", "auto", ""),
        (NAMES, ["b"], ["b"], ""),
        (NAMES, [], [], ""),
        (NAMES, UNSET, ["a"], ""),
        (NAMES, "b", ["a"], "must be a list of strings"),
        ({"type": "array", "items": {"type": "string"}}, UNSET, None, ""),
        ({"type": "object", "default": {}}, {"a": 1}, {"a": 1}, ""),
        ({}, [1, "a"], [1, "a"], ""),
    ],
)
def test_a_setting_is_read_with_the_type_and_the_default_of_its_declaration(schema, value, read, reported):
    settings = Settings.in_memory({} if value is UNSET else {"acme": {"of": value}})

    found = PluginSetting("acme.of", schema=schema).read(settings)

    assert (found, type(found)) == (read, type(read))
    assert reported in " ".join(settings.problems)
    assert len(settings.problems) == bool(reported)


def test_a_default_that_is_changed_by_its_reader_stays_what_it_was():
    setting = PluginSetting("acme.names", schema=NAMES)
    setting.read(Settings.in_memory()).append("b")

    assert setting.read(Settings.in_memory()) == ["a"]


def test_a_setting_below_any_name_is_read_for_one():
    setting = PluginSetting("acme.of.*.count", schema=COUNT)
    settings = Settings.in_memory({"acme": {"of": {"a.b/c": {"count": 7}}}})

    assert [setting.read(settings, "a.b/c"), setting.read(settings, "d")] == [7, 3]
    assert setting.read(settings, "d", default=9) == 9
