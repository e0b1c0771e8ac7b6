"""What people write where a model is meant: part of its id or name, ``*`` in it, a level behind it.

Everything here is a function of the text and of the models there are; keys, files and settings are others' business.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

from pi_hookspecs import THINKING_LEVELS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_hookspecs import Model, ThinkingLevel

__all__ = ["ModelMatch", "ModelScope", "is_glob", "ranked", "scope_of", "searched", "split_level"]

_DATE = r"-(\d{8}|\d{4}-\d{2}-\d{2})$"


class ModelMatch(NamedTuple):
    """The model that is meant, and the thinking level that was asked for with it."""

    model: Model
    thinking_level: ThinkingLevel | None = None


class ModelScope(NamedTuple):
    """The models that patterns stand for, each once and in the patterns' order; and what was wrong with some."""

    models: tuple[ModelMatch, ...]
    warnings: tuple[str, ...]


def split_level(pattern: str) -> tuple[str, ThinkingLevel | None]:
    """Return what stands before ``:level`` and the level; the whole and None where no level stands there.

    Look for the whole among the ids first: some end like that themselves.
    """
    before, _, level = pattern.rpartition(":")
    return (before, level) if before and level in THINKING_LEVELS else (pattern, None)


def is_glob(pattern: str) -> bool:
    """Return whether a pattern has ``*``, ``?`` or ``[``, which stand for other letters."""
    return any(sign in pattern for sign in "*?[")


def ranked(pattern: str, models: Iterable[Model]) -> list[Model]:
    """Return the models that a pattern fits, the one that is meant first.

    An exact ``provider/id`` or id leaves no others. Else a pattern fits a part of the id or of the name, with ``*``,
    ``?`` or ``[`` the whole id or ``provider/id``; upper and lower case are alike. Ids without a date, or with
    ``-latest``, come before dated ones, and of each the newest first, which is the last by name.
    """
    wanted, pool = pattern.lower(), list(models)
    exact = [model for model in pool if wanted in (model.id.lower(), model.reference.lower())]
    if exact or not wanted:
        return exact
    fits = _fits_glob if is_glob(wanted) else _fits_part
    found = [model for model in pool if fits(wanted, model)]
    found.sort(key=lambda model: model.id.lower(), reverse=True)  # as many have one id, they stay in their order
    return sorted(found, key=lambda model: re.search(_DATE, model.id) is not None)


def _fits_part(wanted: str, model: Model) -> bool:
    return wanted in model.id.lower() or wanted in model.name.lower()


def _fits_glob(wanted: str, model: Model) -> bool:
    return fnmatchcase(model.id.lower(), wanted) or fnmatchcase(model.reference.lower(), wanted)


def searched(search: str, models: Iterable[Model]) -> list[Model]:
    """Return the models whose ``provider/id`` has every word of a search, by provider and id, as ``--list-models``.

    A word with ``*``, ``?`` or ``[`` is a pattern. Where no model has every word, those count that have the letters of
    every word in their order: ``snt4`` finds ``sonnet-4``.
    """
    words = search.lower().split()
    pool = sorted(models, key=lambda model: (model.provider, model.id))
    found = [model for model in pool if all(_has(word, model) for word in words)]
    return found or [model for model in pool if all(_in_order(word, model.reference.lower()) for word in words)]


def _has(word: str, model: Model) -> bool:
    return word in model.reference.lower() or (is_glob(word) and _fits_glob(word, model))


def _in_order(word: str, text: str) -> bool:
    letters = iter(text)
    return all(letter in letters for letter in word)


def similar(reference: str, models: Iterable[Model]) -> list[Model]:
    """Return the models whose ``provider/id`` has the letters of a mistyped name in their order, close together."""
    room = len(reference) + 1 + len(reference) // 4
    wanted = reference.lower()
    return [model for model in searched(reference, models) if _span(wanted, model.reference.lower()) <= room]


def _span(wanted: str, text: str) -> float:
    """Return the length of the shortest stretch of a text that has these letters in their order."""
    ends = [_end(wanted, text, start) - start for start, letter in enumerate(text) if letter == wanted[:1]]
    return min(ends, default=float("inf"))


def _end(wanted: str, text: str, start: int) -> float:
    place = start
    for letter in wanted:
        place = text.find(letter, place) + 1
        if not place:
            return float("inf")
    return place


def scope_of(patterns: Sequence[str], models: Iterable[Model]) -> ModelScope:
    """Return the models that a list of patterns stands for, as ``--models`` takes them.

    A pattern with ``*``, ``?`` or ``[`` stands for all models that it fits, any other for the first of ``ranked``;
    ``:level`` behind it is the level of each.
    """
    pool = list(models)
    chosen: dict[tuple[str, str], ModelMatch] = {}
    warnings: list[str] = []
    for pattern in filter(None, map(str.strip, patterns)):
        found, level, warning = _scoped(pattern, pool)
        if warning is not None:
            warnings.append(warning)
        for model in found:
            chosen.setdefault((model.provider, model.id), ModelMatch(model, level))
    return ModelScope(tuple(chosen.values()), tuple(warnings))


def _scoped(pattern: str, pool: Sequence[Model]) -> tuple[list[Model], ThinkingLevel | None, str | None]:
    """Return a pattern's models and level, and what is wrong with it."""
    before, level = split_level(pattern)
    for text, asked in {pattern: None, before: level}.items():
        if found := ranked(text, pool):
            return found if is_glob(text) else found[:1], asked, None
    before, _, suffix = pattern.rpartition(":")
    if before and (found := ranked(before, pool)):
        warning = f'Invalid thinking level "{suffix}" in pattern "{pattern}". Using default instead.'
        return found if is_glob(before) else found[:1], None, warning
    return [], None, f'No models match pattern "{pattern}"'
