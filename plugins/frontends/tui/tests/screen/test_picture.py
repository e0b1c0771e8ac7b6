"""The picture of the screen in the README, docs/screen.svg: drawn from a scripted session, and compared with it.

``just picture`` writes it: it runs this with ``WRITE_SNAPSHOTS=1``.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

import pytest
from rich.cells import cell_len

from pi_hookspecs import hookimpl
from pi_testing import text, thinking, tool_call, usage
from pi_tui.port.local import LocalPort
from pi_tui.screen import app as app_module

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from textual.strip import Strip

    from pi_hookspecs import PiContext

PICTURE = Path(__file__).parents[5] / "docs" / "screen.svg"
WIDTH, HEIGHT = 92, 44
CELL, ROW, MARGIN = 8.4, 18, 14
TEXT, PAGE = "#d4d4d4", "#18181e"
NO_BREAK = "\N{NO-BREAK SPACE}"
"""In place of spaces: browsers differ in whether they keep those at the ends of a text."""


class Tides:
    """A plugin with a widget and a status."""

    @hookimpl
    def session_start(self, ctx: PiContext) -> None:
        ctx.ui.set_widget("tide", ["\x1b[38;5;73m≈\x1b[0m high water 14:05 · low water 20:17"], placement="belowEditor")
        ctx.ui.set_status("tests", "tests: 41 passed")


BEFORE = '''def tide(hour):
    """Metres of water in the harbour."""
    return 0
'''


@pytest.fixture
def harbour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with a file, which the footer calls by a name that does not change."""
    (tmp_path / "tide.py").write_text(BEFORE)
    facts = LocalPort.facts

    def named(port: LocalPort) -> dict[str, Any]:
        return {**facts(port), "cwd": "/home/ada/harbour", "branch": "main", "model": "sonnet-5", "providers": 1}

    monkeypatch.setattr(LocalPort, "facts", named)
    monkeypatch.setattr(app_module, "version", lambda: "1.1")


@pytest.mark.pi(plugins=[Tides()], entry_points=["tools"])
@pytest.mark.usefixtures("harbour")
async def test_the_picture_is_what_the_screen_displays(desk, script, pi_session) -> None:
    script.turn(
        thinking("The function returns 0 at every hour. A sine with a period of 12.4 hours will do."),
        text("`tide` is **constant**. I will make it move:"),
        tool_call("edit", path="tide.py", old_text="    return 0", new_text="    return 2 + sin(hour * tau / 12.4)"),
    )
    script.turn(
        text("And the import, then a look:"), tool_call("bash", command="sed -i '1i from math import sin, tau' tide.py")
    )
    script.turn(
        text(
            "Now the water moves:\n\n| hour | metres |\n| --- | --- |\n| 3.1 | 3.0 |\n| 9.3 | 1.0 |\n\n"
            "It is *not* calibrated yet.",
        ),
        usage(input=11_800, output=420, cache_read=9_600),
    )

    async with desk(
        (WIDTH, HEIGHT), environ={"TERM": "xterm-256color", "COLORTERM": "truecolor", "HOME": "/home/ada"}
    ) as user:
        await pi_session.reload()
        await user.type("The tide never changes in tide.py. Make it move.", "enter")
        await user.sees("not calibrated yet", "tests: 41 passed")
        await user.when(lambda: not user.app.port.is_streaming and user.app.spinner._timer is None)
        await user.press(*"What is left to")
        drawn = "".join(svg(user.app.screen._compositor.render_strips()))

    drawn = re.sub(r"Took(\s)\d+\.\d", r"Took\g<1>0.1", drawn)
    if os.environ.get("WRITE_SNAPSHOTS"):
        PICTURE.write_text(drawn, encoding="utf-8")
    assert PICTURE.read_text(encoding="utf-8") == drawn, "if this is as it should be: just picture"


def svg(strips: Iterable[Strip]) -> Iterator[str]:
    """Yield a picture of rows: a rectangle for each background, a text for each style."""
    width, height = WIDTH * CELL + 2 * MARGIN, HEIGHT * ROW + 2 * MARGIN
    fonts = "DejaVu Sans Mono,Menlo,Consolas,monospace"
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img">\n'
    yield f'<title>pi at work</title>\n<rect width="100%" height="100%" rx="8" fill="{PAGE}"/>\n'
    yield f'<g font-family="{fonts}" font-size="14">\n'
    for number, strip in enumerate(strips):
        x, top, texts = 0, MARGIN + number * ROW, []
        for segment in strip:
            cells, style = cell_len(segment.text), segment.style
            color = hex_of(style.color if style else None, TEXT)
            behind = hex_of(style.bgcolor if style else None, "")
            if style is not None and style.reverse:
                color, behind = behind or PAGE, color
            place = f'x="{MARGIN + x * CELL:.1f}"'
            if behind:
                yield f'<rect {place} y="{top}" width="{cells * CELL:.1f}" height="{ROW}" fill="{behind}"/>\n'
            if segment.text.strip():
                how = f'y="{top + 13}" fill="{color}" textLength="{cells * CELL:.1f}"{attributes(style)}'
                letters = escape(segment.text.replace(" ", NO_BREAK))
                texts.append(f"<text {place} {how}>{letters}</text>\n")
            x += cells
        yield from texts  # after all rectangles of the row: letters may be a little wider than their cells
    yield "</g></svg>\n"


def attributes(style: Any) -> str:
    """Return the attributes of a style other than colours."""
    if style is None:
        return ""
    named = {"font-weight": "bold" if style.bold else "", "font-style": "italic" if style.italic else ""}
    named |= {"text-decoration": "underline" if style.underline else "", "opacity": "0.6" if style.dim else ""}
    return "".join(f' {name}="{value}"' for name, value in named.items() if value)


def hex_of(color: Any, usual: str) -> str:
    """Return a colour as CSS has it; the usual one for the terminal's own."""
    return usual if color is None or color.is_default else color.get_truecolor().hex
