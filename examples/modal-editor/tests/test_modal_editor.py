"""The editor has two modes; in the normal one letters move and delete."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.pi(screen=True)


def typed(editor, text, cursor, *keys):
    editor.text, editor.cursor = text, cursor
    for key in keys:
        editor.handle_key(key)
    return editor.text, editor.cursor


@pytest.fixture
def editor(pi_session, fake_ui):
    return fake_ui.screens["editor"].component.component


async def test_keys_of_the_insert_mode_are_those_of_pi(fake_ui, editor):
    assert [editor.handle_key(key) for key in ("a", "enter", "ctrl+w")] == [False] * 3
    assert fake_ui.screens["editor"].rows[-1] == " INSERT "


@pytest.mark.parametrize(
    ("keys", "text", "cursor"),
    [
        ("0", "one two\nthree", 0),
        ("$", "one two\nthree", 7),
        ("h", "one two\nthree", 3),
        ("lllllll", "one two\nthree", 7),
        ("j", "one two\nthree", 12),
        ("jk", "one two\nthree", 4),
        ("w", "one two\nthree", 8),
        ("b", "one two\nthree", 0),
        ("x", "one wo\nthree", 4),
        ("D", "one \nthree", 4),
    ],
)
async def test_letters_of_the_normal_mode_move_and_delete(editor, keys, text, cursor):
    assert typed(editor, "one two\nthree", 4, "escape", *keys) == (text, cursor)


async def test_a_second_escape_and_enter_are_those_of_pi(editor):
    editor.handle_key("escape")

    assert [editor.handle_key(key) for key in ("escape", "enter", "z")] == [False, False, True]


async def test_the_mode_and_the_cursor_are_displayed(fake_ui, editor):
    typed(editor, "one\ntwo", 3, "escape")

    assert fake_ui.screens["editor"].rows == ("one ", "two", " NORMAL ")


async def test_a_command_switches_it_off_and_on(pi_session, fake_ui):
    await pi_session.prompt("/modal")
    off = dict(fake_ui.screens)
    await pi_session.prompt("/modal")

    assert off == {}
    assert "editor" in fake_ui.screens
