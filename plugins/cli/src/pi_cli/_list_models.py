"""``pi --list-models``: a table of the models that can be named, found by parts of their ids."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pi_cli._report import print_lines
from pi_cli._words import one_line, width_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_core.models.registry import ModelRegistry
    from pi_hookspecs import Model

__all__ = ["print_models", "size"]

_HEADINGS = ("provider", "model", "context", "max-out", "thinking", "images")
_THOUSAND, _MILLION = 1000, 1_000_000


def print_models(registry: ModelRegistry, search: str) -> None:
    """Print a table of the models whose ids match, or of all."""
    from pi_core.models.patterns import searched

    models = registry.get_models()
    found = searched(search, models)
    if not models:
        sys.stdout.write("No models available. Install a plugin that brings some, such as pluggypi-models\n")
    elif not found:
        print_lines(f'No models matching "{search}"')
    else:
        print_lines(*_table(found))


def size(tokens: int) -> str:
    """Return a number of tokens as it reads in a table: ``200K``, ``8.2K``, ``1M``."""
    for unit, name in ((_MILLION, "M"), (_THOUSAND, "K")):
        if tokens >= unit:
            return f"{tokens // unit}{name}" if tokens % unit == 0 else f"{tokens / unit:.1f}{name}"
    return str(tokens)


def _table(models: Sequence[Model]) -> Iterator[str]:
    rows = [_HEADINGS, *map(_row, models)]
    widths = [max(map(width_of, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell + " " * (width - width_of(cell)) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()


def _row(model: Model) -> tuple[str, ...]:
    return (
        one_line(model.provider),
        one_line(model.id),
        size(model.context_window),
        size(model.max_tokens),
        "yes" if model.reasoning else "no",
        "yes" if "image" in model.input else "no",
    )
