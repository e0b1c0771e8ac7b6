"""What keys do: defaults on each platform, the user's file, conflicts, and how keys are written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_testing import for_each
from pi_tui.keys.actions import ACTIONS, RESERVED, default_keys, platform_of
from pi_tui.keys.bindings import Bindings
from pi_tui.keys.conflicts import find_conflicts, find_shortcut_conflicts
from pi_tui.keys.events import Key
from pi_tui.keys.file import parse_key_file, read_key_file
from pi_tui.keys.hints import action_hint, key_hint
from pi_tui.keys.names import known_key
from pi_tui.keys.parse import Parser

if TYPE_CHECKING:
    from pathlib import Path

PLATFORMS = ("linux", "darwin", "win32", "wsl")

LEGACY = {
    **{f"ctrl+{letter}": chr(ord(letter) - 96) for letter in "abcdefgklnopqrstuvwxyz"},
    **{f"alt+{letter}": f"\x1b{letter}" for letter in "bdfpqvyz"},
    "ctrl+j": "\n",
    "ctrl+]": "\x1d",
    "ctrl+-": "\x1f",
    "ctrl+alt+]": "\x1b\x1d",
    "shift+l": "L",
    "shift+t": "T",
    "escape": "\x1b",
    "enter": "\r",
    "tab": "\t",
    "backspace": "\x7f",
    "alt+enter": "\x1b\r",
    "alt+backspace": "\x1b\x7f",
    "shift+tab": "\x1b[Z",
    "delete": "\x1b[3~",
    "alt+delete": "\x1b[3;3~",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "pageup": "\x1b[5~",
    "pagedown": "\x1b[6~",
    "ctrl+pageup": "\x1b[5;5~",
    "ctrl+pagedown": "\x1b[6;5~",
    "ctrl+home": "\x1b[1;5H",
    "ctrl+end": "\x1b[1;5F",
    "ctrl+up": "\x1b[1;5A",
    "ctrl+down": "\x1b[1;5B",
    "ctrl+left": "\x1b[1;5D",
    "ctrl+right": "\x1b[1;5C",
    "alt+left": "\x1b[1;3D",
    "alt+right": "\x1b[1;3C",
    "alt+up": "\x1b[1;3A",
    "alt+down": "\x1b[1;3B",
    "ctrl+shift+up": "\x1b[1;6A",
    "ctrl+shift+down": "\x1b[1;6B",
}
"""What terminals send without extended keys."""

ONLY_EXTENDED = {
    "shift+enter": "\x1b[13;2u",
    "ctrl+backspace": "\x1b[127;5u",
    "ctrl+shift+f": "\x1b[102;6u",
    "ctrl+shift+g": "\x1b[103;6u",
    "ctrl+shift+o": "\x1b[111;6u",
    "ctrl+shift+p": "\x1b[112;6u",
}
"""Keys that other terminals send as another key; each has another way to do the same."""

DEFAULTS = sorted({key for platform in PLATFORMS for keys in default_keys(platform).values() for key in keys})


@for_each("key", DEFAULTS)
def test_every_default_key_is_read_as_it_is_named(key: str) -> None:
    parser = Parser()

    events = parser.feed((LEGACY | ONLY_EXTENDED)[key].encode())

    (event,) = events + parser.flush()
    assert isinstance(event, Key)
    assert event.name == key == known_key(key)


@for_each("key", DEFAULTS)
def test_every_default_key_is_the_same_with_extended_keys(key: str) -> None:
    *held, name = key.split("+")
    code = {"escape": 27, "enter": 13, "tab": 9, "backspace": 127}.get(name, ord(name) if len(name) == 1 else None)
    modifiers = 1 + sum({"shift": 1, "alt": 2, "ctrl": 4}[each] for each in held)
    kitty = f"\x1b[{code};{modifiers}u" if code else LEGACY[key]
    xterm = f"\x1b[27;{modifiers};{code}~" if code else LEGACY[key]

    assert [event.name for event in Parser().feed((kitty + xterm).encode()) if isinstance(event, Key)] == [key, key]


def test_all_actions_have_a_description_and_a_place() -> None:
    assert len(ACTIONS) == 91
    assert all(action.description and action.places for action in ACTIONS.values())
    assert set(ACTIONS) >= RESERVED


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_defaults_have_no_conflicts(platform: str) -> None:
    assert find_conflicts(Bindings(platform)) == []


@pytest.mark.parametrize(
    ("platform", "keys"),
    [
        ("linux", ["ctrl+-", "ctrl+z", "ctrl+shift+p", "alt+enter", "alt+up", "ctrl+v", "ctrl+shift+f"]),
        ("darwin", ["ctrl+-", "ctrl+z", "ctrl+shift+p", "alt+enter", "alt+up", "ctrl+v", "ctrl+shift+f"]),
        ("win32", ["ctrl+z", None, "alt+p", "ctrl+q", "alt+q", "alt+v", "ctrl+f"]),
        ("wsl", ["alt+z", "ctrl+z", "alt+p", "ctrl+q", "alt+q", "alt+v", "ctrl+f"]),
    ],
)
def test_windows_has_keys_of_its_own(platform: str, keys: list[str | None]) -> None:
    names = (
        *("tui.editor.undo", "app.suspend", "app.model.cycleBackward", "app.message.followUp", "app.message.dequeue"),
        *("app.clipboard.pasteImage", "tui.altScreen.search"),
    )
    bindings = Bindings(platform)

    assert [next(iter(bindings.keys(name)), None) for name in names] == keys


def test_linux_below_windows_is_known_by_its_environment() -> None:
    assert platform_of("linux", {}) == "linux"
    assert platform_of("linux", {"WSL_DISTRO_NAME": "Debian"}) == "wsl"
    assert platform_of("win32", {}) == "win32"
    assert platform_of("darwin", {"WSL_INTEROP": "x"}) == "darwin"


def test_a_key_of_the_user_replaces_the_defaults_of_its_action() -> None:
    read = parse_key_file('{"app.session.new": "Shift+Ctrl+N", "app.model.select": ["f5", "alt+m"]}', "keys")

    bindings = Bindings("linux", read.keys)

    assert read.problems == ()
    assert bindings.actions("ctrl+shift+n") == ("app.session.new",)
    assert bindings.keys("app.model.select") == ("f5", "alt+m")
    assert not bindings.does("ctrl+l", "app.model.select")


def test_an_empty_list_takes_the_keys_from_an_action() -> None:
    bindings = Bindings("linux", parse_key_file('{"tui.altScreen.pageUp": []}', "keys").keys)

    assert bindings.actions("pageup", "main") == ("tui.editor.pageUp",)


def test_names_of_early_versions_still_count() -> None:
    read = parse_key_file('{"selectModel": "f5", "selectPageUp": "f6", "tree": "f7", "app.model.select": "f8"}', "keys")

    assert read.problems == ()
    assert read.keys == {"app.model.select": ("f8",), "tui.select.pageUp": ("f6",), "app.session.tree": ("f7",)}


def test_what_is_wrong_in_a_file_is_reported_with_its_line_and_the_rest_counts() -> None:
    read = parse_key_file(
        '{\n  "app.sesion.new": "f5",\n  "app.exit": 4,\n  "app.clear": ["ctrl+c", "strg+c"],\n'
        '  "app.suspend": "pagup",\n  "app.session.fork": "f6"\n}',
        "keys.json",
    )

    written = "Write keys as 'ctrl+shift+x', 'f5' or 'pageUp'."
    assert read.keys == {"app.clear": ("ctrl+c",), "app.session.fork": ("f6",)}
    assert read.problems == (
        "'keys.json', line 2: there is no action 'app.sesion.new'; did you mean 'app.session.new'?; it is ignored.",
        "'keys.json', line 3: 'app.exit' must be a key or a list of keys, not 4; its default is used.",
        f"'keys.json', line 4: 'app.clear' names 'strg+c', which is not a key; its other keys are used. {written}",
        f"'keys.json', line 5: 'app.suspend' names 'pagup', which is not a key; its default is used. {written}",
    )


def test_an_action_that_occurs_twice_is_reported() -> None:
    read = parse_key_file('{"app.exit": "f5", "app.exit": "f6"}', "keys")

    assert read.keys == {"app.exit": ("f6",)}
    assert read.problems == ("'keys': 'app.exit' occurs more than once; the last one is used.",)


@for_each(
    ("text", "problem"),
    [
        ('{"app.exit": }', "line 1, column 14"),
        ('["app.exit"]', "not a JSON object"),
        ("", "line 1, column 1"),
        ("[" * 100_000, "nested too deeply"),
        ("1" * 5_000, "too long"),
    ],
)
def test_a_file_that_cannot_be_read_changes_nothing_and_is_reported(text: str, problem: str) -> None:
    read = parse_key_file(text, "keys")

    assert read.keys is None
    assert problem in read.problems[0]


def test_a_file_need_not_exist(tmp_path: Path) -> None:
    assert read_key_file(tmp_path / "keybindings.json") == ({}, ())


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "keybindings.json"
    file.write_bytes(b'\xef\xbb\xbf{"app.exit": "f5"}')

    assert read_key_file(file) == ({"app.exit": ("f5",)}, ())


def test_a_file_that_is_a_folder_or_no_text_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "keybindings.json"
    file.write_bytes(b"\xff\xfe{")

    assert read_key_file(tmp_path).keys is None
    assert "byte 0" in read_key_file(file).problems[0]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from([*DEFAULTS]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*ACTIONS]) | st.text(), inner),
    max_leaves=12,
)


@given(JSON)
def test_whatever_a_file_says_its_keys_are_known_keys_of_actions(value: object) -> None:
    read = parse_key_file(json.dumps(value), "keys")

    assert all(isinstance(problem, str) and "\n" not in problem for problem in read.problems)
    for action, keys in (read.keys or {}).items():
        assert action in ACTIONS
        assert [known_key(key) for key in keys] == [*keys]


def test_two_actions_on_one_key_are_a_conflict_where_they_meet() -> None:
    bindings = Bindings("linux", {"app.session.new": ("ctrl+l",), "app.tree.editLabel": ("ctrl+l",)})

    assert [(each.key, {each.first, each.second}) for each in find_conflicts(bindings)] == [
        ("ctrl+l", {"app.session.new", "app.model.select"}),
        ("ctrl+l", {"app.tree.editLabel", "app.tree.filter.labeledOnly"}),
    ]


def test_a_key_that_the_transcript_takes_from_the_user_s_action_is_a_conflict() -> None:
    (conflict,) = find_conflicts(Bindings("linux", {"app.session.new": ("pageup",), "tui.editor.pageUp": ()}))

    assert str(conflict) == (
        "'pageup' is the key of both 'tui.altScreen.pageUp' and 'app.session.new': give one of them another."
    )


def test_actions_that_share_a_key_by_default_may_share_another() -> None:
    changed = {"app.exit": ("f9",), "tui.editor.deleteCharForward": ("f9",)}

    assert find_conflicts(Bindings("linux", changed)) == []


def test_a_plugin_cannot_have_a_key_that_stops_sends_or_leaves() -> None:
    keys = [("Ctrl+C", "tides"), ("ctrl+o", "tides"), ("ctrl+alt+p", "tides"), ("strg+x", None)]
    conflicts = find_shortcut_conflicts(Bindings("linux"), keys)

    assert [str(each) for each in conflicts] == [
        "The shortcut of plugin 'tides' 'Ctrl+C' does nothing: 'app.clear' needs that key.",
        "The shortcut of plugin 'tides' takes ctrl+o from 'app.tools.expand'.",
        "A plugin's shortcut 'strg+x' does nothing: there is no such key.",
    ]


@for_each(
    ("key", "platform", "hint"),
    [
        ("ctrl+o", "linux", "ctrl+o"),
        ("alt+enter", "darwin", "option+enter"),
        ("shift+super+k", "darwin", "shift+cmd+k"),
        ("super+k", "wsl", "win+k"),
        ("ctrl++", "linux", "ctrl++"),
        ("ctrl+pageup", "linux", "ctrl+pageUp"),
        ("ctrl+alt+]", "darwin", "ctrl+option+]"),
    ],
)
def test_a_key_is_called_what_the_keyboard_calls_it(key: str, platform: str, hint: str) -> None:
    assert key_hint(key, platform) == hint


def test_a_hint_names_the_first_key_of_each_action() -> None:
    bindings = Bindings("linux", {"app.session.new": ()})

    assert action_hint(bindings, "app.clear", "app.exit") == "ctrl+c/ctrl+d"
    assert action_hint(bindings, "tui.editor.cursorLineStart", every=True) == "home/ctrl+a"
    assert action_hint(bindings, "app.session.new") == ""
