"""Themes are resolved: chains of variables, colours in every form, and everything that is wrong by its name."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from pi_core.resources.theme_resolver import resolve_theme, theme_of_file
from pi_hookspecs import OPTIONAL_THEME_ROLES, REQUIRED_THEME_ROLES, Theme
from pi_testing import for_each

PLAIN = dict.fromkeys(REQUIRED_THEME_ROLES, "#112233")


def theme(variables=None, **colors):
    """Return a theme with all roles, and these colours."""
    return Theme("mine", colors={**PLAIN, **colors}, vars=variables or {})


def sentences(theme):
    """Return what is wrong in a theme."""
    return tuple(map(str, resolve_theme(theme)[1]))


def test_there_are_51_roles_that_every_theme_has_and_5_that_follow_one_of_them():
    assert (len(REQUIRED_THEME_ROLES), len(OPTIONAL_THEME_ROLES)) == (51, 5)
    assert set(OPTIONAL_THEME_ROLES.values()) <= REQUIRED_THEME_ROLES


@for_each(
    ("value", "color"),
    [
        ("#ABC", "#aabbcc"),
        ("#00Ff7f", "#00ff7f"),
        (0, 0),
        (255, 255),
        ("", ""),
        ("oklch(100% 0 0)", "#ffffff"),
        ("oklch(0 0 0)", "#000000"),
        ("oklch(62.8% 0.2577 29.23)", "#ff0000"),
    ],
)
def test_a_colour_is_what_a_terminal_can_draw(value, color):
    resolved, problems = resolve_theme(theme(accent=value))

    assert problems == ()
    assert resolved.colors["accent"] == color


def test_a_chain_of_variables_is_followed():
    resolved, problems = resolve_theme(theme({"a": "b", "b": "c", "c": 17}, accent="a"))

    assert (resolved.colors["accent"], resolved.vars, problems) == (17, {}, ())


def test_a_cycle_is_reported_with_its_variables():
    problems = sentences(theme({"a": "b", "b": "a"}, accent="a"))

    assert problems == ("accent: the variables a -> b -> a form a cycle",)


def test_a_variable_that_is_not_defined_is_reported_with_the_way_to_it():
    problems = sentences(theme({"a": "sea"}, accent="a", error="see"))

    assert set(problems) == {
        "accent: 'sea' is neither a colour nor the name of a variable (by way of a)",
        "error: 'see' is neither a colour nor the name of a variable",
    }


@for_each("value", [-1, 256, True, 1.5, None, ["#fff"]])
def test_what_is_no_colour_is_reported_with_the_right_forms(value):
    resolved, problems = resolve_theme(theme(accent=value))

    assert tuple(map(str, problems)) == (
        f"accent: {value!r} is not a colour; write '#rrggbb', an index from 0 to 255, or the name of a variable",
    )
    assert "accent" not in resolved.colors


def test_missing_roles_are_named():
    colors = dict.fromkeys(REQUIRED_THEME_ROLES - {"accent", "mdHr"}, "")

    problems = sentences(Theme("mine", colors=colors))

    assert problems == ("it has no colour for accent, mdHr",)


def test_a_role_that_was_left_out_follows_another_one():
    resolved, _ = resolve_theme(theme(thinkingXhigh="#010203", searchMatchText=7))

    assert resolved.colors["thinkingMax"] == "#010203"
    assert resolved.colors["searchMatchText"] == 7
    assert resolved.colors.keys() >= OPTIONAL_THEME_ROLES.keys()


def test_colours_for_exports_and_the_appearance_of_a_file_are_kept():
    data = {"colors": PLAIN, "vars": {"page": "#123"}, "export": {"pageBg": "page"}, "appearance": "light"}

    resolved, problems = resolve_theme(theme_of_file("mine", data))

    assert (resolved.export, resolved.appearance, problems) == ({"pageBg": "#112233"}, "light", ())


def test_another_appearance_is_reported():
    problems = sentences(theme_of_file("mine", {"colors": PLAIN, "appearance": "dim"}))

    assert problems == ("appearance: it must be 'dark' or 'light', not 'dim'",)


values = st.none() | st.integers() | st.text(max_size=4) | st.sampled_from(["a", "b", "c", "#fff", "oklch(1 1 1)"])


roles = st.dictionaries(st.sampled_from(["accent", "text", "error"]), values)


@given(roles, st.dictionaries(st.sampled_from("abc"), values))
def test_whatever_a_file_has_every_colour_can_be_drawn_or_is_reported(colors, variables):
    resolved, problems = resolve_theme(theme(variables, **colors))

    for role in REQUIRED_THEME_ROLES:
        color = resolved.colors.get(role)
        if color is None:
            assert any(str(problem).startswith(f"{role}: ") for problem in problems)
        elif isinstance(color, int):
            assert 0 <= color <= 255
        else:
            assert re.fullmatch("(#[0-9a-f]{6})?", color)
