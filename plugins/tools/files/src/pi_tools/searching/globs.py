"""Glob patterns as regular expressions: those of ``find`` (as in fd) and of ignore files (as in git)."""

from __future__ import annotations

import re

from pi_tools.failure import ToolFailure

__all__ = ["find_regex", "ignore_regex"]


def find_regex(pattern: str) -> tuple[re.Pattern[str], bool]:
    """Compile a pattern of ``find``.

    ``*`` and ``?`` stay within a name, ``**`` crosses folders, ``[...]`` and ``{a,b}`` choose. Without
    a capital letter it ignores case.

    Returns:
        The expression, for ``fullmatch``, and whether it matches the absolute path instead of the name.

    Raises:
        ToolFailure: The pattern is malformed.
    """
    full = "/" in pattern
    if full and not pattern.startswith(("/", "**/")):
        pattern = f"**/{pattern}"
    try:
        text = _translate(pattern, braces=True)
        flags = re.DOTALL | (0 if any(map(str.isupper, pattern)) else re.IGNORECASE)
        return re.compile(text, flags), full
    except (ValueError, re.error) as error:
        raise ToolFailure(f"Invalid glob pattern {pattern!r}: {error}") from None


def ignore_regex(pattern: str) -> str:
    """Return the expression for one pattern of an ignore file, without ``!`` and final slash.

    Raises:
        ValueError: It is malformed; git ignores such a line.
    """
    return _translate(pattern, braces=False)


def _translate(pattern: str, *, braces: bool) -> str:
    out: list[str] = []
    at, depth = 0, 0
    while at < len(pattern):
        char = pattern[at]
        at += 1
        piece = re.escape(char)
        if char == "*":
            piece, at = _stars(pattern, at)
        elif char == "?":
            piece = "[^/]"
        elif char == "[":
            piece, at = _class(pattern, at)
        elif char == "\\":
            piece, at = _escaped(pattern, at)
        elif braces and char in "{},":
            piece, depth = _choice(char, depth)
        out.append(piece)
    if depth:
        raise ValueError("unclosed alternate group; missing '}'")
    return "".join(out) if "(?:" in out else _without_backtracking(out)


_STAR = "[^/]*"
_FOLDERS = "(?:.*/)?"


def _without_backtracking(pieces: list[str]) -> str:
    """Join the pieces so that a star never backtracks.

    ``*a*a*a*a*b`` would try every split of a long name among its stars, for hours, and a running match cannot be
    aborted. The first match of the text after a star is enough, because the next star can match any
    skipped text. So each star but the last is an atomic group. Braces are left out: the text after a star
    is not fixed there.
    """
    first, *more = [_stars_in(part) for part in _split(pieces, _FOLDERS)]
    if not more:
        return first
    return first + "".join(f"(?>(?:.*?/)??{part})" for part in more[:-1]) + _FOLDERS + more[-1]


def _stars_in(pieces: list[str]) -> str:
    first, *more = ["".join(part) for part in _split(pieces, _STAR)]
    if not more:
        return first
    return first + "".join(f"(?>[^/]*?{part})" for part in more[:-1]) + _STAR + more[-1]


def _split(pieces: list[str], at: str) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for piece in pieces:
        if piece == at:
            parts.append([])
        else:
            parts[-1].append(piece)
    return parts


def _escaped(pattern: str, at: int) -> tuple[str, int]:
    if at == len(pattern):
        raise ValueError("dangling '\\'")
    return re.escape(pattern[at]), at + 1


def _choice(char: str, depth: int) -> tuple[str, int]:
    """Translate the parts of ``{a,b}``; a comma outside is literal."""
    if char == "{":
        return "(?:", depth + 1
    if char == ",":
        return ("|" if depth else ","), depth
    if not depth:
        raise ValueError("unopened alternate group; missing '{'")
    return ")", depth - 1


def _stars(pattern: str, at: int) -> tuple[str, int]:
    """Translate the star before ``at`` and those that follow it."""
    start = at - 1
    while at < len(pattern) and pattern[at] == "*":
        at += 1
    alone = at - start == 2 and (start == 0 or pattern[start - 1] == "/") and pattern[at : at + 1] in ("", "/")  # noqa: PLR2004 - "**"
    if not alone:
        return _STAR, at
    if at == len(pattern):
        return ".*" if start == 0 else ".+", at
    while pattern.startswith("**/", at + 1):
        at += 3  # a repetition matches the same, and would only be slow
    return _FOLDERS, at + 1


def _class(pattern: str, at: int) -> tuple[str, int]:
    """Translate the class whose bracket is before ``at``."""
    negated = pattern[at : at + 1] in ("!", "^")
    at += negated
    start = at
    close = pattern.find("]", at + 1)
    if close < 0:
        raise ValueError("unclosed character class; missing ']'")
    body = pattern[start:close]
    out, index = [], 0
    while index < len(body):
        first = body[index]
        if index + 2 < len(body) and body[index + 1] == "-":
            last = body[index + 2]
            if last < first:
                raise ValueError(f"invalid range; '{first}' > '{last}'")
            out.append(f"{re.escape(first)}-{re.escape(last)}")
            index += 3
        else:
            out.append(re.escape(first))
            index += 1
    inner = "".join(out)
    return f"(?!/)[{'^' if negated else ''}{inner}]", close + 1
