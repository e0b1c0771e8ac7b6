"""What plugins register is made alike: the name by position, everything else by keyword."""

from __future__ import annotations

import attrs

from pi_hookspecs import Command, Flag, Mode, ResourceKind, Shortcut, Subcommand, Theme
from pi_testing import for_each

KINDS = {
    Command: {"handler": print},
    Flag: {},
    Mode: {"run": print},
    ResourceKind: {"read": print},
    Shortcut: {"handler": print},
    Subcommand: {"run": print},
    Theme: {"colors": {}},
}


@for_each("kind", KINDS)
def test_the_name_can_be_given_by_position_and_by_keyword(kind):
    assert kind("acme", **KINDS[kind]).name == kind(name="acme", **KINDS[kind]).name == "acme"


@for_each("kind", KINDS)
def test_everything_else_is_given_by_keyword(kind):
    name, *others = attrs.fields(kind)

    assert (name.name, name.kw_only) == ("name", False)
    assert all(each.kw_only for each in others)
