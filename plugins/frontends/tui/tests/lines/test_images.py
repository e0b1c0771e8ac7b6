"""Images of messages: drawn with half blocks where everything is displayed, else named."""

from __future__ import annotations

import io
from base64 import b64encode

import pytest

from pi_hookspecs import Run
from pi_testing import for_each
from pi_tui.lines.layout import lay_out
from pi_tui.lines.look import Look
from pi_tui.view.blocks import Image, Tool, User

PIL = pytest.importorskip("PIL.Image")
LOOK = Look(width=44, expanded=True, pictures=True)


def encoded(size=(6, 4), color=(255, 0, 0, 255), kind="PNG") -> bytes:
    file = io.BytesIO()
    PIL.new("RGBA", size, color).convert("RGB" if kind == "JPEG" else "RGBA").save(file, kind)
    return file.getvalue()


def rows_of(content: bytes, look=LOOK):
    block = User(id="1", text="", images=(Image("image/x", b64encode(content).decode()),))
    laid_out = lay_out(block, look)
    return laid_out.window(0, len(laid_out))


def blocks_of(rows):
    return [row for row in rows if "\u2580" in str(row) or "\u2584" in str(row)]


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_an_expanded_image_is_drawn_with_two_pixels_to_a_cell(kind):
    drawn = blocks_of(rows_of(encoded(kind=kind)))

    assert [str(row).strip() for row in drawn] == ["\u2580" * 6] * 2


def test_colours_are_those_of_the_image_and_what_is_transparent_is_not_drawn():
    image = PIL.new("RGBA", (3, 2), (0, 0, 0, 0))
    image.putpixel((0, 0), (255, 0, 0, 255))
    image.putpixel((0, 1), (0, 0, 255, 255))
    image.putpixel((1, 1), (0, 255, 0, 255))
    file = io.BytesIO()
    image.save(file, "PNG")
    (row,) = blocks_of(rows_of(file.getvalue()))

    assert [run for run in row.runs if run.text.strip()] == [
        Run("\u2580", "#ff0000", background="#0000ff"),
        Run("\u2584", "#00ff00"),
    ]
    assert str(row).rstrip() == " \u2580\u2584"


def test_a_large_image_fits_into_the_width_and_a_bounded_number_of_rows():
    assert {len(str(row).strip()) for row in blocks_of(rows_of(encoded((900, 90))))} == {42}
    assert len(blocks_of(rows_of(encoded((90, 900))))) == 30


@pytest.mark.slow
@for_each(
    "content",
    [
        lambda: b"",
        lambda: b"no image at all",
        lambda: encoded()[:40],
        lambda: encoded((5000, 4000)),
        lambda: encoded(kind="TIFF"),
        lambda: b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
    ],
)
def test_a_hostile_image_is_named_only(content):
    rows = rows_of(content())

    assert any("[image: x, " in str(row) for row in rows)
    assert not blocks_of(rows)


def test_an_image_that_is_not_expanded_says_how_it_is_displayed():
    look = Look(width=60, pictures=True)

    assert "[image: x, 6x4, ctrl+o to display]" in [str(row).strip() for row in rows_of(encoded(), look)]
    assert "[image: x, 6x4]" in [str(row).strip() for row in rows_of(encoded(), Look(width=60, expanded=True))]


def test_the_image_of_a_result_is_drawn_in_its_box():
    image = Image("image/png", b64encode(encoded()).decode())
    block = Tool(id="t", call_id="c", name="read", status="done", arguments={"path": "a.png"}, images=(image,))
    rows = lay_out(block, LOOK)

    assert all(row.fill == "toolSuccessBg" for row in blocks_of(rows.window(0, len(rows))))
    assert len(blocks_of(rows.window(0, len(rows)))) == 2
