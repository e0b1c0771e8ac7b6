"""Whether a text is a key or a word that only looks like one: its letters, its digits, and what it decodes to."""

from __future__ import annotations

import re
from functools import cache, lru_cache

__all__ = [
    "entropy",
    "is_base64_credentials",
    "is_jwt",
    "is_mixed",
    "is_placeholder",
    "is_random",
    "is_varied",
    "lowered",
]


def lowered(text: str) -> str:
    """Return a text in lower case, as patterns without case see it; each character stays at its place."""
    if not text.isascii():
        text = text.replace("\u0130", "i").replace("\u0131", "i").replace("\u017f", "s")
    return text.lower()


_PLACEHOLDER = re.compile(  # for a text in lower case: with (?i) each of the words is tried letter by letter
    r"(?:(?>passwords?|passwd|passphrase|password|pwd|pass|secrets?|tokens?|api|keys?|auth|bearer|basic|user(?:name)?|login"
    r"|credentials?|client|access|private|public|random|string|value|values|here|your|yours|my|the|an?|some|this|that|is|super|very"
    r"|not|real|really|none|null|nil|true|false|undefined|unset|empty|required|optional|hidden|redacted|removed|masked|secure"
    r"|example|sample|dummy|fake|mock|test(?:ing|ed)?|demo|placeholder|change|changed|changeme|me|it|to|be|in|replace|insert|enter|set|todo|fixme|tbd"
    r"|admin|administrator|root|postgres|mysql|redis|mongo|guest|default|local(?:host)?|dev|prod|production|staging|development"
    r"|foo|bar|baz|qux|abc(?:def(?:ghi)?)?|xyz|hunter2|p@ssw0rd|p@ssword|p@ss|letmein|qwerty|welcome|monkey|dragon|old|new|wrong|right|bad|good|valid|invalid"
    r"|x{2,}|\*+|\.{2,}|(?:0?1?2345?6?7?8?9?0?)|[0-9]{1,4}|[-_ .:!/@#])){1,64}+\Z"
)
_REFERENCE = re.compile(r"[$<{%\[(@]|.*(?:\$\{|\{\{|<[a-z]|\.\.\.|\*\*\*|…|•|xxxx|XXXX|EXAMPLE|example|[Yy]our|YOUR)")
_PARTS = ("${", "{{", "<", "...", "***", "…", "•", "xxxx", "XXXX", "EXAMPLE", "example", "our", "YOUR")
_OPENING = frozenset("$<{%[(@")
"""A text without these parts, and that begins with none of these, does not match ``_REFERENCE``; seen without it."""


def is_placeholder(value: str) -> bool:
    """Return whether a value stands for a secret: ``changeme``, ``your-token-here``, ``${TOKEN}``, ``<password>``."""
    return (
        _PLACEHOLDER.match(lowered(value)) is not None
        or value[:1] in _OPENING
        or (any(map(value.__contains__, _PARTS)) and _REFERENCE.match(value) is not None)
    )


def is_mixed(key: str) -> bool:
    """Return whether a key has a digit and letters of both cases, unlike a word or a slug."""
    if key.isascii():
        return key != key.upper() and key != key.lower() and any(map(str.isdigit, key))
    return any(map(str.isdigit, key)) and any(map(str.islower, key)) and any(map(str.isupper, key))


_RUN = re.compile(r"[A-Za-z0-9+/]{12,}")
_CHANCE = 2.9
"""Bits per character below which a run repeats itself: twelve random hexadecimal digits have about 3."""


def is_random(key: str) -> bool:
    """Return whether a text contains a run of characters that looks as if drawn at random.

    A run has digits and letters, or letters of both cases that are no CamelCase; slugs and identifiers do not.
    """
    return any(map(_is_random_run, _RUN.findall(key))) or _is_random_run(key[-64:].translate(_NO_SIGNS))


_NO_SIGNS = dict.fromkeys(map(ord, "_.~=-"))


def _is_random_run(run: str) -> bool:
    length = len(run)
    if length < 12:  # noqa: PLR2004 - too short to tell
        return False
    kinds = run.encode().translate(_KINDS) if run.isascii() else "".join(map(_kind, run)).encode()
    digits = sum(map(kinds.count, (b"01", b"10", b"02", b"20")))
    if digits < max(3, length // 8):
        changes = digits + kinds.count(b"12") + kinds.count(b"21")
        # CamelCase changes twice in about six letters, and few words are that varied
        if not (length >= 16 and changes >= 0.4 * length) and not (  # noqa: PLR2004
            length >= 30 and changes >= 0.25 * length and entropy(run) > 4.2  # noqa: PLR2004
        ):
            return False
    return any(map(str.isalpha, run)) and _is_varied(run, _CHANCE)


def _is_varied(text: str, least: float) -> bool:
    """Return whether a text has so many bits per character; mostly the number of its characters shows it."""
    length, distinct = len(text), len(set(text))
    return (length <= _COUNTED and _fewest_bits(length, distinct) > least) or entropy(text) >= least


@cache
def _fewest_bits(length: int, distinct: int) -> float:
    """Return the entropy of the least varied text with so many different characters: all but one occur once."""
    often = length - distinct + 1
    return -(_bits(often, length) + (distinct - 1) * _bits(1, length)) - _ROUNDING


_ROUNDING = 1e-9
"""Bits by which two sums of the same entropy may differ."""


def _kind(character: str) -> str:
    """Return ``0`` for a digit, ``1`` for a small letter, ``2`` for anything else."""
    return "0" if character.isdigit() else "1" if character.islower() else "2"


_KINDS = bytes(ord(_kind(chr(code))) for code in range(256))


def is_varied(key: str) -> bool:
    """Return whether a key has a digit, or letters of both cases, unlike the name of a variable."""
    return any(map(str.isdigit, key)) or not (key.islower() or key.isupper())


def entropy(text: str) -> float:
    """Return the bits per character of a text, by the frequency of its characters."""
    length = len(text)
    if length > _COUNTED:
        from collections import Counter

        return -sum([_bits(count, length) for count in Counter(text).values()])
    counts = map(text.count, dict.fromkeys(text))  # faster than to count all at once, while it is short
    return -sum(map(_bits_of(length).__getitem__, counts))


_COUNTED = 256


@lru_cache
def _bits_of(length: int) -> tuple[float, ...]:
    """Return the bits of a character by how often it occurs in a text of a length, negative."""
    return (0.0, *(_bits(count, length) for count in range(1, length + 1)))


def _bits(count: int, length: int) -> float:
    import math

    return count / length * math.log2(count / length)


def is_jwt(token: str) -> bool:
    """Return whether the first part of a JSON web token is its header."""
    import binascii
    import json

    try:
        return "alg" in json.loads(_decoded(token.partition(".")[0]))
    except (ValueError, binascii.Error, TypeError):
        return False


def is_base64_credentials(text: str) -> bool:
    """Return whether a text is ``user:password`` in base64, as in the header of basic authentication."""
    import binascii

    try:
        user, colon, password = _decoded(text.rstrip("=")).decode().partition(":")
    except (ValueError, binascii.Error):
        return False
    return bool(colon and user.isprintable() and password.isprintable() and len(password) >= 3)  # noqa: PLR2004


def _decoded(text: str) -> bytes:
    import base64

    return base64.urlsafe_b64decode(text.replace("+", "-").replace("/", "_") + "=" * (-len(text) % 4))
