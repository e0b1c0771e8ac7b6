"""The verbs that change something: run, write, replace. Their free text follows rules of its own.

A quotation or a fenced block is taken as it is. Unquoted text goes to the end of the line; a command ends before an
"and" or "then" that opens a request, the text of a file only before a "then" that does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_provider_offline._language._cursor import Phrases, text_until, word_set
from pi_provider_offline._language._names import (
    ARTICLES,
    WITHIN,
    NoAntecedentError,
    folder,
    path,
)
from pi_provider_offline._requests import Replace, Run, WriteFile
from pi_provider_offline._shell import shell_path

if TYPE_CHECKING:
    from pi_provider_offline._language._cursor import Cursor
    from pi_provider_offline._language._names import Bare
    from pi_provider_offline._language._tokens import Token
    from pi_provider_offline._requests import Request

_THEN = word_set("then, afterwards, finally, next, lastly")
_AND = word_set("and, &, also, after, that")
_NO_COMMANDS = word_set(
    "the, a, an, my, our, your, this, that, it, them, all, some, away, out, into, through, after, for, to"
)


def _rest_of_line(cursor: Cursor, *, then_only: bool) -> str:
    """Take the source text up to the end of the line or to a conjunction that opens a request."""
    first = cursor.at
    end = cursor.line_ends[first]
    if cursor.probing:
        cursor.at = end
    while cursor.at < end and (cursor.at == first or not _next_request_starts(cursor, then_only=then_only)):
        cursor.at += 1
    return cursor.slice(first, cursor.at)


def _next_request_starts(cursor: Cursor, *, then_only: bool) -> bool:
    """Tell whether ``, then list ...`` stands here; the cursor stays."""
    start = cursor.at
    ended = cursor.mark(".", ";", "!", "?")
    cursor.mark(",")
    words = set()
    while cursor.peek().kind == "word" and cursor.peek().lower in _THEN | _AND:
        words.add(cursor.peek().lower)
        cursor.at += 1
    joined = bool(words & _THEN) if then_only else bool(words) or ended
    found = joined and cursor.opens_request(cursor)
    cursor.at = start
    return found


def run(cursor: Cursor) -> list[Request]:
    """``run `cmd` [in FOLDER]``, ``run: cmd``, ``run the command cmd``, ``run cmd``."""
    named = cursor.take(_THE_COMMAND) is not None
    named = cursor.mark(":") or named
    if named and cursor.peek().kind == "newline":
        cursor.at += 1
    quotation = _quoted_command(cursor)
    if quotation is not None:
        return [Run(quotation)]
    token = cursor.peek()
    if token.kind not in ("word", "quoted") or (not named and token.lower in _NO_COMMANDS):
        return []
    first = cursor.at
    _rest_of_line(cursor, then_only=False)
    while cursor.at > first + 1 and cursor.peek(-1).kind == "punctuation" and cursor.peek(-1).text in ".,;!?":
        cursor.at -= 1
    command = cursor.slice(first, cursor.at).removesuffix(" please")
    cursor.mark(".", ",", ";", "!", "?")
    return [Run(command)]


def _quoted_command(cursor: Cursor) -> str | None:
    """Take ```cmd` [in FOLDER]``; other quotation marks may belong to the shell, unless nothing follows them."""
    token = cursor.peek()
    if token.kind not in ("quoted", "fence") or not token.text.strip():
        return None
    start = cursor.at
    cursor.at += 1
    place = folder(cursor) if cursor.take(WITHIN) else None
    if not cursor.ends_clause() and cursor.source[token.start] != "`":
        cursor.at = start
        return None
    command = token.text.strip("\n")
    return command if place in (None, ".") else f"cd {shell_path(place)} && {command}"


_THE_COMMAND = Phrases(
    "the command, command, the shell command, this command, the following command, the following, in bash, bash"
)


def write(cursor: Cursor) -> list[Request]:
    """``write FILE: text``, ``create a file FILE with the text ...``, ``write "text" to FILE``."""
    start = cursor.at
    found = _file_then_text(cursor)
    if not found:
        cursor.at = start
        found = _text_then_file(cursor)
    return found


def _file_then_text(cursor: Cursor) -> list[Request]:
    plain_names: Bare = "without article" if cursor.peek(-1).lower == "write" else "never"
    cursor.word("to", "into")
    cursor.skip(ARTICLES)
    empty = cursor.word("empty", "blank")
    token = cursor.peek()
    name = path(cursor, "never")
    if name is None:  # a plain word is a file only where it can mean nothing else
        name = path(cursor, plain_names)
        if name is None or cursor.peek().text != ":":
            return []
    attached = _attached_text(cursor, token, name)
    if attached is not None:
        return [attached]
    content = "" if empty and cursor.at_boundary() else _content_after_name(cursor)
    return [] if content is None else [WriteFile(name, content)]


def _attached_text(cursor: Cursor, token: Token, name: str) -> WriteFile | None:
    """Take ``FILE:text`` without a space behind the colon; neither a drive letter nor a URL is one."""
    stem, colon, text = name.partition(":")
    if not colon or len(stem) == 1 or text.startswith("//") or token.kind != "word" or token.text != name:
        return None
    _rest_of_line(cursor, then_only=True)
    begin = token.start + len(stem) + 1
    return WriteFile(stem, cursor.source[begin : cursor.tokens[cursor.at - 1].end])


def _content_after_name(cursor: Cursor) -> str | None:
    """Take ``with the text TEXT``, ``: TEXT``, or a fence on the next line."""
    if cursor.take(_WITH_TEXT):
        start = cursor.at
        cursor.skip(_THE_TEXT)
        if not cursor.mark(":") and cursor.peek().kind == "word":  # what was skipped may be part of the text
            cursor.at = start
            cursor.take(_TEXT)
        return _content(cursor)
    fence_below = cursor.peek().kind == "newline" and cursor.peek(1).kind == "fence"
    if cursor.mark(":") or cursor.peek().kind == "fence" or fence_below:
        return _content(cursor)
    return None


_WITH_TEXT = Phrases(
    "with, with content, with contents, with text, containing, that says, that contains, which says, which contains, "
    "saying, and put, consisting of, and write, holding, reading, that reads"
)
_TEXT = Phrases("the text, text, the content, content, the contents, contents, the following text")
_THE_TEXT = Phrases(
    "the, text, content, contents, line, lines, words, word, following, this, string, in it, the text, the content, "
    "the contents, the line, the lines, the words, the following, the string, the following text, the following "
    "content, the following lines, the single line, one line, just"
)


def _content(cursor: Cursor) -> str | None:
    """Take the text of a file: a quotation, a fence, the rest of the line, or below a colon all that follows."""
    token = cursor.peek()
    if token.kind == "newline":
        cursor.at += 1
        if cursor.peek().kind == "fence":
            return _content(cursor)
        cursor.at = len(cursor.tokens) - 1
        return cursor.source[token.end :] or None
    if token.kind in ("quoted", "fence"):
        start = cursor.at
        cursor.at += 1
        if token.kind == "fence" or cursor.ends_clause():
            return token.text
        cursor.at = start
    return _rest_of_line(cursor, then_only=True) or None


def _text_then_file(cursor: Cursor) -> list[Request]:
    """Take ``TEXT to FILE``; of several prepositions the first counts behind which a name ends the clause."""
    first = cursor.at
    if cursor.take(Phrases("the text, the words, the word, the line, the string, text")):
        first = cursor.at
    if cursor.word("the", "this") and cursor.peek().kind in ("quoted", "fence"):
        first = cursor.at
    while cursor.peek().kind not in ("end", "newline"):
        last = cursor.at
        quotation = cursor.tokens[first].kind in ("quoted", "fence") and last == first + 1
        if last > first and cursor.word("to", "into", "in", "as"):
            after = cursor.at
            name = path(cursor, "never")
            if name is not None and cursor.ends_clause():
                text = cursor.tokens[first].text if quotation else cursor.slice(first, last)
                return [WriteFile(name, text)]
            cursor.at = after
        else:
            cursor.at += 1
    return []


def replace(cursor: Cursor) -> list[Request]:
    """``replace A with B [in FILE]``, ``replace A in FILE with B``; several words need no quotation marks."""
    return _replacement(cursor, ("with", "by"))


def change(cursor: Cursor) -> list[Request]:
    """``change A to B [in FILE]``."""
    return _replacement(cursor, ("to", "into"))


def substitute(cursor: Cursor) -> list[Request]:
    """``substitute B for A [in FILE]``; "substitute A with B" is accepted too."""
    start = cursor.at
    new = text_until(cursor, "for")
    if new is not None and cursor.word("for"):
        old = text_until(cursor, "in")
        name = _file_of_replacement(cursor, None)
        return [Replace(name, old, new)] if old else []
    cursor.at = start
    return replace(cursor)


_OCCURRENCES = Phrases(
    "all, every, each, any, all the, all occurrences of, every occurrence of, each occurrence of, the word, the text, "
    "the string, the line, the phrase, the words, all instances of, occurrences of, every instance of, the name, the "
    "letter, the letters"
)


def _replacement(cursor: Cursor, joints: tuple[str, str]) -> list[Request]:
    cursor.skip(_OCCURRENCES)
    old = text_until(cursor, *joints, "in", "inside")
    name = None
    if cursor.word("in", "inside"):
        name = path(cursor, "always")
        if name is None:
            return []
    if old is None or not cursor.word(*joints):
        return []
    cursor.skip(Phrases("the word, the text, the string, the line, the phrase"))
    new = text_until(cursor, "in", "inside", "everywhere")
    if new is None:
        return []
    return [Replace(_file_of_replacement(cursor, name), old, new)]


def _file_of_replacement(cursor: Cursor, name: str | None) -> str:
    """Take ``[everywhere] in FILE`` unless the file is known; without one it is the file of before."""
    cursor.word("everywhere")
    if name is None and cursor.word("in", "inside", "within"):
        name = path(cursor, "always")
    found = name or cursor.scope or cursor.names.file
    if found is None:
        raise NoAntecedentError
    return found


def edit(cursor: Cursor) -> list[Request]:
    """``edit FILE: replace A with B``, ``edit FILE and change A to B``."""
    name = path(cursor)
    if name is None:
        return []
    cursor.mark(":", ",")
    cursor.word("and", "to", "by")
    cursor.scope = name
    try:
        if cursor.word("replace", "replacing"):
            return replace(cursor)
        return change(cursor) if cursor.word("change", "changing") else []
    finally:
        cursor.scope = None
