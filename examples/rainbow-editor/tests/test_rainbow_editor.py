"""One word of the editor is coloured, and its colours move; nothing moves without it."""

from __future__ import annotations

import asyncio

import pytest

from pi_testing.patience import PATIENCE

pytestmark = pytest.mark.pi(screen=True)


def editor_of(fake_ui):
    return fake_ui.screens["editor"].component.component


def roles(editor):
    return [run.role for run in editor.render(80)[0].runs]


async def test_the_word_has_other_colours_than_the_rest(pi_session, fake_ui):
    editor = editor_of(fake_ui)
    editor.text, editor.cursor = "now Ultrathink!", 15

    assert roles(editor)[:5] == ["text"] * 4 + ["mdLink"]
    assert "text" not in roles(editor)[4:14]
    assert roles(editor)[14:] == ["text", "text"]


async def test_the_colours_move_while_the_word_is_there(pi_session, fake_ui):
    editor = editor_of(fake_ui)
    editor.text = "ultrathink"
    before = roles(editor)
    async with asyncio.timeout(PATIENCE):
        while not fake_ui.screens["editor"].refreshes:  # noqa: ASYNC110 - a timer of the plugin
            await asyncio.sleep(0.01)

    assert roles(editor)[1:10] == before[:9]


async def test_without_the_word_there_is_no_timer(pi_session, fake_ui):
    editor = editor_of(fake_ui)
    editor.text = "think"
    editor.render(80)

    assert editor.timer is None


async def test_the_cursor_and_every_row_are_drawn(pi_session, fake_ui):
    editor = editor_of(fake_ui)
    editor.text, editor.cursor = "ab\ncd", 2

    assert [str(row) for row in editor.render(80)] == ["ab ", "cd "]
    assert [str(row) for row in editor.render(1)] == ["a", "b", " ", "c", "d", " "]
