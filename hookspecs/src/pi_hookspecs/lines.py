"""Styled lines that plugins draw, independent of colours, terminal widths and user interface libraries.

A run is a tuple, not an attrs class, and a line checks nothing: a front end makes thousands of them for a frame.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pi_hookspecs.deferred import frozen
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Line", "Run"]


class Run(NamedTuple):
    """Text of one style. Front ends remove control characters from it, and draw no line break.

    Attributes:
        text: May contain colours and attributes as escape sequences (SGR); other sequences are removed.
        role: The theme's token for the colour of the text: ``text``, ``muted``, ``accent``, ``error``.
        link: Address that the text leads to: http, https, mailto, or a file in the working directory.
        background: The theme's token for the colour behind it, such as ``selectedBg``; the line's ``fill`` when None.
        strike: Whether a line is drawn through it. Since: 1.1.
    """

    text: str
    role: str = "text"
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    reverse: bool = False
    link: str | None = None
    background: str | None = None
    strike: bool = False


@frozen(eq=False, repr=False)
class Line(ReprMixin):
    """One row of styled text; ``str(line)`` is its plain text.

    Attributes:
        runs: From left to right.
        fill: The theme's token for the colour of the whole row, to the edge of its area; that of the area when None.
    """

    runs: tuple[Run, ...] = ()
    fill: str | None = None

    @classmethod
    def of(cls, *parts: str | Run, fill: str | None = None) -> Line:
        """Return a line of runs, and of plain texts in the role ``text``."""
        return cls(tuple([Run(part) if isinstance(part, str) else part for part in parts]), fill)

    def __eq__(self, other: object) -> bool:  # not that of ``Value``: lines are compared in every frame
        return type(other) is Line and self.runs == other.runs and self.fill == other.fill

    def __hash__(self) -> int:
        return hash((self.runs, self.fill))

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)

    def __bool__(self) -> bool:
        return True  # an empty line is a row, too

    def __str__(self) -> str:
        return "".join([run.text for run in self.runs])
