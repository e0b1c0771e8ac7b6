"""The mouse selects, copies, expands and scrolls; a search finds what is not displayed, too."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_hookspecs import Line, Run, ToolResult
from pi_terminal_kit.clipboard import clipboard_sequence
from pi_terminal_kit.desktop_clipboard import ClipboardImage
from pi_testing import make_tool, text, tool_call
from pi_tui.keys.bindings import Bindings
from pi_tui.lines.line import cells
from pi_tui.screen.marking import found_cells, marked, word_cells

if TYPE_CHECKING:
    from pi_testing import ScriptedProvider

ANSWER = "The tide is high at six and low at noon, says the harbour master of the old town by the sea.\n\n- one\n- two"
LOGBOOK = make_tool("logbook", result=ToolResult.text("\n".join(f"entry {number}" for number in range(60))))


@pytest.fixture
def written(monkeypatch):
    """What was written to the terminal besides the picture."""
    sequences: list[str] = []
    monkeypatch.setattr("pi_tui.screen.app.ScreenApp.write_terminal", lambda _app, sequence: sequences.append(sequence))
    return sequences


async def drag(user, start: tuple[int, int], end: tuple[int, int]) -> None:
    pilot = user.pilot
    await pilot.mouse_down("#transcript", offset=start)
    await pilot.hover("#transcript", offset=end)
    await pilot.mouse_up("#transcript", offset=end)
    await pilot.pause()


def at(user, wanted: str) -> tuple[int, int]:
    row = next(number for number, each in enumerate(user.rows) if wanted in each)
    return user.rows[row].index(wanted), row


async def test_what_is_dragged_over_is_copied_without_the_breaks_of_rows(
    desk, script: ScriptedProvider, written: list[str]
) -> None:
    script.turn(text(ANSWER))

    async with desk((40, 24)) as user:
        await user.type("How is the tide?", "enter")
        await user.sees("- two")
        (x, y), (_, last) = at(user, "tide is high"), at(user, "- one")
        await drag(user, (x, y), (39, last - 2))
        await user.sees("Sent")

    assert clipboard_sequence(ANSWER[4:].split("\n", maxsplit=1)[0]) in written


async def test_a_double_click_takes_a_word_and_ctrl_c_copies_and_clears_nothing_typed(
    desk, script: ScriptedProvider, written: list[str], pi_session
) -> None:
    pi_session.settings.set("fullscreenCopyOnSelect", value=False)
    script.turn(text(ANSWER))

    async with desk((100, 24)) as user:
        await user.type("How is the tide?", "enter")
        await user.sees("- two")
        await user.type("half a prompt")
        await user.pilot.click("#transcript", offset=at(user, "harbour"), times=2)
        assert clipboard_sequence("harbour") not in written
        await user.press("ctrl+c")

        await user.sees("half a prompt", "Sent 7 characters")
    assert clipboard_sequence("harbour") in written


async def test_another_key_can_copy_what_is_selected(desk, script: ScriptedProvider, written: list[str]) -> None:
    script.turn(text(ANSWER))

    async with desk((100, 24)) as user:
        user.app.bindings = Bindings("linux", {"tui.input.copy": ("f5",)})
        await user.type("How is the tide?", "enter")
        await user.sees("- two")
        await user.pilot.click("#transcript", offset=at(user, "harbour"), times=2)
        await user.when(lambda: clipboard_sequence("harbour") in written)
        written.clear()
        await user.press("f5")

        await user.when(lambda: clipboard_sequence("harbour") in written)


async def test_a_selection_of_blank_rows_copies_nothing(desk, script: ScriptedProvider, written: list[str]) -> None:
    script.turn(text("One.\n\nTwo."))

    async with desk() as user:
        await user.type("Count", "enter")
        await user.sees("Two.")
        row = at(user, "Two.")[1] - 1
        await drag(user, (1, row), (30, row))

    assert not [each for each in written if each.startswith("\x1b]52")]


@pytest.mark.pi(tools=[LOGBOOK])
async def test_a_click_expands_one_tool(desk, script: ScriptedProvider) -> None:
    script.turn(tool_call("logbook"))
    script.turn(text("Read."))

    async with desk((80, 40)) as user:
        await user.type("Read it", "enter")
        await user.sees("Read.")
        assert "entry 59" not in user.text
        await user.pilot.click("#transcript", offset=at(user, "logbook"))

        await user.sees("entry 59")


@pytest.mark.pi(tools=[LOGBOOK])
async def test_a_search_goes_to_what_is_not_displayed(desk, script: ScriptedProvider) -> None:
    script.turn(tool_call("logbook"))
    script.turn(text("Read."))

    async with desk((80, 20)) as user:
        await user.type("Read it", "enter")
        await user.sees("Read.")
        await user.press("ctrl+shift+f")
        await user.sees("Search:", " enter/shift+enter")
        await user.type("ENTRY 4", "shift+enter")

        await user.sees("10/11", "entry 48")
        await user.press("escape")
        await user.when(lambda: "Search:" not in user.text)


async def test_ctrl_c_closes_the_search_and_keeps_what_is_typed(desk) -> None:
    async with desk() as user:
        await user.type("tide")
        await user.press("ctrl+shift+f", "ctrl+c")
        await user.when(lambda: "Search:" not in user.text)

        assert user.typed == "tide"
        await user.press("ctrl+c")
        assert user.typed == ""


async def test_ctrl_f_searches_while_nothing_is_typed(desk) -> None:
    async with desk() as user:
        await user.press("ctrl+f")
        await user.sees("Search:")
        await user.press("escape")
        await user.type("tide")
        await user.press("home", "ctrl+f", *"h")

        assert user.typed == "thide"


@pytest.mark.parametrize(("wanted", "at_end", "scrolled_up"), [("always", 1, 1), ("hidden", 0, 0), ("auto", 0, 1)])
async def test_the_scrollbar_is_displayed_when_the_setting_says(
    desk, script: ScriptedProvider, pi_session, wanted: str, at_end: int, scrolled_up: int
) -> None:
    pi_session.settings.set("fullscreenScrollbar", wanted)
    script.turn(text("\n\n".join(map(str, range(60)))))

    async with desk((60, 20)) as user:
        await user.type("Count", "enter")
        await user.sees("59")
        assert any("█" in row for row in user.rows) == bool(at_end)
        await user.press("pageup")
        await user.when(lambda: "59" not in user.text)

        assert any("█" in row for row in user.rows) == bool(scrolled_up)
        assert "Jump to latest message" in user.text


async def test_ctrl_home_shows_the_beginning_while_home_belongs_to_the_typed_text(
    desk, script: ScriptedProvider
) -> None:
    script.turn(text("\n\n".join(map(str, range(60)))))

    async with desk((60, 20)) as user:
        await user.type("Count", "enter")
        await user.sees("59")
        await user.type("ebb")
        await user.press("home")
        assert user.app.editor.text.cursor == 0
        assert "59" in user.text

        await user.press("ctrl+home")
        await user.when(lambda: "59" not in user.text)
        await user.press("ctrl+end")
        await user.sees("59")
        assert user.app.editor.text.text == "ebb"


@pytest.mark.parametrize("height", [20, 8])
async def test_a_click_on_the_label_jumps_to_the_latest_message(desk, script: ScriptedProvider, height: int) -> None:
    script.turn(text("\n\n".join(map(str, range(60)))))

    async with desk((60, height)) as user:
        await user.type("Count", "enter")
        await user.sees("59")
        await user.press("pageup")
        await user.sees("Jump to latest message")
        await user.pilot.click("#transcript", offset=at(user, "Jump to latest message"))

        await user.sees("59")
        assert "Jump to latest message" not in user.text


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


async def test_a_pasted_image_is_sent_with_the_text_that_names_it(desk, script, monkeypatch, pi_session) -> None:
    async def image(_self):
        return ClipboardImage(base64.b64decode(PIXEL), "image/png")

    monkeypatch.setattr("pi_terminal_kit.desktop_clipboard.DesktopClipboard.read_image", image)
    script.turn(text("A tide table."))

    async with desk() as user:
        await user.press("ctrl+v")
        await user.sees("[image #1]")
        await user.type("what is this?", "enter")
        await user.sees("A tide table.")

    (message,) = [each for each in pi_session.messages if each.role == "user"]
    assert message.content[-1].data == PIXEL


texts = st.text("ab漢é ─", max_size=20)


@given(texts, st.integers(0, 30), st.integers(0, 30))
def test_a_marked_row_has_the_same_text(one: str, first: int, last: int) -> None:
    line = Line.of(Run(one[:5]), Run(one[5:], "accent"))

    assert str(marked(line, first, last, "selectedBg")) == one


@given(texts, st.integers(0, 30))
def test_a_word_contains_the_cell_that_was_clicked(one: str, cell: int) -> None:
    first, last = word_cells(one, cell)

    assert first <= cell < last or cell >= cells(one)


def test_a_text_is_found_whatever_its_case_and_how_wide_letters_are() -> None:
    assert [*found_cells("漢Tide tide", "tide")] == [(2, 6), (7, 11)]


async def test_the_terminals_cursor_is_in_the_search_until_it_is_closed(desk) -> None:
    async with desk() as user:
        await user.press("ctrl+shift+f")
        await user.press("潮", "x")
        row = await user.sees("Search: 潮x")
        before = row.splitlines()[0].partition("Search: ")[0]

        assert user.app.cursor_position == (len(before) + len("Search: ") + 3, 0)
        await user.type("y")  # in the search, too
        await user.press("escape")
        await user.when(lambda: user.app.cursor_position[1] > 10, "the cursor in the editor")
