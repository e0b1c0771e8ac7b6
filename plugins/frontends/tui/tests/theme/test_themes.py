"""Every role has a colour in every theme, text is readable on its background, and few colours are enough."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_core.resources.theme_resolver import resolve_theme
from pi_hookspecs import Run
from pi_testing import for_each
from pi_tui.theme.builtin_themes import BUILTIN_NAMES, builtin_theme, builtin_themes
from pi_tui.theme.choose import appearance_of_environment, appearance_of_reply, color_depth, theme_name
from pi_tui.theme.colors import contrast, fitted, rgb_of
from pi_tui.theme.palette import Palette, Style
from pi_tui.theme.tokens import BACKGROUNDS, OPTIONAL, REQUIRED, TOKENS

PAGES = {"dark": "#16181d", "light": "#ffffff"}
LINES_ONLY = {"border", "borderAccent", "borderMuted", "mdHr", "mdQuoteBorder", "scrollbarThumb", "searchMatchText"}
LINES_ONLY |= {token for token in TOKENS if token.startswith("thinking") and token != "thinkingText"}
ON_BOXES = (
    "text muted toolTitle toolOutput error syntaxKeyword syntaxString syntaxVariable toolDiffAdded toolDiffRemoved"
)
depths = st.sampled_from(["truecolor", "256", "16", "none"])


def test_there_are_as_many_tokens_as_theme_files_have():
    assert (len(REQUIRED), len(OPTIONAL), len(TOKENS)) == (51, 5, 56)


@pytest.mark.parametrize("name", BUILTIN_NAMES)
def test_a_built_in_theme_is_complete(name):
    theme = builtin_theme(name)

    assert theme.name == name
    assert theme.colors.keys() == TOKENS
    assert not theme.vars
    assert all(color == "" or rgb_of(color) is not None for color in theme.colors.values())


def test_the_system_theme_uses_the_terminal_s_own_colours():
    assert {color for color in builtin_theme("system").colors.values() if color != ""} <= {*range(16)}


@pytest.mark.parametrize("theme", builtin_themes(), ids=lambda theme: theme.name)
def test_a_built_in_theme_needs_no_resolver(theme):
    assert resolve_theme(theme) == (theme, ())


def test_a_built_in_theme_says_for_which_screens_it_is():
    assert {theme.name: theme.appearance for theme in builtin_themes()} == {
        "dark": "dark",
        "light": "light",
        "system": None,
    }


def test_other_themes_are_not_built_in():
    with pytest.raises(KeyError, match="solarized"):
        builtin_theme("solarized")


@for_each("name", PAGES)
@for_each("token", sorted(TOKENS - BACKGROUNDS - LINES_ONLY))
def test_text_is_readable_on_the_page(name, token):
    assert contrast(rgb_of(builtin_theme(name).colors[token]), rgb_of(PAGES[name])) >= 4.5


@for_each("name", PAGES)
@for_each("background", ["toolPendingBg", "toolSuccessBg", "toolErrorBg"])
@for_each("token", ON_BOXES.split())
def test_text_is_readable_in_the_boxes_of_tools(name, background, token):
    colors = builtin_theme(name).colors

    assert contrast(rgb_of(colors[token]), rgb_of(colors[background])) >= 4.5


@for_each("name", PAGES)
@for_each(
    ("text", "background"),
    [
        ("userMessageText", "userMessageBg"),
        ("customMessageText", "customMessageBg"),
        ("customMessageLabel", "customMessageBg"),
        ("searchMatchText", "searchMatchBg"),
        ("text", "selectedBg"),
    ],
)
def test_text_is_readable_on_its_background(name, text, background):
    colors = builtin_theme(name).colors

    assert contrast(rgb_of(colors[text]), rgb_of(colors[background])) >= 4.5


# Few colours


@given(st.integers(0, 0xFFFFFF).map("#{:06x}".format), depths)
def test_a_colour_fits_the_terminal(color, depth):
    shown = fitted(color, depth)

    assert shown == {"truecolor": color, "none": ""}.get(depth, shown)
    if depth in ("256", "16"):
        assert isinstance(shown, int)
        assert 0 <= shown < int(depth)
    assert fitted(shown, depth) == shown


@for_each(
    ("color", "depth", "expected"),
    [
        ("#ff0000", "256", 196),
        ("#808080", "256", 244),
        ("#ffffff", "16", 15),
        ("#000000", "16", 0),
        (196, "16", 1),
        ("#e88a8a", "16", 9),
        (4, "16", 4),
        (208, "256", 208),
        ("", "truecolor", ""),
        ("red", "truecolor", ""),
        (256, "256", ""),
        (-1, "256", ""),
    ],
)
def test_the_nearest_colour_is_taken(color, depth, expected):
    assert fitted(color, depth) == expected


@for_each(
    ("environ", "depth"),
    [
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, "truecolor"),
        ({"TERM": "xterm-256color"}, "256"),
        ({"TERM": "screen"}, "16"),
        ({"TERM": "xterm-kitty"}, "truecolor"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, "truecolor"),
        ({"TERM": "dumb", "COLORTERM": "truecolor"}, "none"),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, "none"),
        ({"TERM": "xterm-256color", "NO_COLOR": ""}, "256"),
        ({}, "16"),
    ],
)
def test_the_depth_is_that_of_the_terminal(environ, depth):
    assert color_depth(environ) == depth


@for_each(
    ("environ", "setting", "depth"),
    [
        ({"TERM": "xterm"}, True, "truecolor"),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, False, "256"),
        ({"TERM": "xterm-kitty"}, False, "256"),
        ({"TERM": "xterm"}, False, "16"),
        ({"TERM": "xterm", "NO_COLOR": "1"}, True, "none"),
        ({"TERM": "xterm-kitty"}, "auto", "truecolor"),
    ],
)
def test_the_setting_decides_whether_all_colours_are_used_unless_there_are_none(environ, setting, depth):
    assert color_depth(environ, setting) == depth


# Roles


def palette(depth="truecolor", name="dark") -> Palette:
    return Palette(builtin_theme(name).colors, depth, name)


def test_a_run_has_the_colours_of_its_roles():
    style = palette().style(Run("x", "error", bold=True), "toolErrorBg")

    assert style == Style(color="#e88a8a", background="#35242a", bold=True)


def test_a_run_s_own_background_counts():
    assert palette().style(Run("x", background="selectedBg"), "toolErrorBg").background == "#2f3644"


@for_each(
    ("role", "color"),
    [("ansi:9", 9), ("ansi:208", 208), ("#010203", "#010203"), ("nonsense", "#dcdfe4"), ("ansi:x", "#dcdfe4")],
)
def test_roles_of_programs_are_colours(role, color):
    assert palette().color(role) == color


def test_an_optional_role_follows_another_one():
    colors = {token: color for token, color in builtin_theme("dark").colors.items() if token in REQUIRED}

    shown = Palette(colors, "truecolor")

    assert shown.color("thinkingMax") == colors["thinkingXhigh"]
    assert shown.color("searchMatchBg") == colors["selectedBg"]


def test_without_colours_roles_are_attributes():
    shown = palette("none")

    assert shown.style(Run("x", "error")) == Style(bold=True)
    assert shown.style(Run("x", "muted"), "toolErrorBg") == Style(dim=True)
    assert shown.style(Run("x", background="selectedBg")) == Style(reverse=True)
    assert shown.style(Run("x")) == Style()


@pytest.mark.parametrize("name", ["dark", "light"])
def test_sixteen_colours_keep_what_a_colour_means(name):
    shown = palette("16", name)

    assert {shown.color("error"), shown.color("toolDiffRemoved")} <= {1, 9}
    assert {shown.color("success"), shown.color("toolDiffAdded"), shown.color("bashMode")} <= {2, 10}
    assert shown.color("warning") in (3, 11)
    assert shown.color("searchMatchText") != shown.color("searchMatchBg")
    assert shown.style(Run("x", background="selectedBg")).reverse


@for_each("name", PAGES)
@for_each("background", ["toolPendingBg", "toolSuccessBg", "toolErrorBg", "customMessageBg"])
@for_each("role", ["dim", "muted", "toolOutput", "text"])
def test_grey_text_is_readable_in_the_boxes_of_sixteen_colours(name, background, role):
    style = Palette(builtin_theme(name).colors, "16").style(Run("x", role), background)

    assert style.background == "" or contrast(rgb_of(style.color), rgb_of(style.background)) >= 4.5


def test_a_selection_is_visible_in_the_terminal_s_own_colours():
    assert palette(name="system").style(Run("x", background="selectedBg")).reverse


@for_each(
    ("style", "sequence"),
    [
        (Style(), "\x1b[0m"),
        (Style(color="#ff0080", bold=True), "\x1b[0;1;38;2;255;0;128m"),
        (Style(color=1, background=9), "\x1b[0;31;101m"),
        (Style(color=208, background="#010203", dim=True, italic=True), "\x1b[0;2;3;38;5;208;48;2;1;2;3m"),
        (Style(underline=True, reverse=True), "\x1b[0;4;7m"),
    ],
)
def test_a_style_is_a_sequence(style, sequence):
    assert style.sgr() == sequence


@given(st.sampled_from(sorted(TOKENS)), depths, st.sampled_from(BUILTIN_NAMES))
def test_every_sequence_is_a_colour(role, depth, name):
    shown = palette(depth, name).style(Run("x", role, background=role))

    assert re.fullmatch(r"\x1b\[[0-9;]+m", shown.sgr())
    assert depth != "16" or ";2;" not in shown.sgr().replace("[0;2", "")


# Dark or light


@for_each(
    ("setting", "appearance", "name"),
    [
        (None, None, "dark"),
        (None, "light", "light"),
        ("", "light", "light"),
        ("nord", "light", "nord"),
        ("day/night", "light", "day"),
        ("day/night", "dark", "night"),
        ("day/night", None, "night"),
        ("day/", "dark", "day"),
        ("/night", "light", "night"),
        ("/", "light", "light"),
    ],
)
def test_a_theme_is_chosen(setting, appearance, name):
    assert theme_name(setting, appearance) == name


@for_each(
    ("reply", "appearance"),
    [
        ("\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\", "dark"),
        ("\x1b]11;rgb:ffff/ffff/ffff\x07", "light"),
        ("\x1b]11;rgb:f/f/f\x07", "light"),
        ("\x1b]11;rgba:0000/0000/0000/ffff\x07", "dark"),
        ("\x1b]11;#fdf6e3\x07", "light"),
        ("typed\x1b]11;rgb:00/2b/36\x1b\\keys", "dark"),
        ("\x1b]11;rgb:zz/00/00\x07", None),
        ("", None),
    ],
)
def test_a_terminal_says_its_background(reply, appearance):
    assert appearance_of_reply(reply) == appearance


@for_each(
    ("value", "appearance"),
    [("15;0", "dark"), ("0;15", "light"), ("0;default;7", "light"), ("7;8", "dark"), ("default", None), ("", None)],
)
def test_the_environment_says_the_background(value, appearance):
    assert appearance_of_environment({"COLORFGBG": value}) == appearance


@pytest.mark.parametrize(
    ("theme", "depth", "bold"),
    [("dark", "truecolor", False), ("dark", "16", True), ("dark", "none", True), ("system", "truecolor", True)],
)
def test_a_message_of_the_user_is_bold_where_its_background_cannot_be_seen(theme, depth, bold) -> None:
    palette = Palette(builtin_theme(theme).colors, depth)

    assert palette.style(Run("", "userMessageText")).bold is bold
