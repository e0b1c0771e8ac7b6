"""From styled lines to what Textual draws. Whatever a run holds, no control character leaves here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.strip import Strip

from pi_tui.view.clean import clean_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.geometry import Region

    from pi_hookspecs import Line, Run
    from pi_tui.theme.colors import Color
    from pi_tui.theme.palette import Palette, Style

__all__ = ["Painter"]


class Painter:
    """Draws lines in the colours of a theme.

    Args:
        palette: The colours.
    """

    def __init__(self, palette: Palette) -> None:
        self.palette = palette
        self._styles: dict[tuple[Style, str | None], RichStyle] = {}

    def strip(self, line: Line, width: int) -> Strip:
        """Return a line as a strip of exactly ``width`` cells."""
        fill = line.fill
        segments = [Segment(_printable(run.text), self._style(run, fill)) for run in line.runs if run.text]
        behind = self._plain(fill) if fill is not None else None
        return Strip(segments).adjust_cell_length(width, behind)

    def strips(self, lines: Sequence[Line], crop: Region, width: int) -> list[Strip]:
        """Return the part of lines that a widget of a width is asked for; blank strips where there are none."""
        found = [self.strip(line, width) for line in lines[crop.y : crop.bottom]]
        found += [Strip.blank(width)] * (crop.height - len(found))
        if crop.x or crop.right != width:
            return [each.crop(crop.x, crop.right) for each in found]
        return found

    def _style(self, run: Run, fill: str | None) -> RichStyle:
        link = run.link if run.link and run.link.isprintable() else None
        key = self.palette.style(run, fill), link
        found = self._styles.get(key)
        if found is None:
            if len(self._styles) > _MOST_STYLES:
                self._styles.clear()
            found = self._styles[key] = _rich(*key)
        return found

    def _plain(self, role: str) -> RichStyle:
        color = self.palette.color(role)
        return RichStyle(bgcolor=_color(color)) if color != "" else RichStyle.null()


_MOST_STYLES = 2000
"""Each link is a style of its own."""


def _printable(text: str) -> str:
    return text if text.isprintable() else clean_line(text)


def _rich(style: Style, link: str | None) -> RichStyle:
    return RichStyle(
        color=_color(style.color),
        bgcolor=_color(style.background),
        bold=style.bold or None,
        dim=style.dim or None,
        italic=style.italic or None,
        underline=style.underline or None,
        reverse=style.reverse or None,
        link=link,
    )


def _color(color: Color) -> RichColor | None:
    if color == "":
        return None
    return RichColor.from_ansi(color) if isinstance(color, int) else RichColor.parse(color)
