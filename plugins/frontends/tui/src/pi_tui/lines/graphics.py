"""Images that the terminal draws itself: in placeholder cells for Kitty and Ghostty, in printed text for iTerm2.

Untrusted text cannot reach the terminal this way: only images that were decoded and encoded again are sent, and only a
run whose role names a known image becomes placeholders, whatever its text is.
"""

from __future__ import annotations

import base64
import os
import re
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from pi_hookspecs import Line, Run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from PIL.Image import Image as Picture

__all__ = ["PLACEHOLDER", "Graphics", "Protocol", "protocol_of"]

Protocol: TypeAlias = Literal["kitty", "iterm", ""]
"""How images are sent to a terminal; empty if it draws none."""

PLACEHOLDER = "\U0010eeee"
"""The character of a cell in which Kitty draws a part of an image."""

_NUMBERS = "".join(
    map(
        chr,
        [
            *(0x305, 0x30D, 0x30E, 0x310, 0x312, 0x33D, 0x33E, 0x33F, 0x346, 0x34A, 0x34B, 0x34C, 0x350, 0x351, 0x352),
            *(0x357, 0x35B, *range(0x363, 0x370), *range(0x483, 0x488), *range(0x592, 0x596), *range(0x597, 0x59A)),
            *(*range(0x59C, 0x5A2), 0x5A8, 0x5A9, 0x5AB, 0x5AC, 0x5AF, 0x5C4, *range(0x610, 0x618)),
            *(*range(0x657, 0x65C), 0x65D, 0x65E, *range(0x6D6, 0x6DD), *range(0x6DF, 0x6E3)),
        ],
    )
)
"""Combining characters that encode the row and the column of a cell: the beginning of Kitty's list."""

_WIDEST, _HIGHEST = 80, 30
"""Maximum columns and rows of an image, in cells; there must be a combining character for each."""

_CELL = 10, 20
"""Approximate pixels of a cell: an image is displayed at its own size if there is room."""

_ROLE = re.compile(r"image:(\d+):(\d+)\Z")

_CHUNK = 4096
"""Characters of base64 in one sequence."""

_MOST = 255
"""Maximum number of images that are remembered; further ones replace the oldest."""


class _Known(NamedTuple):
    columns: int
    rows: int
    content: str


class Graphics:
    """The images of a terminal.

    Args:
        protocol: How images are sent.
        write: Writes text to the terminal.
        first: The first of 255 numbers that identify images in the terminal; the default avoids those of other
            programs.
    """

    def __init__(self, protocol: Protocol, write: Callable[[str], object], first: int | None = None) -> None:
        self._protocol = protocol
        self._write = write
        self._first = (os.getpid() % 2**16) << 8 | 1 if first is None else first
        self._count = 0
        self._known: dict[int, _Known] = {}
        self._numbers: dict[tuple[str, int], int] = {}

    def rows(self, data: str, width: int) -> list[Line] | None:
        """Send an image to the terminal and return its rows; return None if it cannot be decoded.

        Args:
            data: The image's file, in base64.
            width: Cells of a row.
        """
        number = self._numbers.get((data, width))
        if number is None:
            known = _encoded(data, width)
            if known is None:
                return None
            number = self._remember(data, width, known)
            if self._protocol == "kitty":
                self._write("".join(_transmission(number, known)))
        found = self._known[number]
        rows = found.rows if self._protocol == "kitty" else 1
        return [Line.of(Run(" " * found.columns, f"image:{number}:{row}")) for row in range(rows)]

    def _remember(self, data: str, width: int, known: _Known) -> int:
        number = self._first + self._count % _MOST
        self._count += 1
        self._numbers = {key: each for key, each in self._numbers.items() if each != number}
        self._numbers[data, width] = number
        self._known[number] = known
        return number

    def cells(self, run: Run) -> tuple[str, list[str]] | None:
        """Return the colour and the text of each cell of a run that is a row of an image; None for another run."""
        found = self._found(run)
        if found is None or self._protocol != "kitty":
            return None
        number, row, known = found
        return f"#{number:06x}", [f"{PLACEHOLDER}{_NUMBERS[row]}{_NUMBERS[each]}" for each in range(known.columns)]

    def printed(self, run: Run) -> str | None:
        """Return the text that prints a run that is a row of an image, which resets the style; None for another run."""
        found = self._found(run)
        if found is None:
            return None
        number, _, known = found
        cells = self.cells(run)
        if cells is not None:
            color = ";".join(str(number >> shift & 255) for shift in (16, 8, 0))
            return f"\x1b[38;2;{color}m{''.join(cells[1])}\x1b[0m"
        size = f"width={known.columns};height={known.rows};preserveAspectRatio=1"
        return f"\x1b]1337;File=inline=1;{size}:{known.content}\x07"

    def _found(self, run: Run) -> tuple[int, int, _Known] | None:
        named = _ROLE.match(run.role)
        known = self._known.get(int(named[1])) if named is not None else None
        if named is None or known is None or int(named[2]) >= known.rows:
            return None
        return int(named[1]), int(named[2]), known


def protocol_of(environ: Mapping[str, str], setting: object = "auto") -> Protocol:
    """Return how to send images, by the environment; empty in a multiplexer, which would drop or misplace them.

    Args:
        environ: The environment.
        setting: The setting ``terminal.images``, which decides unless it is ``auto``.
    """
    if setting in ("kitty", "iterm2"):
        return "kitty" if setting == "kitty" else "iterm"
    if setting is False or setting == "none":
        return ""
    term, program = environ.get("TERM", ""), environ.get("TERM_PROGRAM", "")
    if environ.get("TMUX") or environ.get("STY") or term.startswith(("screen", "tmux")):
        return ""
    if term in ("xterm-kitty", "xterm-ghostty") or environ.get("KITTY_WINDOW_ID") or program == "ghostty":
        return "kitty"
    return "iterm" if program in ("iTerm.app", "WezTerm") or environ.get("LC_TERMINAL") == "iTerm2" else ""


def _transmission(number: int, known: _Known) -> Iterator[str]:
    """Yield the sequences that send an image for display in placeholders; the terminal does not reply to them."""
    chunks = [known.content[at : at + _CHUNK] for at in range(0, len(known.content), _CHUNK)]
    first = f"a=T,U=1,f=100,i={number},c={known.columns},r={known.rows},"
    for place, chunk in enumerate(chunks):
        yield f"\x1b_G{'' if place else first}q=2,m={int(place < len(chunks) - 1)};{chunk}\x1b\\"


def _encoded(data: str, width: int) -> _Known | None:
    from pi_tui.lines.images import opened

    image = opened(data)
    if image is None:
        return None
    try:
        return _scaled(image, max(min(width, _WIDEST), 1))
    except Exception:  # noqa: BLE001 - a decoder that raises later, at the first pixel
        return None


def _scaled(image: Picture, most: int) -> _Known:
    import io

    wide, high = _CELL
    factor = min(1.0, most * wide / image.width, _HIGHEST * high / image.height)
    size = max(1, round(image.width * factor)), max(1, round(image.height * factor))
    file = io.BytesIO()
    image.convert("RGBA").resize(size).save(file, "PNG")
    columns, rows = min(-(-size[0] // wide), most), min(-(-size[1] // high), _HIGHEST)
    return _Known(columns, rows, base64.b64encode(file.getvalue()).decode())
