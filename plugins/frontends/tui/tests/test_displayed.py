"""Only what differs from what the terminal displays is written, and the picture is the same."""

from __future__ import annotations

from unicodedata import combining, normalize

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import set_cell_size

from pi_tui.displayed import Displayed
from pi_tui.squeeze import squeezed

WIDTH, HEIGHT = 18, 8

texts = st.sampled_from(["tide", "", "low water at", "漢字 tide", "é — • ─", "high tide here", "x", "cafe\u0301"])
styles = st.sampled_from(["", "1", "38;2;220;223;228", "3;38;5;4", "48;2;1;2;3", "7"])
links = st.sampled_from(["", "", "", "https://example.com"])
lines = st.tuples(styles, texts, links)
pages = st.lists(lines, min_size=HEIGHT, max_size=HEIGHT)
steps = st.one_of(
    st.tuples(st.just("size"), st.integers(1, WIDTH), st.integers(1, HEIGHT)),
    st.tuples(st.just("rows"), st.dictionaries(st.integers(0, HEIGHT - 1), lines, max_size=HEIGHT)),
    st.tuples(st.just("moved"), st.integers(0, HEIGHT - 3), st.integers(-3, 3), pages),
    st.tuples(st.just("part"), st.integers(0, HEIGHT - 1), st.integers(0, WIDTH - 1), lines),
)


def segment(style, text, link=""):
    """Return what Textual writes for a segment."""
    written = f"\x1b[{style}m{text}\x1b[0m" if style and text else text
    return f"\x1b]8;id=1;{link}\x1b\\{written}\x1b]8;;\x1b\\" if link and text else written


class Scene:
    """The rows that a program wants to be displayed, as frames."""

    def __init__(self, page):
        self.page, self.width, self.height = [*page], WIDTH, HEIGHT

    def frame(self, kind, *facts):
        if kind == "size":
            self.width, self.height = facts
            return self.rows(range(HEIGHT))
        if kind == "rows":
            for y, line in facts[0].items():
                self.page[y] = line
            return self.rows(facts[0])
        if kind == "moved":
            top, by, page = facts
            part, others = self.page[top:], page[: abs(by)]
            self.page[top:] = [*part[by:], *others] if by >= 0 else [*others, *part[:by]]
            return self.rows(range(top, HEIGHT))
        y, x, (style, text, _) = facts
        text = text if text.isascii() else "word"
        text = text[: max(self.width - x, 0)]
        return f"\x1b[{y + 1};{x + 1}H{segment(style, text)}\x1b[1;1H" if y < self.height and text else ""

    def rows(self, which):
        parts = []
        for y in sorted(which):
            if y < self.height:
                style, text, link = self.page[y]
                parts.append(f"\x1b[{y + 1};1H" + segment(style, set_cell_size(text, self.width), link))
        return "\n".join(parts) + "\x1b[1;1H" if parts else ""


class Screen(pyte.Screen):
    """A screen whose last column takes a combining character, as a terminal does; pyte would begin a row."""

    def draw(self, data):
        for char in data:
            if combining(char) and self.cursor.x == self.columns:
                row = self.buffer[self.cursor.y]
                row[self.columns - 1] = row[self.columns - 1]._replace(
                    data=normalize("NFC", row[self.columns - 1].data + char)
                )
            else:
                super().draw(char)


class Emulated:
    """A terminal that was full before, and that is full again after each change of its size."""

    def __init__(self):
        self.screen = Screen(WIDTH, HEIGHT)
        self.stream = pyte.Stream(self.screen)
        self.fill()

    def fill(self):
        for y in range(self.screen.lines):
            self.stream.feed(f"\x1b[{y + 1};1H" + "#" * self.screen.columns)

    def resize(self, width, height):
        self.screen.resize(height, width)
        self.fill()

    def cells(self):
        size = range(self.screen.lines), range(self.screen.columns)
        return [[self.screen.buffer[y][x] for x in size[1]] for y in size[0]]


@settings(max_examples=40)
@given(pages, st.lists(steps, max_size=8), st.booleans())
def test_the_picture_is_the_same(page, changes, scrolls):
    plain, ours, scene = Emulated(), Emulated(), Scene(page)
    displayed = Displayed(scrolls=scrolls)
    for change in [("rows", dict(enumerate(page))), *changes]:
        data = scene.frame(*change)
        if change[0] == "size":
            displayed.forget()
            for terminal in (plain, ours):
                terminal.resize(scene.width, scene.height)
        if data:
            plain.stream.feed(data)
            ours.stream.feed(squeezed(displayed.changes(data, scene.width, scene.height), scene.width))

        assert ours.cells() == plain.cells()
        assert (ours.screen.cursor.x, ours.screen.cursor.y) == (plain.screen.cursor.x, plain.screen.cursor.y)


def test_a_combining_character_in_the_last_column_stays_there():
    scene, plain, displayed = Scene([("", "tide", "")] * HEIGHT), Emulated(), Displayed(scrolls=False)
    for change in [("size", 4, 4), ("rows", {3: ("", "tide", ""), 1: ("", "tide", ""), 2: ("", "cafe\u0301", "")})]:
        if change[0] == "size":
            plain.resize(4, 4)
        plain.stream.feed(squeezed(displayed.changes(scene.frame(*change), 4, 4), 4))

    assert plain.screen.display == ["tide", "tide", "café", "tide"]


def drawn(displayed, *rows, top=0):
    data = "\n".join(f"\x1b[{y};1H{text:<{WIDTH}}" for y, text in enumerate(rows, top + 1))
    return displayed.changes(data + "\x1b[1;1H", WIDTH, HEIGHT)


WAVES = ["tide and time", "low water at six", "boats go out", "the nets are wet", "gulls", "salt", "rope", "anchor"]


def test_rows_that_moved_are_scrolled_and_only_new_ones_are_written():
    displayed = Displayed(scrolls=True)
    drawn(displayed, *WAVES)

    assert drawn(displayed, *WAVES[1:6], "buoy") == "\x1b[1;6r\x1b[6;1H\n\x1b[r\x1b[6;1Hbuoy\x1b[1;1H"
    assert drawn(displayed, "reef", *WAVES[1:6]) == "\x1b[1;6r\x1b[1;1H\x1bM\x1b[r\x1b[1;1Hreef\x1b[1;1H"


def test_a_terminal_that_cannot_scroll_a_part_gets_the_cells_that_differ():
    displayed = Displayed(scrolls=False)
    drawn(displayed, *WAVES)

    assert drawn(displayed, "tide and nets", *WAVES[1:]) == "\x1b[1;10Hnets\x1b[1;1H"


def test_a_frame_that_changes_nothing_only_moves_the_cursor():
    displayed = Displayed(scrolls=True)
    drawn(displayed, *WAVES)

    assert drawn(displayed, *WAVES) == "\x1b[1;1H"


@pytest.mark.parametrize("unknown", ["\x1b[2J", "\x1b[3;1Ha\tb", "\x1b[1;1H" + "w" * (WIDTH + 1), "\x1b[99;1Hbelow"])
def test_what_it_does_not_know_is_written_as_it_is_and_everything_after_it_in_full(unknown):
    displayed = Displayed(scrolls=True)
    drawn(displayed, *WAVES)

    assert displayed.changes(unknown, WIDTH, HEIGHT) == unknown
    assert WAVES[3] in drawn(displayed, *WAVES)


def test_everything_is_written_again_after_another_program_had_the_terminal():
    displayed = Displayed(scrolls=True)
    drawn(displayed, *WAVES)
    displayed.forget()

    written = drawn(displayed, *WAVES)
    assert all(each in written for each in WAVES)


def test_more_styles_than_are_kept_are_drawn_all_the_same(monkeypatch):
    monkeypatch.setattr("pi_tui.displayed._MOST_STYLES", 4)
    terminal, displayed = Emulated(), Displayed(scrolls=True)
    for number in range(40):
        texts = [segment(f"38;5;{(number + y) % 30}", f"{WAVES[y]:<{WIDTH}}") for y in (0, 1)]
        rows = f"\x1b[1;1H{texts[0]}\n\x1b[2;1H{texts[1]}"
        terminal.stream.feed(squeezed(displayed.changes(f"{rows}\x1b[1;1H", WIDTH, HEIGHT), WIDTH))

        assert [cell.data for cell in terminal.cells()[1][:5]] == [*WAVES[1][:5]]
    assert len(displayed._styles) <= 6
