"""Which listed model an unlisted id resembles: the same words, and the nearest version.

A vendor's new model is out before any catalogue has it. What is known of the model before it, its window, its thinking
levels and its prices, is a better guess than nothing at all, with which it would not think and cost nothing.
"""

from __future__ import annotations

import re
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_hookspecs import Model

__all__ = ["nearest_of_family"]

_TOKEN = re.compile(r"[a-z]+|\d+")
_NO_FAMILY = frozenset(("v", "latest", "preview", "beta", "exp", "experimental"))
"""Words that say how a model is offered, and not which it is."""

_DATE = 4
"""Digits from which on a number is a date, and not a version."""


class _Name(NamedTuple):
    """An id taken apart: ``vendor/claude-opus-5-5`` has the words ``claude`` and ``opus``, and the version 5, 5."""

    vendor: str
    words: tuple[str, ...]
    version: tuple[int, ...]


def nearest_of_family(model_id: str, models: Iterable[Model]) -> Model | None:
    """Return the model that an unlisted id resembles most; None if none is of its family.

    Two ids are of one family if they begin with the same word, and one has all words of the other. Of several, the one
    with the most words in common is the nearest, then the one with the last version before the id's.
    """
    name = _name_of(model_id)
    relatives = [(other, model) for model in models if _is_relative(name, other := _name_of(model.id))]
    fewest = min((_difference(name, other) for other, _ in relatives), default=0)
    alike = [(other.version, model) for other, model in relatives if _difference(name, other) == fewest]
    before = [each for each in alike if each[0] <= name.version]
    if before:
        return max(before, key=itemgetter(0))[1]
    return min(alike, key=itemgetter(0))[1] if alike else None


def _name_of(model_id: str) -> _Name:
    vendor, _, last = model_id.lower().rpartition("/")
    tokens = _TOKEN.findall(last)
    words = tuple(each for each in tokens if each.isalpha() and each not in _NO_FAMILY)
    return _Name(vendor, words, tuple(int(each) for each in tokens if each.isdigit() and len(each) < _DATE))


def _is_relative(name: _Name, other: _Name) -> bool:
    if name.vendor != other.vendor or not name.words or name.words[:1] != other.words[:1]:
        return False
    ours, theirs = set(name.words), set(other.words)
    return ours <= theirs or theirs <= ours


def _difference(name: _Name, other: _Name) -> int:
    """Return the number of words that only one of the names has."""
    return len({*name.words} ^ {*other.words})
