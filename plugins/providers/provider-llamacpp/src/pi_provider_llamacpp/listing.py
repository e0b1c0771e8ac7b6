"""The models on this disk as people and programs read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from pi_provider_llamacpp.catalog import Listed
    from pi_provider_llamacpp.options import Options

__all__ = ["NOTHING", "as_data", "as_lines", "shown_size"]

NOTHING = (
    "No GGUF files were found: not in the caches of Hugging Face, LM Studio and Ollama, nor in llamacpp.paths of"
    " settings.json. pi models pull REPO:FILE downloads one."
)


def as_lines(models: Sequence[Listed], options: Options, loaded: Collection[Path] = ()) -> list[str]:
    """Return a line for each model: id, size, window, place, and whether it is loaded or damaged."""
    rows = [_row(each, options, loaded) for each in models]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _row(listed: Listed, options: Options, loaded: Collection[Path]) -> tuple[str, ...]:
    found = listed.found
    window = _window(listed, options)
    state = listed.problem or ("loaded" if found.path in loaded else "")
    return found.id, shown_size(found.size), f"{window:,} tokens" if window else "?", found.place, state


def _window(listed: Listed, options: Options) -> int:
    trained = listed.header.context_length if listed.header is not None else 0
    return min(trained, options.context_tokens)


def as_data(models: Sequence[Listed], options: Options) -> list[dict[str, Any]]:
    """Return the models as plain data."""
    return [
        {
            "id": each.found.id,
            "path": str(each.found.path),
            "place": each.found.place,
            "size": each.found.size,
            "contextWindow": _window(each, options),
            "error": each.problem or None,
        }
        for each in models
    ]


def shown_size(size: int) -> str:
    """Return a size in GB, or in MB where it is small."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"  # noqa: PLR2004
