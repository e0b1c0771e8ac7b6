"""Values that are assigned to the name of a secret: ``DB_PASSWORD=...``, ``"password": "..."``, ``api_key = '...'``.

A value in code is mostly no secret (``password = getpass()``), so the writing decides how much a value must look like
one: least in a line ``NAME=value`` of an environment file, more between quotes, most without quotes.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from pi_redact.chance import entropy, is_placeholder, is_random

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["assigned_values", "environment_values", "named_values"]

_STEMS = ("passw", "secret", "token", "key", "pwd", "passphrase", "_pass", "credential")
_BEFORE_KEY = re.compile(
    r"(?i)(?:api|secret|access|private|encryption|signing|master|auth|service|license|storage|webhook|session|app|account"
    r"|client|consumer|deploy|admin|integration|ingest|jwt|hmac|cipher|crypto|data|bot)[_-]?\Z|(?-i:[A-Z]_\Z)"
)
"""A key alone is a name in most texts: of a dictionary, of a sort, of a keyboard."""


@cache
def _assignment() -> re.Pattern[str]:
    return re.compile(
        r"(?i)(?:(?P<password>passw(?:or)?d|passwort|passphrase|pwd|_pass|secret|credentials?)|token|key(?:[_-]?base)?)[0-9]{0,2}"
        r"(?:\\{0,3}[\"'`]?\]?\s{0,4}(?P<sign>:=|=>|[:=]|%3[Dd]|>(?=\S))\s{0,4}"
        r"|(?:(?<=--password)|(?<=--api-key)|(?<=-passphrase)|(?<=-token))\s{1,2})"
        r"(?P<quote>\\{0,3}[\"'`]|&quot;|%22)?(?P<key>[^\s\"'`\\]{6,256})"
    )


_LINE = re.compile(r"(?:^|\\n|[\s;\"'`])[A-Z][A-Z0-9_]{0,60}\Z")
_REST = re.compile(r"[;,|<>(){}\[\]]|&(?:[\w.-]*=|&|amp;|quot;|\Z)|%2[26Cc]")
_CODE = re.compile(r"[A-Za-z_][\w.:-]*\Z")
_MEMBER = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\Z")
_PATH = re.compile(r"(?:[A-Za-z]:|\.{0,2}|~)[/\\][\w./ \\-]*\Z|[a-z][a-z0-9+]*://")


def assigned_values(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and ``value`` of the values that look like secrets."""
    lowered = text.replace("\u0130", "i").lower()  # the only character that is longer in lower case
    pattern = None
    for stem in _STEMS:
        at = lowered.find(stem)
        while at >= 0:
            pattern = pattern or _assignment()
            match = pattern.match(text, at)
            if (
                match is not None
                and text[at - 1 : at] != ":"
                and (stem != "key" or _BEFORE_KEY.search(text, max(0, at - 14), at))
            ):
                found = _value_in(text, match)
                if found is not None:
                    yield (*found, "value")
            at = lowered.find(stem, at + 1)


def _value_in(text: str, match: re.Match[str]) -> tuple[int, int] | None:
    """Return start and end of the value of an assignment; None if it is no secret."""
    begin, end = match.span("key")
    value = match["key"]
    is_line = match["sign"] == "=" and _LINE.search(text, max(0, match.start() - 64), match.start("sign")) is not None
    if match["quote"] in ("&quot;", "%22"):
        value = _REST.split(value)[0]
    elif match["quote"]:
        if not text.startswith(match["quote"], end) and end < len(text):
            return None  # it has spaces, or the quotes are of something else
    elif not (is_line and match["password"]):
        cut = _REST.search(value)
        if cut is not None and cut[0] in "(){}[]<>|" and match["sign"] != ">":
            return None
        value = value[: cut.start()] if cut is not None else value
    is_secret = _looks_secret(
        value, is_password=bool(match["password"]), is_quoted=bool(match["quote"]), is_line=is_line
    )
    return (begin, begin + len(value)) if is_secret else None


def _looks_secret(value: str, *, is_password: bool, is_quoted: bool, is_line: bool) -> bool:
    if is_placeholder(value) or _PATH.match(value) or value[:1] in ")]};":
        return False
    if is_password and is_line:
        return not value.isdigit()
    if not (is_quoted or is_line) and _MEMBER.match(value):
        return False
    if not is_password or not (is_quoted or is_line):
        if is_password and _has_marks(value):
            return len(value) >= 8  # noqa: PLR2004 - as short as passwords may be
        return len(value) >= 12 and is_random(value)  # noqa: PLR2004
    digits, letters = any(map(str.isdigit, value)), any(map(str.isalpha, value))
    return letters and ((len(value) >= 8 and digits and not _is_identifier(value)) or _has_marks(value))  # noqa: PLR2004


def _is_identifier(value: str) -> bool:
    """Return whether a value is a name such as ``auth_v2`` or ``x-api-key-2``."""
    return _CODE.match(value) is not None and any(each in value for each in "_.-:") and not is_random(value)


def _has_marks(value: str) -> bool:
    """Return whether a value has letters, digits and punctuation in between, as chosen passwords have."""
    return (
        any(map(str.isdigit, value))
        and any(map(str.isalpha, value))
        and any(each in value[1:] for each in "!@#$%^&*?~+")
        and not any(each in value for each in "()[]{}<>|")
    )


_VARIABLE = re.compile(
    r"(?m)^[ \t]*(?:[0-9]+[ \t:|]+)?(?:export[ \t]+)?(?P<name>[A-Za-z_]\w{0,80})[ \t]*=[ \t]*"
    r"(?P<quote>[\"']?)(?P<value>[^\r\n]{6,4096})"
)


def environment_values(text: str) -> Iterator[str]:
    """Yield the secrets in an environment file: the values of variables whose name or value identifies them as one."""
    from pi_hookspecs.secrets import is_secret_name

    for match in _VARIABLE.finditer(text):
        value = match["value"]
        value = value.split(match["quote"])[0] if match["quote"] else value.split(" #")[0].strip()
        if is_placeholder(value) or _PATH.match(value) or value.isdigit():
            continue
        if is_secret_name(match["name"]) or is_random(value):
            yield value


@cache
def _named() -> re.Pattern[str]:
    return re.compile(
        r"(?i)(?:api_?key|secret|token|passw(?:or)?d|auth|credential)s?[\w-]{0,20}[\"']?\s{0,4}[:=]\s{0,4}[\"']?"
        r"(?P<key>[A-Za-z0-9+/_=.~-]{16,256})"
    )


def named_values(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and ``value`` of random-looking values that are assigned to any key-like name."""
    for match in _named().finditer(text):
        if entropy(match["key"]) > _CHANCE:
            yield (*match.span("key"), "value")


_CHANCE = 3.7
"""Bits per character above which a value is not a word: 16 random letters and digits have about 3.8."""
