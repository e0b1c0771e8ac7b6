"""Values that are assigned to the name of a secret: ``DB_PASSWORD=...``, ``"password": "..."``, ``api_key = '...'``.

A value in code is mostly no secret (``password = getpass()``), so the writing decides how much a value must look like
one: least in a line ``NAME=value`` of an environment file, more between quotes, most without quotes.
"""

from __future__ import annotations

import re
from functools import cache
from string import ascii_uppercase, digits
from typing import TYPE_CHECKING

from pi_redact.chance import entropy, is_placeholder, is_random, lowered

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = [
    "FARTHEST",
    "assigned_expressions",
    "assigned_values",
    "environment_values",
    "named_expression",
    "named_values",
]

_STEMS = ("passw", "secret", "token", "key", "pwd", "passphrase", "_pass", "credential")
_LONGEST_STEM = max(map(len, _STEMS))
_QUALIFIERS = (
    r"api|secret|access|private|encryption|signing|master|auth|service|license|storage|webhook|session|app|account"
    r"|client|consumer|deploy|admin|integration|ingest|jwt|hmac|cipher|crypto|data|bot"
)
_BEFORE_KEY = re.compile(rf"(?i)(?:{_QUALIFIERS})[_-]?\Z|(?-i:[A-Z]_\Z)")
"""A key alone is a name in most texts: of a dictionary, of a sort, of a keyboard."""


@cache
def _assignment() -> re.Pattern[str]:
    return re.compile(
        r"(?i)(?:(?P<password>passw(?:or)?d|passwort|passphrase|pwd|_pass|secret|credentials?)|token|key(?:[_-]?base)?)[0-9]{0,2}"
        r"(?:\\{0,3}[\"'`]?\]?\s{0,4}(?P<sign>:=|=>|[:=]|%3[Dd]|>(?=\S))\s{0,4}"
        r"|(?:(?<=--password)|(?<=--api-key)|(?<=-passphrase)|(?<=-token))\s{1,2})"
        r"(?P<quote>\\{0,3}[\"'`]|&quot;|%22)?(?-i:(?P<key>[^\s\"'`\\]{6,256}))"  # quicker with case
    )


_REST = re.compile(r"[;,|<>(){}\[\]]|&(?:[\w.-]*=|&|amp;|quot;|\Z)|%2[26Cc]")
_CODE = re.compile(r"[A-Za-z_][\w.:-]*\Z")
_MEMBER = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\Z")
_PATH = re.compile(r"(?:[A-Za-z]:|\.{0,2}|~)[/\\][\w./ \\-]*\Z|[a-z][a-z0-9+]*://")


FARTHEST = 384
"""Characters from the beginning of a name to where ``assigned_expressions`` may end: a name, a sign and a value."""


def assigned_values(text: str, places: Sequence[tuple[int, int]] | None = None) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and ``value`` of the values that look like secrets.

    Args:
        text: The text.
        places: Start and end of the parts in which the names of such values may begin; None for the whole text.
    """
    for begin, end in ((0, len(text)),) if places is None else places:
        part = text if places is None else text[begin : end + _LONGEST_STEM]
        names = lowered(part)
        for stem in _STEMS:
            at = names.find(stem)
            while at >= 0:
                found = _value_of(text, begin + at, stem)
                if found is not None:
                    yield (*found, "value")
                at = names.find(stem, at + 1)


def _value_of(text: str, at: int, stem: str) -> tuple[int, int] | None:
    """Return start and end of the secret that is assigned to the name with a stem at a place; None if there is none."""
    match = _assignment().match(text, at)
    if match is None or text[at - 1 : at] == ":":
        return None
    if stem == "key" and not _BEFORE_KEY.search(text, max(0, at - 14), at):
        return None
    return _value_in(text, match)


def assigned_expressions() -> tuple[str, ...]:
    """Return expressions for hyperscan, one of which ends at most ``FARTHEST`` characters after each name of a secret.

    A value has at least six characters. That of a password in capitals may be any; all others have a digit, or as many
    changes between kinds of letters as ``is_random`` asks for.
    """
    from pi_redact.supersets import superset

    value, wide = r"[^\x09-\x0d\x1c-\x20\"'`\\]", r"\x80-\xff"
    no_digit, digit = rf"[^\x09-\x0d\x1c-\x20\"'`\\0-9{wide}]", f"[0-9{wide}]"
    not_lower = r"[^a-z\x09-\x0d\x1c-\x20\"'`\\]"
    early = [
        (f"{no_digit}{{{at}}}" if at else "") + digit + (f"{value}{{{5 - at}}}" if at < 5 else "")  # noqa: PLR2004 - of six
        for at in range(6)
    ]
    changes = f"{not_lower}*[a-z]+{not_lower}+[a-z]+{not_lower}+[a-z]+{not_lower}"
    varied = f"(?:{'|'.join(early)}|{no_digit}{{6,}}{digit}|{changes})"
    quote = r"(?:\\{0,3}[\"'`]|&quot;|%22)?"
    blank = rf"[\x09-\x0d\x1c-\x20{wide}]"
    sign = rf"[0-9]{{0,2}}\\{{0,3}}[\"'`]?\]?{blank}{{0,12}}(?::=|=>|[:=]|%3[Dd]|>){blank}{{0,12}}"
    name = superset("(?i)(?:passw(?:or)?d|passwort|passphrase|pwd|_pass|secret|credentials?|token)", is_whole=False)
    keys = superset(rf"(?i)(?:(?:{_QUALIFIERS})[_-]?|(?-i:[A-Z])_)key(?:[_-]?base)?", is_whole=False)
    option = superset(r"(?i)(?:--password|--api-key|-passphrase|-token)", is_whole=False)
    line = r"(?:PASSW(?:OR)?D|PASSWORT|PASSPHRASE|PWD|_PASS|SECRET|CREDENTIALS?)[0-9]{0,2}="
    return (
        rf"{line}{blank}{{0,12}}{quote}{value}{{6}}",
        f"{name}{sign}{quote}{varied}",
        f"{keys}{sign}{quote}{varied}",
        f"{option}{blank}{{1,6}}{quote}{varied}",
    )


def _value_in(text: str, match: re.Match[str]) -> tuple[int, int] | None:
    """Return start and end of the value of an assignment; None if it is no secret."""
    begin, end = match.span("key")
    value = match["key"]
    is_line = match["sign"] == "=" and _is_variable(text, max(0, match.start() - 64), match.start("sign"))
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


def _is_variable(text: str, begin: int, end: int) -> bool:
    """Return whether a part of a text ends with the name of a variable in capitals that begins a line or a word."""
    part = text[begin:end]
    before = part.rstrip(_IN_VARIABLES)
    name = part[len(before) :]
    if not 0 < len(name) <= _LONGEST_VARIABLE or name[0] not in ascii_uppercase:
        return False
    return before[-1:] in _AROUND_VARIABLES or before[-1:].isspace() or before.endswith("\\n") if before else begin == 0


_IN_VARIABLES = f"{ascii_uppercase}{digits}_"
_LONGEST_VARIABLE = 61
_AROUND_VARIABLES = ";\"'`"


def _looks_secret(value: str, *, is_password: bool, is_quoted: bool, is_line: bool) -> bool:
    if value[:1] in ")]};" or not _is_varied(value, is_password=is_password, is_quoted=is_quoted, is_line=is_line):
        return False  # first what is quick to see, because most values of most texts are words
    return not is_placeholder(value) and not _PATH.match(value)


def _is_varied(value: str, *, is_password: bool, is_quoted: bool, is_line: bool) -> bool:
    if is_password and is_line:
        return not value.isdigit()
    if not (is_quoted or is_line) and _MEMBER.match(value):
        return False
    if not is_password or not (is_quoted or is_line):
        if is_password and _has_marks(value):
            return len(value) >= 8  # noqa: PLR2004 - as short as passwords may be
        return len(value) >= 12 and is_random(value)  # noqa: PLR2004
    if not any(map(str.isdigit, value)) or not any(map(str.isalpha, value)):
        return False
    return (len(value) >= 8 and not _is_identifier(value)) or _has_marks(value)  # noqa: PLR2004


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


_NAMED = (
    r"(?i)(?:api_?key|secret|token|passw(?:or)?d|auth|credential)s?[\w-]{0,20}[\"']?\s{0,4}[:=]\s{0,4}[\"']?"
    r"(?P<key>[A-Za-z0-9+/_=.~-]{16,256})"
)


@cache
def _named() -> re.Pattern[str]:
    return re.compile(_NAMED)


def named_expression() -> str:
    """Return the expression for hyperscan that matches wherever ``named_values`` finds something."""
    from pi_redact.supersets import superset

    return superset(_NAMED)


def named_values(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and ``value`` of random-looking values that are assigned to any key-like name."""
    for match in _named().finditer(text):
        if entropy(match["key"]) > _CHANCE:
            yield (*match.span("key"), "value")


_CHANCE = 3.7
"""Bits per character above which a value is not a word: 16 random letters and digits have about 3.8."""
