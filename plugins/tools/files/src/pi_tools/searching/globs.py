"""Glob patterns: those of ``find`` and ``grep``, which have one definition, and those of ignore files (as in git)."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from pi_tools.failure import ToolFailure

__all__ = ["Pattern", "composed", "ignore_regex", "parse"]


class Pattern(NamedTuple):
    """A pattern of ``find`` or ``grep``, compiled.

    Attributes:
        text: The pattern below the folder searched, without ``./`` in front and ``/`` at the end.
        anchored: Whether it is compared with the path below the folder searched; otherwise with the name alone.
        folders_only: Whether it ended with ``/``.
        regex: For ``fullmatch``.
    """

    text: str
    anchored: bool
    folders_only: bool
    regex: re.Pattern[str]

    def matches(self, path: str) -> bool:
        """Whether it matches a path below the folder searched, with ``/`` as the separator."""
        return self.regex.fullmatch(composed(path if self.anchored else path.rpartition("/")[2])) is not None


def composed(name: str) -> str:
    """Return a name with each accent and its letter as one character: the two forms look the same."""
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def parse(pattern: str, root: str, *, smart_case: bool = False) -> Pattern:
    """Compile a pattern, which is read as a line of ``.gitignore`` in the folder searched.

    Without a slash it is compared with names at any depth, with one with the path below the folder; folders above
    never count. ``*`` and ``?`` stay within a name, ``**`` crosses folders, ``[...]`` and ``{a,b}`` choose, and a final
    slash means folders only. A pattern that begins with the folder's own path is taken as relative to it.

    Args:
        pattern: As the model gave it.
        root: Absolute path of the folder searched.
        smart_case: Whether a pattern without capitals ignores case.

    Raises:
        ToolFailure: The pattern is malformed, or leads out of the folder.
    """
    text = re.sub(r"/(?:\.?/)+", "/", pattern)
    while text.startswith("./"):
        text = text[2:]
    below = root.replace("\\", "/") if "\\" in root and "/" not in root else root
    if text.startswith(f"{below.rstrip('/')}/"):
        text = text[len(below.rstrip("/")) :]
    if text == ".." or text.startswith("../"):
        raise ToolFailure(
            f"Invalid glob pattern {pattern!r}: it leads out of the folder that is searched. Give that folder as path."
        )
    folders_only = text.endswith("/") and text != "/"
    text = text.removesuffix("/")
    anchored, text = "/" in text, text.removeprefix("/")
    try:
        expression = _translate(composed(text), braces=True)
        flags = re.DOTALL | (re.IGNORECASE if smart_case and not any(map(str.isupper, text)) else 0)
        return Pattern(text, anchored, folders_only, re.compile(expression, flags))
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
