"""Formats of keys: their prefixes, their patterns, and checks against chance matches.

Long words of a text are first searched for prefixes; a pattern is tried only where its prefix occurs.
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
        name: The service that issues such keys; part of the mark.
        starts: Texts; each key of the format contains one of them.
        pattern: Matches the key; if it has a group ``key``, only that part is secret.
        check: Decides whether a match really is a key.
    """

    name: str
    starts: tuple[str, ...]
    pattern: str
    check: Callable[[str], bool] | None = None


def _mixed(key: str) -> bool:
    """Whether a key has a digit and letters of both cases, unlike a word or a slug."""
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
"""From specific to general: the first match names a key."""


_SHORTEST = 14
"""Characters of the shortest word that can contain a key: a password in an address, ``a://b:123456@c``."""


@cache
def _compiled(number: int) -> re.Pattern[str]:
    pattern = FORMATS[number].pattern
    return re.compile(pattern if "(?P<key>" in pattern else f"{_EDGE}(?P<key>{pattern}){_END}")


def matches(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and name of everything that looks like a key; matches may overlap."""
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
    """Yield start, end and ``value`` of random-looking values that are assigned to a key-like name."""
    for match in _named().finditer(text):
        if _entropy(match["key"]) > _CHANCE:
            yield (*match.span("key"), "value")


_CHANCE = 3.7
"""Bits per character above which a value is not a word: 16 random letters and digits have about 3.8."""


def _entropy(text: str) -> float:
    import math
    from collections import Counter

    counts = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)
