"""The verb "count" and the questions "how many" and "how long"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_provider_offline._language._cursor import Phrases, each_after_and
from pi_provider_offline._language._folders import ARE, RECURSIVELY, kind_of_file
from pi_provider_offline._language._names import WITHIN, folder, implied_file, latest_place, paths, where
from pi_provider_offline._requests import CountFiles, CountIn, Unit

if TYPE_CHECKING:
    from pi_provider_offline._language._cursor import Cursor
    from pi_provider_offline._requests import Request


def count(cursor: Cursor) -> list[Request]:
    """``count the words and lines in FILE``, ``how many words does FILE have``, ``count the files in FOLDER``."""
    cursor.skip(Phrases("up, out"))
    cursor.skip(_HOW_MANY)
    pattern = kind_of_file(cursor)
    if pattern is not None or cursor.take(_COUNTED_FILES):
        cursor.take(ARE)
        place = where(cursor)
        if place is None and cursor.word("does"):
            place = folder(cursor)
            cursor.word("have", "contain", "hold")
        deep = cursor.take(RECURSIVELY) is not None
        return [CountFiles(place or cursor.scope or ".", "*" if deep and pattern is None else pattern)]
    if cursor.word("them") and cursor.names.latest == cursor.names.folder:
        return [CountFiles(latest_place(cursor))]
    return each_after_and(cursor, _units_in_files)


def _units_in_files(cursor: Cursor) -> list[Request]:
    cursor.skip(_HOW_MANY)
    units = _units(cursor)
    return [CountIn(name, units) for name in _counted(cursor)] if units else []


_HOW_MANY = Phrases("how many, the number of, number of, the total number of, total number of, the, all, all the, its")
_COUNTED_FILES = Phrases("files, files and folders, files and directories, folders and files, entries")
_UNITS: dict[str, Unit] = {
    **dict.fromkeys(("word", "words"), "words"),
    **dict.fromkeys(("line", "lines"), "lines"),
    **dict.fromkeys(("character", "characters", "char", "chars", "letters"), "characters"),
}


def _units(cursor: Cursor) -> tuple[Unit, ...]:
    """Take ``words``, ``lines, words and characters``, ``word count``; in the order of ``wc``, each once."""
    found: set[Unit] = set()
    while True:
        start = cursor.at
        if found:
            separated = cursor.conjunction("or")
            cursor.skip(_HOW_MANY)
        unit = _UNITS.get(cursor.peek().lower)
        if unit is None or (found and not separated):
            cursor.at = start
            cursor.word("count", "counts")
            return tuple(name for name in _IN_ORDER if name in found)
        found.add(unit)
        cursor.at += 1


_IN_ORDER: tuple[Unit, ...] = ("lines", "words", "characters")


def _counted(cursor: Cursor) -> list[str]:
    """Take the files whose words are counted: ``[are] in FILE``, ``does FILE have``, ``FILE has``, or none."""
    cursor.take(ARE)
    if cursor.word("does", "do"):
        names = paths(cursor, "always")
        return names if cursor.word("have", "contain", "hold", "has") else []
    if cursor.at_boundary():
        return [implied_file(cursor)]
    if cursor.take(WITHIN) or cursor.word("for"):
        return paths(cursor, "always")
    names = paths(cursor)
    cursor.word("has", "have", "contains", "contain")
    return names


def length(cursor: Cursor) -> list[Request]:
    """``how long is FILE``, ``how big is FILE``."""
    return [CountIn(name, _IN_ORDER) for name in paths(cursor)]


def word_count(cursor: Cursor) -> list[Request]:
    """Take ``word count of FILE``."""
    start = cursor.at
    if _units(cursor) and cursor.peek(-1).lower in ("count", "counts"):
        cursor.at = start
        return count(cursor)
    cursor.at = start
    return []
