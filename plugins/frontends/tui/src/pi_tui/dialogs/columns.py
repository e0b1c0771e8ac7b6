"""Alignment of options that form a table: fields that are separated by at least two spaces."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING

from pi_terminal_kit.words import is_path, path_end
from pi_tui.lines.line import cells, cut_text

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["in_columns"]

_GAP = re.compile(r"(?<=\S) {2,}(?=\S)")

_WIDEST = 60
"""Maximum cells of a path, which keeps its end, and of any other field but the last, which keeps its beginning."""


def in_columns(texts: Sequence[str]) -> list[str]:
    """Return texts with their fields below one another; texts that are no table are unchanged.

    Spaces at the start of a text belong to its first field.
    """
    rows = [_GAP.split(text) for text in texts]
    if len(rows) < 2 or min(map(len, rows)) < 2:  # noqa: PLR2004 - two rows, two fields
        return [*texts]
    rows = [[*map(_shortened, row[:-1]), _shortened(row[-1]) if is_path(row[-1].lstrip()) else row[-1]] for row in rows]
    widths = [max(map(cells, column)) for column in zip_longest(*rows, fillvalue="")]
    return [
        "  ".join(
            [*(field + " " * (width - cells(field)) for field, width in zip(row[:-1], widths, strict=False)), row[-1]]
        )
        for row in rows
    ]


def _shortened(field: str) -> str:
    return path_end(field, _WIDEST, cells) if is_path(field.lstrip()) else cut_text(field, _WIDEST)
