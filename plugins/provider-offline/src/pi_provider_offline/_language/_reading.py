"""The verbs "read", "show" and "summarise", and questions that begin with "what"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_provider_offline._language._counting import count, word_count
from pi_provider_offline._language._cursor import Phrases, each_after_and, number, word_set
from pi_provider_offline._language._folders import kind_of_file, list_files
from pi_provider_offline._language._looking import search
from pi_provider_offline._language._names import ARTICLES, WITHIN, folder, implied_file, paths
from pi_provider_offline._requests import Help, ListFiles, ReadEnd, ReadFile, Summarise, looks_like_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_provider_offline._language._cursor import Cursor
    from pi_provider_offline._language._names import Bare
    from pi_provider_offline._requests import Request


def read(cursor: Cursor) -> list[Request]:
    """``read FILE and FILE``; as ``show``, and a plain word may be a file name."""
    return _shown(cursor, "without article")


def show(cursor: Cursor) -> list[Request]:
    """``show me FILE``, ``show the first 5 lines of FILE``, and what else can be shown: files, counts, a summary."""
    return _shown(cursor, "never")


def _shown(cursor: Cursor, bare: Bare) -> list[Request]:
    cursor.skip(Phrases("me, us"))
    start = cursor.at
    cursor.skip(ARTICLES)
    found = _part_or_view(cursor)
    if found:
        return found
    if cursor.take(_ALL_OF_IT) and cursor.at_boundary():
        return [ReadFile(implied_file(cursor))]
    cursor.at = start
    if cursor.take(_CONTENTS):
        bare = "always"
    found = [ReadFile(name) for name in paths(cursor, bare)]
    lines = _line_numbers(cursor) if found else None
    return [_part(request.path, lines) for request in found if isinstance(request, ReadFile)] if lines else found


def _part_or_view(cursor: Cursor) -> list[Request]:
    """Take what is not a whole file: ``summary of FILE``, ``first 5 lines of FILE``, ``files in FOLDER``, a count."""
    for phrases, clause in _VIEWS:
        if cursor.take(phrases) is not None:
            return clause(cursor)
    return each_after_and(cursor, _some_lines) or _listing(cursor) or word_count(cursor)


_ALL_OF_IT = Phrases("contents, content, text")
_CONTENTS = Phrases(
    "contents of, content of, text of, the contents of, the content of, the text of, the whole contents of, the full "
    "contents of, the whole content of, the full content of, all contents of, all content of"
)


_LISTED = Phrases("files, folders, everything, file names, filenames, directory listing, directory, folder")


def _listing(cursor: Cursor) -> list[Request]:
    """Take what can only be a listing: ``[all the] files in FOLDER``, ``python files``."""
    start = cursor.at
    quoted_name = cursor.peek().kind == "quoted" and cursor.peek(1).lower != "files"
    listed = not quoted_name and (cursor.take(_LISTED) is not None or kind_of_file(cursor) is not None)
    cursor.at = start
    return list_files(cursor) if listed else []


def _some_lines(cursor: Cursor) -> list[Request]:
    """Take ``first 5 lines of FILE``, ``last line of it``, ``lines 3 to 7 of FILE``, ``end of FILE``."""
    start = cursor.at
    lines = _end_of_file(cursor) or _line_numbers(cursor)
    if lines is None:
        return []
    if cursor.word("of", "from", "in"):
        names = paths(cursor, "always")
        if not names:
            cursor.at = start
    elif cursor.at_boundary():
        names = [implied_file(cursor)]
    else:
        names = paths(cursor)
    return [_part(name, lines) for name in names]


def _part(name: str, lines: tuple[int, int]) -> Request:
    first, count = lines
    return ReadEnd(name, count) if first < 0 else ReadFile(name, first, count)


_TOP = word_set("first, top, initial, opening, head, beginning, start")
_BOTTOM = word_set("last, final, bottom, closing, tail, end")
_PARTS = word_set("head, beginning, start, tail, end, top, bottom")

_MOST_DIGITS = 9

_DEFAULT_LINES = 10
"""Of "the first lines" and of ``head``, as the program does."""


def _end_of_file(cursor: Cursor) -> tuple[int, int] | None:
    """Take ``first 5 lines`` as ``(1, 5)``, ``last 5 lines`` as ``(-1, 5)``; ``5 lines of`` are the first ones."""
    start = cursor.at
    side = cursor.peek().lower
    named = cursor.word(*_TOP, *_BOTTOM)
    sign = -1 if side in _BOTTOM else 1
    count = number(cursor)
    noun = cursor.peek().lower
    of_file = cursor.peek(1).lower in ("of", "from")
    if cursor.word("lines", "line") and (named or (count is not None and of_file)):
        return sign, count or (1 if noun == "line" else _DEFAULT_LINES)
    if count is None and side in _PARTS and cursor.peek().lower in ("of", "from"):
        return sign, _DEFAULT_LINES
    cursor.at = start
    return None


def _line_numbers(cursor: Cursor) -> tuple[int, int] | None:
    """Take ``lines 3 to 7``, ``lines 3-7`` or ``line 12``; return the first and how many."""
    start = cursor.at
    cursor.mark(",")
    if cursor.word("lines", "line"):
        low, _, high = cursor.peek().text.replace("\N{EN DASH}", "-").partition("-")
        if high and low.isdecimal() and high.isdecimal():
            cursor.at += 1
            first, last = int(low[:_MOST_DIGITS]), int(high[:_MOST_DIGITS])
        else:
            found = number(cursor)
            first = found or 0
            joined = found is not None and cursor.word("to", "through", "until", "till", "and", "-", "\N{EN DASH}")
            last = (number(cursor) or 0) if joined else first
        if 0 < first <= last:
            return first, last - first + 1
    cursor.at = start
    return None


def head(cursor: Cursor) -> list[Request]:
    """``head -n 5 FILE`` and ``head FILE``."""
    return [ReadFile(name, 1, count) for count, name in _head_or_tail(cursor)]


def tail(cursor: Cursor) -> list[Request]:
    """``tail -n 5 FILE`` and ``tail FILE``."""
    return [ReadEnd(name, count) for count, name in _head_or_tail(cursor)]


def _head_or_tail(cursor: Cursor) -> list[tuple[int, str]]:
    count = None
    digits = cursor.peek().text.removeprefix("-").removeprefix("n")
    if cursor.word("-n"):
        count = number(cursor)
    elif cursor.peek().text.startswith("-") and digits.isdecimal():
        count = int(digits[:_MOST_DIGITS])
        cursor.at += 1
    cursor.word("of")
    return [(count or _DEFAULT_LINES, name) for name in paths(cursor)]


def summarise(cursor: Cursor) -> list[Request]:
    """``summarise FILE and FILE``, ``summarise the contents of it``, ``summarise its contents``."""
    start = cursor.at
    cursor.skip(ARTICLES)
    if cursor.take(_ALL_OF_IT) and cursor.at_boundary():
        return [Summarise(implied_file(cursor))]
    cursor.at = start
    cursor.take(_CONTENTS)
    return [Summarise(name) for name in paths(cursor)]


def summary_of(cursor: Cursor) -> list[Request]:
    """``[give me a] summary of FILE``."""
    if not cursor.word("of", "for"):
        return []
    cursor.take(_CONTENTS)
    return [Summarise(name) for name in paths(cursor, "always")]


_ABILITIES = Phrases("can you do, do you do, can i ask, do you understand, are you, can you understand, can i do")


def what(cursor: Cursor) -> list[Request]:
    """``what files are here``, ``what is in PATH``, ``what does FILE say``, ``what can you do``."""
    if cursor.take(_ABILITIES):
        return [Help()]
    if cursor.word("does", "do"):
        names = paths(cursor, "always")
        return [ReadFile(name) for name in names] if cursor.word("say", "contain", "hold", "have", "read") else []
    if cursor.word("is", "are") or cursor.peek(-1).lower in ("what's", "whats"):
        return _what_is(cursor)
    cursor.word("kind")
    return _listing(cursor)


def _what_is(cursor: Cursor) -> list[Request]:
    """Take what follows "what is": ``in PATH``, ``FILE about``, ``the first line of FILE``."""
    if cursor.take(WITHIN):
        return _inside(cursor)
    start = cursor.at
    names = paths(cursor)
    if names and cursor.word("about"):
        return [Summarise(name) for name in names]
    cursor.at = start
    cursor.skip(ARTICLES)
    return _part_or_view(cursor)


def _inside(cursor: Cursor) -> list[Request]:
    """Take what stands behind "what is in": a file is read, a folder is listed."""
    start = cursor.at
    place = folder(cursor)
    if place is not None and not looks_like_file(place) and cursor.peek(-1).lower not in ("it", "file"):
        return [ListFiles(place)]
    cursor.at = start
    return [ReadFile(name) for name in paths(cursor, "always")]


def ask_help(cursor: Cursor) -> list[Request]:
    """``help``, alone."""
    cursor.word("me")
    return [Help()] if cursor.at_boundary() else []


_VIEWS: tuple[tuple[Phrases, Callable[[Cursor], list[Request]]], ...] = (
    (Phrases("summary, short summary, brief summary, quick summary, short overview, overview, outline"), summary_of),
    (Phrases("how many, number of, total number of"), count),
    (Phrases("lines containing, lines with, lines that contain, lines matching, occurrences of"), search),
)
