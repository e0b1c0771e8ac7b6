"""Matches model patterns: a part of an id or name, a glob, with an optional ``:level`` suffix.

All functions here are pure functions of the pattern and the models; they read no keys, files or settings.
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

_CLOSE = 0.8
"""How alike two words are of which one is taken for a mistyped form of the other, by difflib: ``sonet``, ``sonnet``."""

_DATE = r"-(\d{8}|\d{4}-\d{2}-\d{2})$"


class ModelMatch(NamedTuple):
    """The model that a name resolves to, and the thinking level of its ``:level`` suffix."""

    model: Model
    thinking_level: ThinkingLevel | None = None


class ModelScope(NamedTuple):
    """The models that patterns match, without duplicates in the order of the patterns, and warnings about patterns."""

    models: tuple[ModelMatch, ...]
    warnings: tuple[str, ...]


def split_level(pattern: str) -> tuple[str, ThinkingLevel | None]:
    """Split a ``:level`` suffix off a pattern; return the pattern and None when there is none.

    Search for the complete pattern first: some model ids end in ``:high`` or the like themselves.
    """
    before, _, level = pattern.rpartition(":")
    return (before, level) if before and level in THINKING_LEVELS else (pattern, None)


def is_glob(pattern: str) -> bool:
    """Return whether a pattern contains one of the wildcards ``*``, ``?`` and ``[``."""
    return any(sign in pattern for sign in "*?[")


def ranked(pattern: str, models: Iterable[Model]) -> list[Model]:
    """Return the models that match a pattern, best match first.

    If ids equal the pattern (as ``provider/id`` or id), only those are returned. Otherwise a glob must match the whole
    id or ``provider/id``, and any other pattern a part of the id or name, ignoring case. Ids without a date, or with
    ``-latest``, come before dated ones; each group is sorted by id in descending order, newest first.
    """
    needle, pool = pattern.lower(), list(models)
    exact = [model for model in pool if needle in (model.id.lower(), model.reference.lower())]
    if exact or not needle:
        return exact
    matches = _matches_glob if is_glob(needle) else _matches_part
    found = [model for model in pool if matches(needle, model)]
    found.sort(key=lambda model: model.id.lower(), reverse=True)  # stable: models of one id keep their order
    return sorted(found, key=lambda model: re.search(_DATE, model.id) is not None)


def _matches_part(needle: str, model: Model) -> bool:
    return needle in model.id.lower() or needle in model.name.lower()


def _matches_glob(needle: str, model: Model) -> bool:
    return fnmatchcase(model.id.lower(), needle) or fnmatchcase(model.reference.lower(), needle)


def searched(search: str, models: Iterable[Model]) -> list[Model]:
    """Return the models whose ``provider/id`` contains every word of a search, sorted by provider and id.

    A word with ``*``, ``?`` or ``[`` is a glob. When no model matches every word, return those that contain the letters
    of every word in this order: ``snt4`` finds ``sonnet-4``.
    """
    words = search.lower().split()
    pool = sorted(models, key=lambda model: (model.provider, model.id))
    found = [model for model in pool if all(_contains(word, model) for word in words)]
    return found or [model for model in pool if all(_contains_letters(word, model.reference.lower()) for word in words)]


def _contains(word: str, model: Model) -> bool:
    return word in model.reference.lower() or (is_glob(word) and _matches_glob(word, model))


def _contains_letters(word: str, text: str) -> bool:
    letters = iter(text)
    return all(letter in letters for letter in word)


def similar(reference: str, models: Iterable[Model]) -> list[Model]:
    """Return the models whose ``provider/id`` contains the letters of a mistyped name in order and close together."""
    max_span = len(reference) + 1 + len(reference) // 4
    needle = reference.lower()
    return [
        model for model in searched(reference, models) if _shortest_span(needle, model.reference.lower()) <= max_span
    ]


def _shortest_span(needle: str, text: str) -> float:
    """Return the length of the shortest substring that contains these letters in order; infinity for none."""
    ends = [_end_of_match(needle, text, start) - start for start, letter in enumerate(text) if letter == needle[:1]]
    return min(ends, default=float("inf"))


def _end_of_match(needle: str, text: str, start: int) -> float:
    place = start
    for letter in needle:
        place = text.find(letter, place) + 1
        if not place:
            return float("inf")
    return place


def scope_of(patterns: Sequence[str], models: Iterable[Model]) -> ModelScope:
    """Return the models that match a list of patterns, as ``--models`` takes them.

    A glob selects all models that it matches, any other pattern the first of ``ranked``; a ``:level`` suffix sets the
    thinking level of each.
    """
    pool = list(models)
    chosen: dict[tuple[str, str], ModelMatch] = {}
    warnings: list[str] = []
    for pattern in filter(None, map(str.strip, patterns)):
        found, level, warning = _match_pattern(pattern, pool)
        if warning is not None:
            warnings.append(warning)
        for model in found:
            chosen.setdefault((model.provider, model.id), ModelMatch(model, level))
    return ModelScope(tuple(chosen.values()), tuple(warnings))


def _match_pattern(pattern: str, pool: Sequence[Model]) -> tuple[list[Model], ThinkingLevel | None, str | None]:
    """Return the models of a pattern, its thinking level, and a warning about the pattern."""
    before, level = split_level(pattern)
    for text, requested in {pattern: None, before: level}.items():
        if found := ranked(text, pool):
            return found if is_glob(text) else found[:1], requested, None
    before, _, suffix = pattern.rpartition(":")
    if before and (found := ranked(before, pool)):
        warning = f'Invalid thinking level "{suffix}" in pattern "{pattern}". Using default instead.'
        return found if is_glob(before) else found[:1], None, warning
    return [], None, f'No models match pattern "{pattern}"'
