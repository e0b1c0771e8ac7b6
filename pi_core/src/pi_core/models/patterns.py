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
"""Similarity (difflib) from which a word counts as a mistyped form of another one: ``sonet`` of ``sonnet``."""

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

    A word with ``*``, ``?`` or ``[`` is a glob. When no model matches every word, return those that are similar to all
    of them: ``gptoss`` finds ``gpt-oss``, ``son-4`` and ``sonet4`` find ``sonnet-4``.
    """
    words = search.lower().split()
    pool = sorted(models, key=lambda model: (model.provider, model.id))
    return [model for model in pool if all(_contains(word, model) for word in words)] or _similar(words, pool)


def _contains(word: str, model: Model) -> bool:
    return word in model.reference.lower() or (is_glob(word) and _matches_glob(word, model))


def _similar(words: Sequence[str], pool: Sequence[Model]) -> list[Model]:
    """Return models whose ``provider/id`` contains each word, ignoring punctuation, or parts similar to its parts."""
    from difflib import get_close_matches  # only needed for a search without a match

    parts = {model.reference: _parts(model.reference.lower()) for model in pool}
    known = sorted({part for each in parts.values() for part in each})

    def similar_parts(part: str) -> set[str]:
        prefixed = {each for each in known if each.startswith(part)}
        if part.isdigit():
            return prefixed
        return prefixed.union(get_close_matches(part, known, n=max(len(known), 1), cutoff=_CLOSE))

    searched_for = [("".join(_parts(word)), [similar_parts(part) for part in _parts(word)]) for word in words]

    def matches(model: Model) -> bool:
        own = parts[model.reference]
        suffixes = ["".join(own[start:]) for start in range(len(own))]
        return all(
            bare and (any(each.startswith(bare) for each in suffixes) or all(map(set(own).intersection, similar)))
            for bare, similar in searched_for
        )

    return [model for model in pool if matches(model)]


def _parts(text: str) -> list[str]:
    """Return the runs of letters and the numbers in a text."""
    return re.findall(r"[^\W\d_]+|\d+", text)


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
