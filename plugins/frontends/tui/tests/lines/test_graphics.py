"""Images that the terminal draws: what it is sent is encoded here, and nothing else becomes a part of one."""

from __future__ import annotations

import io
import re
from base64 import b64decode, b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_hookspecs import Line, Run
from pi_testing import for_each
from pi_tui.first_frame import drawn, palette_of
from pi_tui.frames_read import Styles, pieces
from pi_tui.lines.graphics import PLACEHOLDER, Graphics, protocol_of
from pi_tui.lines.layout import lay_out
from pi_tui.lines.look import Look
from pi_tui.screen.strips import Painter, has_links
from pi_tui.view.blocks import Image, User

PIL = pytest.importorskip("PIL.Image")
PALETTE = palette_of("dark", {"TERM": "xterm-kitty", "COLORTERM": "truecolor"})
SENT = re.compile(r"(?:\x1b_G[a-zA-Z0-9=,]+;[A-Za-z0-9+/=]*\x1b\\)*")
PRINTED = re.compile(r"\x1b\]1337;File=inline=1;[a-zA-Z0-9=;]+:[A-Za-z0-9+/=]+\x07")


def image(size: tuple[int, int], kind: str = "PNG") -> str:
    file = io.BytesIO()
    PIL.new("RGB", size, "red").save(file, kind)
    return b64encode(file.getvalue()).decode()


def kitty() -> tuple[Graphics, list[str]]:
    written: list[str] = []
    return Graphics("kitty", written.append, first=0x102), written


def rows_of(data: str, look: Look) -> list[Line]:
    laid_out = lay_out(User(id="1", text="", images=(Image("image/x", data),)), look)
    return laid_out.window(0, len(laid_out))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_an_image_is_sent_once_as_a_png_and_drawn_in_cells(kind):
    graphics, written = kitty()
    data = image((95, 41), kind)
    look = Look(width=60, pictures=True, graphics=graphics)

    rows = [Painter(PALETTE, graphics).strip(row, 60).text for row in [*rows_of(data, look), *rows_of(data, look)]]

    assert [row.count(PLACEHOLDER) for row in rows if PLACEHOLDER in row] == [10, 10, 10] * 2
    assert rows.count(" [image: x, 95x41]".ljust(60)) == (2 if kind in ("PNG", "GIF") else 0)
    (sent,) = written
    assert SENT.fullmatch(sent)
    assert "a=T,U=1,f=100,i=258,c=10,r=3,q=2" in sent
    content = b64decode("".join(re.findall(r";([^\x1b]*)", sent)))
    assert PIL.open(io.BytesIO(content), formats=["PNG"]).size == (95, 41)


def test_the_cells_name_their_rows_and_columns_and_have_the_image_s_number_as_colour():
    graphics, _ = kitty()
    rows = graphics.rows(image((20, 40)), 60)

    strips = [Painter(PALETTE, graphics).strip(row, 4) for row in rows]

    first, second = "\u0305", "\u030d"
    assert [strip.text for strip in strips] == [
        f"{PLACEHOLDER}{row}{first}{PLACEHOLDER}{row}{second}  " for row in (first, second)
    ]
    assert {segment.style.color.name for strip in strips for segment in strip if PLACEHOLDER in segment.text} == {
        "#000102"
    }


@pytest.mark.slow
def test_a_large_image_is_made_smaller_before_it_is_sent():
    graphics, written = kitty()
    rows = graphics.rows(image((4000, 3000)), 200)

    assert len(rows) <= 30
    assert len(rows[0].runs[0].text) <= 80
    assert all(len(each) <= 4200 for each in re.findall(r"\x1b_G[^\x1b]*\x1b", "".join(written)))


def test_only_so_many_images_are_known():
    graphics, _ = kitty()
    (first,) = graphics.rows(image((1, 1)), 60)
    for width in range(2, 257):
        graphics.rows(image((width, 1)), 60)

    assert graphics.cells(first.runs[0]) is not None  # the number is that of a later image now
    assert len(graphics._known) == 255


def test_what_is_no_image_is_named_only():
    graphics, written = kitty()

    assert graphics.rows(b64encode(b"\x1b_Gi=1;AAAA\x1b\\").decode(), 60) is None
    assert graphics.rows("\x1b]0;owned\x07", 60) is None
    assert not written


hostile = st.text() | st.sampled_from(
    [f"{PLACEHOLDER}\u0305\u0305", "\x1b_Ga=T;AAAA\x1b\\", "\x1b]1337;File=inline=1:AAAA\x07", "image:258:0"]
)
roles = (
    st.sampled_from(["text", "image:258:0", "image:258:7", "image:9:0", "image:258:-1", "image:258:0\n"]) | st.text()
)


@given(hostile, roles, st.sampled_from(["kitty", "iterm"]))
def test_text_of_strangers_becomes_no_part_of_an_image(text, role, protocol):
    written: list[str] = []
    graphics = Graphics(protocol, written.append, first=258)
    assert graphics.rows(image((20, 20)), 60) is not None
    line = Line.of(Run(text, role))

    strip = Painter(PALETTE, graphics).strip(line, 20)
    (printed,) = drawn([line], PALETTE, graphics)

    ours = role == "image:258:0"
    assert strip.text.count(PLACEHOLDER) == (2 if ours and protocol == "kitty" else 0)
    assert printed.count(PLACEHOLDER) == (2 if ours and protocol == "kitty" else 0)
    assert bool(PRINTED.search(printed)) == (ours and protocol == "iterm")
    assert "\x1b" not in PRINTED.sub("", re.sub(r"\x1b\[[0-9;]*m", "", printed))
    assert all(SENT.fullmatch(each) for each in written)


def test_a_row_of_an_image_is_known_as_displayed():
    (row,) = Graphics("kitty", bool, first=258).rows(image((20, 20)), 60)
    graphics = Graphics("kitty", bool, first=258)
    graphics.rows(image((20, 20)), 60)
    text = Painter(PALETTE, graphics).strip(row, 20).text

    (piece,) = pieces(f"\x1b[1;1H\x1b[38;2;0;1;2m{text}\x1b[0m", Styles())

    assert piece.end == 20
    assert piece.marks is None  # it is compared as a whole


@for_each(
    ("environ", "protocol"),
    [
        ({"TERM": "xterm-kitty"}, "kitty"),
        ({"TERM": "xterm-ghostty"}, "kitty"),
        ({"TERM": "xterm-256color", "KITTY_WINDOW_ID": "1"}, "kitty"),
        ({"TERM": "tmux-256color", "KITTY_WINDOW_ID": "1"}, ""),
        ({"TERM": "xterm-256color", "TMUX": "socket,1,0", "TERM_PROGRAM": "iTerm.app"}, ""),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, "iterm"),
        ({"TERM": "xterm-256color", "LC_TERMINAL": "iTerm2"}, "iterm"),
        ({"TERM": "xterm-256color"}, ""),
    ],
)
def test_the_environment_says_how_images_are_sent(environ, protocol):
    assert protocol_of(environ) == protocol


@for_each(
    ("setting", "protocol"),
    [("auto", "kitty"), ("iterm2", "iterm"), ("kitty", "kitty"), ("none", ""), (False, "")],
)
def test_the_setting_says_how_images_are_sent(setting, protocol):
    assert protocol_of({"TERM": "xterm-kitty"}, setting) == protocol


@for_each(("cells", "columns"), [(80, 10), (4, 4)])
def test_an_image_is_no_wider_than_the_setting_allows(cells, columns):
    graphics, written = kitty()

    rows_of(image((95, 41)), Look(width=60, pictures=True, graphics=graphics, image_width=cells))

    assert f",c={columns},r=" in written[0]


@for_each(
    ("environ", "setting", "sent"),
    [
        ({"TERM": "xterm"}, "auto", True),
        ({"TERM": "linux"}, "auto", False),
        ({"TERM": "linux"}, True, True),
        ({"TERM": "xterm"}, False, False),
    ],
)
def test_links_are_sent_where_they_can_be_clicked(environ, setting, sent):
    line = Line.of(Run("a page", link="https://example.com"))

    strip = Painter(PALETTE, links=has_links(environ, setting)).strip(line, 10)

    (link,) = [segment.style.link for segment in strip if "page" in segment.text]
    assert link == ("https://example.com" if sent else None)
