"""The noun phrases of the grammar: names of files and folders, and the words that stand for them.

Every function here either takes a whole phrase or takes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from pi_provider_offline._language._cursor import CONJUNCTIONS, Phrases, word_set

if TYPE_CHECKING:
    from pi_provider_offline._language._cursor import Cursor
    from pi_provider_offline._language._tokens import Token

Bare: TypeAlias = Literal["never", "without article", "always"]
"""When a plain lower-case word, such as ``notes``, may be a file name."""


class NoAntecedentError(Exception):
    """A request speaks of "it", and no file was named before."""


ARTICLES = Phrases(
    "the, a, an, my, our, your, its, this, that, all, every, each, any, of, me, us, whole, entire, full, complete, "
    "new, existing, same, following, text, plain, both"
)
FILE_NOUNS = Phrases("file, files, document, script, module")
FOLDER_NOUNS = Phrases("folder, folders, directory, directories, dir, subfolder, subdirectory, path, package")
NAMED = Phrases("named, called, with the name, by the name of")
IT = Phrases(
    "it, itself, this, that, this one, that one, there, that file, this file, the same file, the file, said "
    "file, the said file, the result, the new file, the new content, the new contents, that folder, this one there, "
    "the same folder, that directory, the same directory"
)
THEM = Phrases(
    "them, both, each, each of them, both of them, all of them, these files, those files, both files, each file, each "
    "of these, each of these files, each of those files, the two files"
)
HERE = Phrases(
    "here, in here, this folder, this directory, this dir, this project, this repo, this repository, the current "
    "folder, the current directory, current directory, current folder, the working directory, working directory, cwd, "
    "the cwd, the current working directory, the root, the project, the repo, the repository, the project folder, the "
    "project directory, the root folder, the root directory, the project root, the folder, the directory, everywhere, "
    "all files, all the files, every file, any file, the files, this place, the whole project, my project, the "
    "workspace, this workspace, the codebase, this codebase, the source tree, this tree"
)
PARENT = Phrases("the parent folder, the parent directory, the folder above, the directory above")
WITHIN = Phrases("in, inside, inside of, within, under, below, from, of, at, across, throughout")
_NO_NAMES = word_set(
    "a, after, all, an, and, are, as, at, be, before, but, by, can, character, characters, contents, count, do, does, "
    "few, file, files, first, folder, for, from, have, here, how, i, if, in, into, is, it, its, last, let, line, "
    "lines, many, me, much, my, now, of, on, or, out, over, please, so, some, such, than, that, the, their, them, "
    "then, there, these, they, this, those, to, too, up, us, was, we, what, when, where, which, while, who, why, "
    "will, with, word, words, you, your, &, -, like, about, something, anything, nothing, everything"
)


def is_strong_name(token: Token) -> bool:
    """Tell whether a token can hardly be anything but a file name."""
    if token.kind == "quoted":
        return bool(token.text.strip())
    return token.kind == "word" and token.lower not in _NO_NAMES and _has_form_of_name(token.text)


def _has_form_of_name(text: str) -> bool:
    """Tell whether a word has an extension, a slash, a wildcard or only capitals, as ``LICENSE`` has."""
    if any(character in text for character in "/\\*?") or (text.isupper() and len(text) > 1):
        return True
    stem, _, extension = text.rpartition(".")
    return bool(extension) and (bool(stem.strip(".")) or text.startswith("."))


def _is_name(token: Token, *, plain: bool) -> bool:
    if token.kind == "quoted":
        return bool(token.text.strip())
    if token.kind != "word" or token.lower in _NO_NAMES or token.lower in CONJUNCTIONS:
        return False
    return plain or is_strong_name(token) or not token.lower.replace("'", "").isalpha()


def _named_thing(cursor: Cursor, nouns: Phrases, bare: Bare) -> str | None:
    """Take ``[the] [file] [called] NAME [file]``."""
    start = cursor.at
    article = bool(cursor.skip(ARTICLES))
    noun = cursor.take(nouns) is not None
    named = cursor.take(NAMED) is not None
    if noun and cursor.peek().text == ":":
        cursor.at += 1
    token = cursor.peek()
    cursor.at += 1
    after = cursor.take(nouns) is not None
    plain = noun or named or after or bare == "always" or (bare == "without article" and not article)
    if _is_name(token, plain=plain):
        return token.text.removeprefix("@") or token.text
    cursor.at = start
    return None


def path(cursor: Cursor, bare: Bare = "without article") -> str | None:
    """Take the name of a file; "it" is the last one named.

    Raises:
        NoAntecedentError: "it", and no file was named.
    """
    name = _named_thing(cursor, FILE_NOUNS, bare)
    if name is not None:
        return name
    start = cursor.at
    phrase = cursor.take(IT)
    if phrase is None:
        return None
    if phrase == "the result" and not cursor.at_boundary():  # of something else
        cursor.at = start
        return None
    found = cursor.scope or cursor.names.file
    if found is None:
        raise NoAntecedentError
    return found


def paths(cursor: Cursor, bare: Bare = "without article") -> list[str]:
    """Take ``a.txt, b.txt and c.txt``, or "both"; empty where no file name stands here."""
    first = path(cursor, bare)
    if first is None and cursor.names.group and cursor.take(THEM):
        return list(cursor.names.group)
    if first is None:
        return []
    found = [first]
    while True:
        start = cursor.at
        separated = cursor.conjunction()
        if not separated:
            return found
        cursor.skip(ARTICLES)
        cursor.take(FILE_NOUNS)
        if not is_strong_name(cursor.peek()) or cursor.opens_request(cursor):
            cursor.at = start
            return found
        found.append(cursor.peek().text.removeprefix("@"))
        cursor.at += 1


def folder(cursor: Cursor) -> str | None:
    """Take the name of a folder, "here" or "there"; the caller has taken the preposition.

    Raises:
        NoAntecedentError: "there", and neither file nor folder was named.
    """
    if cursor.take(PARENT):
        return ".."
    start = cursor.at
    if cursor.take(HERE):
        if not _is_name(cursor.peek(), plain=False):  # else: the folder src
            return "."
        cursor.at = start
    name = _named_thing(cursor, FOLDER_NOUNS, "always")
    if name is not None:
        return name
    if cursor.take(IT) is None:
        return None
    found = cursor.names.folder or cursor.names.latest
    if found is None:
        raise NoAntecedentError
    return found


def where(cursor: Cursor) -> str | None:
    """Take ``in FOLDER``, "here" or "there"; None where nothing of the kind stands here."""
    start = cursor.at
    if cursor.take(WITHIN):
        found = folder(cursor)
        if found is None:
            cursor.at = start
        return found
    if cursor.take(HERE):
        return "."
    if cursor.word("there") and cursor.names.folder is not None:
        return cursor.names.folder
    cursor.at = start
    return None


def implied_file(cursor: Cursor) -> str:
    """Return the file that a request means which names none."""
    name = cursor.scope or cursor.names.file
    if name is None:
        raise NoAntecedentError
    return name


def latest_place(cursor: Cursor) -> str:
    """Return what "it" means where a file will do and a folder too."""
    name = cursor.scope or cursor.names.latest
    if name is None:
        raise NoAntecedentError
    return name
