"""Converts styled lines to Textual's strips, without any control characters that runs may contain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.strip import Strip

from pi_tui.view.clean import clean_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from textual.geometry import Region

    from pi_hookspecs import Line, Run
    from pi_tui.lines.graphics import Graphics
    from pi_tui.theme.colors import Color
    from pi_tui.theme.palette import Palette, Style

__all__ = ["Painter", "has_links"]


class Painter:
    """Draws lines in the colours of a theme.

    Args:
        palette: The colours.
        graphics: Draws images; None if the terminal cannot draw them.
        links: Whether links can be clicked.

    Attributes:
        paints_now: Whether what is drawn now is painted right after it, so that nothing else has to see to that.
    """

    def __init__(self, palette: Palette, graphics: Graphics | None = None, *, links: bool = True) -> None:
        self._palette = palette
        self.graphics = graphics
        self.paints_now = False
        self._links = links
        self._styles: dict[tuple[Style, str | None], RichStyle] = {}
        self._strips: dict[tuple[int, int], tuple[Line, Strip]] = {}

    @property
    def palette(self) -> Palette:
        """The colours."""
        return self._palette

    @palette.setter
    def palette(self, palette: Palette) -> None:
        self._palette = palette
        self._strips.clear()

    def strip(self, line: Line, width: int) -> Strip:
        """Return a line as a strip of exactly ``width`` cells: the same one again for the same line.

        The rows of a conversation are the same in most frames, and Textual keeps in a strip what it has written for it.
        """
        key = id(line), width
        found = self._strips.get(key)
        if found is not None:
            return found[1]
        strip = self._made(line, width)
        if self.graphics is None or not any(each.role.startswith("image:") for each in line.runs):
            if len(self._strips) > _MOST_STRIPS:
                self._strips.clear()
            self._strips[key] = line, strip  # the line stays, and with it its identity
        return strip

    def _made(self, line: Line, width: int) -> Strip:
        fill = line.fill
        segments: list[Segment] = []
        for run in line.runs:
            cells = self.graphics.cells(run) if self.graphics is not None else None
            if cells is not None:
                style = RichStyle(color=_color(cells[0]), bgcolor=_color(self.palette.color(fill)) if fill else None)
                segments += [Segment(each, style) for each in cells[1]]  # one segment each, as cells must not be cut
            elif run.text:
                text, style = clean_row(run.text), self._style(run, fill)
                if segments and segments[-1].style is style:  # such as a row's padding and its text
                    text = segments.pop().text + text
                segments.append(Segment(text, style))
        behind = self._plain(fill) if fill is not None else None
        return Strip(segments).adjust_cell_length(width, behind)

    def strips(self, lines: Sequence[Line], crop: Region, width: int) -> list[Strip]:
        """Return the strips of a region of a widget that displays lines; strips after the last line are blank."""
        found = [self.strip(line, width) for line in lines[crop.y : crop.bottom]]
        found += [Strip.blank(width)] * (crop.height - len(found))
        if crop.x or crop.right != width:
            return [each.crop(crop.x, crop.right) for each in found]
        return found

    def _style(self, run: Run, fill: str | None) -> RichStyle:
        link = run.link if self._links and run.link and run.link.isprintable() else None
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


_MOST_STRIPS = 500
"""Most strips that are kept, a few screens of them."""

_MOST_STYLES = 2000
"""Most styles that are cached: each link has a separate style."""


def has_links(environ: Mapping[str, str], setting: object = "auto") -> bool:
    """Whether links (OSC 8) are sent: by the setting ``terminal.hyperlinks``, else to all terminals but the console's.

    Terminals ignore the sequence if they do not know it; the Linux console prints it.
    """
    return setting if isinstance(setting, bool) else environ.get("TERM", "") not in ("linux", "dumb")


def _rich(style: Style, link: str | None) -> RichStyle:
    return RichStyle(
        color=_color(style.color),
        bgcolor=_color(style.background),
        bold=style.bold or None,
        dim=style.dim or None,
        italic=style.italic or None,
        underline=style.underline or None,
        reverse=style.reverse or None,
        strike=style.strike or None,
        link=link,
    )


def _color(color: Color) -> RichColor | None:
    if color == "":
        return None
    return RichColor.from_ansi(color) if isinstance(color, int) else RichColor.parse(color)
