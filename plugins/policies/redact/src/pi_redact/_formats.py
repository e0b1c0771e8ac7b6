"""Formats of keys: what each begins with, what it looks like, and how chance matches are recognised.

The long words of a text are searched for the beginnings first; a pattern is tried only where its beginning occurs.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["FORMATS", "Format", "matches", "named_values"]


@frozen
class Format:
    """A format.

    Attributes:
        name: What it is a key of; part of the mark.
        starts: Texts of which one occurs in every key of the format.
        pattern: The key; its group ``key``, where it has one, is what is secret.
        check: Whether a match is a key, given what the pattern found.
    """

    name: str
    starts: tuple[str, ...]
    pattern: str
    check: Callable[[str], bool] | None = None


def _mixed(key: str) -> bool:
    """Whether a key has a digit, and letters of both cases: a word or a slug has not."""
    return any(c.isdigit() for c in key) and any(c.islower() for c in key) and any(c.isupper() for c in key)


def _is_jwt(token: str) -> bool:
    import base64
    import binascii
    import json

    head = token.partition(".")[0]
    try:
        return "alg" in json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))
    except (ValueError, binascii.Error, TypeError):
        return False


_EXAMPLES = re.compile(
    r"(?i)pass(word|wd)?|pwd|secret|token|user(name)?|key|xxx+|\*+|\.\.\.|example|changeme|test|admin|root|postgres|guest"
    r"|foo|bar|baz|abc|123.*|p@ss.*|hunter2|mypass.*|[$<{%\[].*|your.*"
)


def _is_password(value: str) -> bool:
    return _EXAMPLES.fullmatch(value) is None


_EDGE, _END = r"(?<![A-Za-z0-9_-])", r"(?![A-Za-z0-9_-])"

FORMATS = (
    Format("anthropic", ("sk-ant-",), r"sk-ant-[A-Za-z0-9_-]{24,}"),
    Format("openrouter", ("sk-or-",), r"sk-or-v1-[0-9a-f]{48,}"),
    Format("openai", ("sk-",), r"sk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}", _mixed),
    Format("github", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9]{36,}"),
    Format("github", ("github_pat_",), r"github_pat_[A-Za-z0-9_]{60,}"),
    Format("gitlab", ("glpat-", "gldt-", "glrt-"), r"gl(?:pat|dt|rt)-[A-Za-z0-9_-]{20,}", _mixed),
    Format("aws", ("AKIA", "ASIA"), r"(?:AKIA|ASIA)[A-Z2-7]{16}"),
    Format("google", ("AIza",), r"AIza[A-Za-z0-9_-]{35}"),
    Format("google", ("GOCSPX-",), r"GOCSPX-[A-Za-z0-9_-]{24,}"),
    Format("google", ("ya29.",), r"ya29\.[A-Za-z0-9_-]{30,}"),
    Format("slack", ("xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-", "xapp-"), r"(?:xox[abprs]|xapp)-[A-Za-z0-9-]{20,}"),
    Format(
        "slack",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/services/(?P<key>T[A-Za-z0-9]+/B[A-Za-z0-9]+/[A-Za-z0-9]{16,})",
    ),
    Format("stripe", ("k_live_", "k_test_", "whsec_"), r"(?:[sr]k_(?:live|test)_|whsec_)[A-Za-z0-9]{20,}"),
    Format("sendgrid", ("SG.",), r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    Format("npm", ("npm_",), r"npm_[A-Za-z0-9]{36}"),
    Format("pypi", ("pypi-AgE",), r"pypi-AgE[A-Za-z0-9_-]{50,}"),
    Format("huggingface", ("hf_",), r"hf_[A-Za-z]{30,}"),
    Format("groq", ("gsk_",), r"gsk_[A-Za-z0-9]{40,}"),
    Format("xai", ("xai-",), r"xai-[A-Za-z0-9]{60,}"),
    Format("digitalocean", ("dop_v1_", "doo_v1_"), r"do[op]_v1_[0-9a-f]{64}"),
    Format("shopify", ("shpat_", "shpss_"), r"shp(?:at|ss)_[0-9a-fA-F]{32}"),
    Format("linear", ("lin_api_",), r"lin_api_[A-Za-z0-9]{32,}"),
    Format("vault", ("hvs.",), r"hvs\.[A-Za-z0-9_-]{24,}"),
    Format("telegram", (":AA",), r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}"),
    Format("age", ("AGE-SECRET-KEY-1",), r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    Format(
        "azure", ("AccountKey=", "SharedAccessKey="), r"(?:Account|SharedAccess)Key=(?P<key>[A-Za-z0-9+/]{40,}={0,2})"
    ),
    Format("jwt", ("eyJ",), r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}", _is_jwt),
    Format(
        "private-key",
        ("PRIVATE KEY-----",),
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?P<key>[A-Za-z0-9+/=\s\\:,-]{100,}?)-----END",
    ),
    Format(
        "password",
        ("://",),
        r"[a-z][a-z0-9+.-]*://[^\s/:@'\"]{1,64}:(?P<key>[^\s/@'\"]{6,128})@[^\s/@'\"]",
        _is_password,
    ),
)
"""From the special to the general: the first that fits names a key."""


_SHORTEST = 14
"""Characters of the shortest word that can hold a key: a password in an address, ``a://b:123456@c``."""


@cache
def _compiled(number: int) -> re.Pattern[str]:
    pattern = FORMATS[number].pattern
    return re.compile(pattern if "(?P<key>" in pattern else f"{_EDGE}(?P<key>{pattern}){_END}")


def matches(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield begin, end and name of what looks like a key; they may overlap."""
    long_words = " ".join([word for word in text.split() if len(word) >= _SHORTEST])  # most words of a text are short
    for number, each in enumerate(FORMATS):
        if not any(start in (text if " " in start else long_words) for start in each.starts):
            continue
        for match in _compiled(number).finditer(text):
            if each.check is None or each.check(match["key"]):
                yield (*match.span("key"), each.name)


@cache
def _named() -> re.Pattern[str]:
    return re.compile(
        r"(?i)(?:api_?key|secret|token|passw(?:or)?d|auth|credential)s?[\w-]{0,20}[\"']?\s{0,4}[:=]\s{0,4}[\"']?"
        r"(?P<key>[A-Za-z0-9+/_=.~-]{16,256})"
    )


def named_values(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield begin, end and ``value`` of what is assigned to a key-like name and looks like chance."""
    for match in _named().finditer(text):
        if _entropy(match["key"]) > _CHANCE:
            yield (*match.span("key"), "value")


_CHANCE = 3.7
"""Bits per character above which a value is no word: random letters and digits of 16 characters have 3.8 or so."""


def _entropy(text: str) -> float:
    import math
    from collections import Counter

    counts = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)
