"""``pi --list-models``: a table of the usable models, or of all known ones, filtered by parts of ids."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pi_cli.report import print_lines, say, warn
from pi_cli.words import one_line, sentences
from pi_hookspecs import NoModel, UserError
from pi_terminal_kit.words import width_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pi_core import ModelRegistry, PluginHost
    from pi_hookspecs import Model

__all__ = ["list_models", "size"]

_HEADINGS = ("provider", "model", "context", "max-out", "thinking", "images", "usable")
_YES, _BY_NAME, _NO = "yes", "by name", "no"
_THOUSAND, _MILLION = 1000, 1_000_000


def list_models(search: str, host: PluginHost, environ: Mapping[str, str], *, everything: bool) -> int:
    """Print a table of the matching models, usable ones first; return the exit code.

    Args:
        search: Parts of ids; if empty, unusable models are left out.
        host: The plugins.
        environ: The environment, for keys.
        everything: Include unusable models.
    """
    from pi_core import ModelRegistry, register_providers
    from pi_core.models.patterns import searched

    registry = ModelRegistry(host, host.settings, environ)
    register_providers(host, registry)
    running = asyncio.run(registry.discover())
    models = registry.get_models()
    usable = _usable(models, registry)
    found = searched(search, models)
    if not search and not everything:
        found = [model for model in found if usable.get(model.reference) == _YES]
    found.sort(key=lambda model: (_YES, _BY_NAME, _NO).index(usable.get(model.reference, _NO)))
    if found:
        print_lines(*_table(found, usable))
    elif search:
        print_lines(f'No models matching "{search}"')
    if not search:
        _print_missing_configuration(registry, have_servers=bool(running))
    left_out = 0 if search else len(models) - len(found)
    if left_out:
        say(f"pi --list-models --all lists {left_out:,} more, which need a key, a login or a plugin.")
    for problem in (*host.settings.problems, *host.problems, *registry.warnings):
        warn(problem)
    return 0


def _usable(models: Sequence[Model], registry: ModelRegistry) -> dict[str, str]:
    """Return the text of the last column for usable models."""
    by_name = {each for each in {model.provider for model in models} if registry.is_only_by_name(each)}
    marked = {model.reference: _BY_NAME for model in models if model.provider in by_name}
    return marked | {model.reference: _YES for model in registry.available()}


def _print_missing_configuration(registry: ModelRegistry, *, have_servers: bool) -> None:
    """Print what to configure if no language model is usable, one sentence per line."""
    try:
        registry.choose()
    except NoModel as error:
        if not have_servers:
            say(*sentences(str(error)))
    except UserError as error:  # the default model of the settings is invalid
        warn(error)


def size(tokens: int) -> str:
    """Return a number of tokens for a table: ``200K``, ``8.2K``, ``1M``."""
    for unit, name in ((_MILLION, "M"), (_THOUSAND, "K")):
        if tokens >= unit:
            return f"{tokens // unit}{name}" if tokens % unit == 0 else f"{tokens / unit:.1f}{name}"
    return str(tokens)


def _table(models: Sequence[Model], usable: Mapping[str, str]) -> Iterator[str]:
    rows = [_HEADINGS, *((*_row(model), usable.get(model.reference, _NO)) for model in models)]
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
