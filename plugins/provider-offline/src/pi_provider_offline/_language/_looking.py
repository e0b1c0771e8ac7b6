"""The verbs "find" and "search", which share their wording: files are found, lines are searched for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_provider_offline._language._cursor import Phrases, text_until
from pi_provider_offline._language._folders import kind_of_file
from pi_provider_offline._language._names import (
    ARTICLES,
    FILE_NOUNS,
    HERE,
    IT,
    WITHIN,
    folder,
    is_strong_name,
    latest_place,
    path,
    paths,
    where,
)
from pi_provider_offline._requests import FindFiles, SearchText, has_glob, looks_like_file

if TYPE_CHECKING:
    from pi_provider_offline._language._cursor import Cursor
    from pi_provider_offline._requests import Request


def find(cursor: Cursor) -> list[Request]:
    """``find NAME``, ``find files named NAME in FOLDER``, ``find *.py``; ``find TEXT in FILE`` is a search."""
    start = cursor.at
    cursor.skip(ARTICLES)
    if cursor.take(_OCCURRENCES):
        return search(cursor)
    pattern = kind_of_file(cursor)
    if pattern is None and cursor.take(FILE_NOUNS):
        if cursor.take(_THAT_CONTAIN):
            return search(cursor)
        unnamed = cursor.at_boundary() or cursor.next_is(HERE) or cursor.next_is(WITHIN)
        pattern = "*" if unnamed else _pattern(cursor)
    elif pattern is None:
        if _is_sought_in_a_file(cursor):
            cursor.at = start
            return search(cursor)
        pattern = None if cursor.take(IT) else _name_pattern(cursor)
    within = cursor.take(WITHIN) is not None
    place = folder(cursor) if within else where(cursor) or cursor.scope or "."
    return [FindFiles(pattern, place)] if pattern is not None and place is not None else []


def _is_sought_in_a_file(cursor: Cursor) -> bool:
    """Tell whether ``"some words"`` or ``WORD in FILE.EXT`` stands here: a text, not the name of a file."""
    token = cursor.peek()
    if looks_like_file(token.text) or has_glob(token.text):
        return False
    in_file = cursor.peek(1).lower in ("in", "inside", "within") and looks_like_file(cursor.peek(2).text)
    return in_file or (token.kind == "quoted" and " " in token.text)


_OCCURRENCES = Phrases(
    "occurrences of, all occurrences of, mentions of, uses of, usages of, lines with, lines containing, lines that "
    "contain, lines that mention, lines matching, text, word, string, phrase, places that use"
)
_THAT_CONTAIN = Phrases(
    "that contain, containing, that mention, mentioning, which contain, that use, using, that contains, that "
    "mentions, which contains, that uses"
)
_CALLED = Phrases(
    "named, called, matching, that match, that are named, that are called, like, which match, with the name, with "
    "name, whose name is, whose names match, whose name matches, with names like"
)
_ENDING = Phrases(
    "ending in, ending with, that end in, that end with, with extension, with the extension, whose name ends in, "
    "whose name ends with, whose names end in, whose names end with, with the ending, of type"
)
_NAME_CONTAINS = Phrases(
    "whose name contains, whose names contain, with names containing, with a name containing, that have in their "
    "name, with a name that contains, with names that contain"
)


def _pattern(cursor: Cursor) -> str | None:
    """Take what follows "files": ``named NAME``, ``ending in .py``, ``whose name contains TEXT``, ``NAME``."""
    if cursor.take(_ENDING):
        ending = text_until(cursor, "in", "under", "here", "inside")
        return None if ending is None else f"*.{ending.lstrip('*').lstrip('.')}"
    if cursor.take(_NAME_CONTAINS):
        part = text_until(cursor, "in", "under", "here", "inside")
        return None if part is None else f"*{part}*"
    cursor.take(_CALLED)
    return _name_pattern(cursor)


def _name_pattern(cursor: Cursor) -> str | None:
    """Take one name. A bare word without dot or wildcard is looked for as part of a name, a quoted one as it is."""
    token = cursor.peek()
    if token.kind == "quoted" and token.text.strip():
        cursor.at += 1
        cursor.take(FILE_NOUNS)
        return token.text
    name = path(cursor, "without article")
    if name is None:
        return None
    return name if is_strong_name(token) and not token.text.isupper() else f"*{name}*" if name.isalnum() else name


def search(cursor: Cursor) -> list[Request]:
    """``search [FOLDER] for TEXT [in PATH]``, ``grep TEXT PATH``, ``look for TEXT and TEXT in PATH and PATH``."""
    one_word = cursor.peek(-1).lower in ("grep", "rg")
    flags = ""
    while cursor.peek().text.startswith("-") and len(cursor.peek().text) > 1:
        flags += cursor.peek().text
        cursor.at += 1
    before = _place_before_for(cursor)
    cursor.word("for")
    if _asks_for_files(cursor):
        return find(cursor)
    regex = _skip_kind_of_text(cursor)
    texts = _texts(cursor, one_word=one_word)
    insensitive = cursor.take(_ANY_CASE) is not None or "i" in flags
    places, glob = ([before], None) if before is not None else _places(cursor)
    insensitive = cursor.take(_ANY_CASE) is not None or insensitive
    return [SearchText(text, place, glob, regex=regex, ignore_case=insensitive) for text in texts for place in places]


def _asks_for_files(cursor: Cursor) -> bool:
    """Tell whether ``files named NAME`` stands here, which is to be found rather than searched for."""
    start = cursor.at
    cursor.skip(ARTICLES)
    found = cursor.take(FILE_NOUNS) is not None and any(map(cursor.next_is, (_CALLED, _ENDING, _NAME_CONTAINS)))
    cursor.at = start
    return found


_ANY_CASE = Phrases(
    "ignoring case, case insensitively, case-insensitively, case insensitive, case-insensitive, in any case, in upper "
    "or lower case, regardless of case, ignoring the case"
)
_REGEX = Phrases(
    "regex, regexp, regular expression, pattern, the regex, the regexp, the regular expression, the pattern, matches "
    "of, matches for"
)
_KIND_OF_TEXT = Phrases(
    "the text, the word, the words, the string, the phrase, text, word, string, phrase, all occurrences of, "
    "occurrences of, any occurrence of, lines with, lines containing, all mentions of, mentions of, uses of, the "
    "name, the term, term, lines that contain, all uses of"
)


def _skip_kind_of_text(cursor: Cursor) -> bool:
    """Take ``the word`` or ``the regex`` before a text; return whether it is a regular expression."""
    start = cursor.at
    regex = cursor.take(_REGEX) is not None
    if not regex:
        cursor.take(_KIND_OF_TEXT)
    if cursor.at_boundary() or cursor.next_is(WITHIN):  # it was the text itself
        cursor.at = start
        return False
    return regex


def _place_before_for(cursor: Cursor) -> str | None:
    """Take ``[in] PLACE for``, as in "search src for TODO"."""
    start = cursor.at
    cursor.word("through", "in", "inside")
    found = folder(cursor)
    if found is not None and cursor.word("for"):
        return found
    cursor.at = start
    return None


def _texts(cursor: Cursor, *, one_word: bool) -> list[str]:
    """Take ``TODO`` or ``TODO and FIXME``; with ``one_word`` a path may follow the first word, as behind grep."""
    found: list[str] = []
    while True:
        text = _text(cursor, one_word=one_word)
        if text is None or not text.strip():
            return found
        found.append(text)
        start = cursor.at
        separated = cursor.conjunction("or")
        if not separated or cursor.at_boundary() or cursor.opens_request(cursor):
            cursor.at = start
            return found


def _text(cursor: Cursor, *, one_word: bool) -> str | None:
    start = cursor.at
    if one_word and cursor.peek().kind == "word" and _is_path(cursor, 1):
        cursor.at += 2
        ends = cursor.ends_clause()
        cursor.at = start + 1
        if ends:
            return cursor.peek(-1).text
        cursor.at = start
    text = text_until(
        cursor, "in", "inside", "within", "under", "across", "throughout", "ignoring", "everywhere", "here", "there"
    )
    if text is None and cursor.peek().kind == "word":  # "search for in" looks for that word
        text = cursor.peek().text
        cursor.at += 1
    return text


def _is_path(cursor: Cursor, ahead: int) -> bool:
    return is_strong_name(cursor.peek(ahead)) or cursor.peek(ahead).text in (".", "..")


def _places(cursor: Cursor) -> tuple[list[str], str | None]:
    """Take ``in PATH and PATH``, ``in the python files [in FOLDER]``, or a path right behind the text.

    Returns the paths, of which there is always one, and a glob for the names of files.
    """
    if not cursor.next_is(WITHIN):
        place = where(cursor)
        if place is None and _is_path(cursor, 0):
            place = cursor.peek().text
            cursor.at += 1
        return [place or cursor.scope or "."], None
    start = cursor.at
    cursor.take(WITHIN)
    behind = cursor.at
    cursor.skip(ARTICLES)
    glob = kind_of_file(cursor)
    if glob is not None:
        return [where(cursor) or "."], glob
    cursor.at = behind
    if cursor.take(IT):
        return [latest_place(cursor)], None
    several = [] if cursor.next_is(HERE) else paths(cursor, "always")
    if len(several) > 1:
        return several, None
    cursor.at = behind
    place = folder(cursor)
    if place is None:
        cursor.at = start
    return [place or "."], None
