"""The verb "list", and what else speaks of folders and kinds of files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_provider_offline._language._cursor import Phrases
from pi_provider_offline._language._names import ARTICLES, NAMED, folder, where
from pi_provider_offline._requests import FindFiles, ListFiles, has_glob

if TYPE_CHECKING:
    from pi_provider_offline._language._cursor import Cursor
    from pi_provider_offline._requests import Request

_FILES = Phrases(
    "files, file names, filenames, file list, file listing, everything, contents, content, entries, items, folders, "
    "directories, files and folders, files and directories, folders and files, directories and files, listing, "
    "directory listing, directory contents, folder contents, contents of, content of, list of files, list of the "
    "files, names of the files, directory, folder"
)
RECURSIVELY = Phrases(
    "recursively, in all subfolders, in all subdirectories, including subfolders, and all subfolders, including "
    "subdirectories, and its subfolders, and subfolders, and all subdirectories, with subfolders"
)
ARE = Phrases(
    "are there, there are, are, is, is there, there is, do we have, do i have, can you see, does it have, we have, i "
    "have, exist, do you see, contained, are contained"
)
_LANGUAGES = {
    "python": "*.py",
    "markdown": "*.md",
    "javascript": "*.js",
    "typescript": "*.ts",
    "rust": "*.rs",
    "go": "*.go",
    "json": "*.json",
    "toml": "*.toml",
    "yaml": "*.yaml",
    "html": "*.html",
    "css": "*.css",
    "java": "*.java",
    "shell": "*.sh",
    "text": "*.txt",
    "txt": "*.txt",
    "c": "*.c",
    "csv": "*.csv",
    "xml": "*.xml",
    "log": "*.log",
}


def list_files(cursor: Cursor) -> list[Request]:
    """``list [all] [the] [files] [in FOLDER] [recursively]``, ``list the python files``, ``ls -la src``."""
    while cursor.peek().text.startswith("-"):
        cursor.at += 1  # the flags of ls
    cursor.skip(ARTICLES)
    pattern = kind_of_file(cursor)
    noun = cursor.take(_FILES) if pattern is None else pattern
    cursor.take(ARE)
    deep = cursor.take(RECURSIVELY) is not None
    place = where(cursor)
    if place is None and (noun is None or noun.endswith((" of", "directory", "folder"))) and not cursor.at_boundary():
        place = folder(cursor)
        if place is None:
            return []
    deep = cursor.take(RECURSIVELY) is not None or deep
    places = [place or cursor.scope or ".", *(_more_folders(cursor) if place else ())]
    if pattern is None and not deep:
        return [ListFiles(place) for place in places]
    return [FindFiles(pattern or "*", place) for place in places]


def _more_folders(cursor: Cursor) -> list[str]:
    """Take ``and docs and tests`` behind a folder: single words, between which nothing else stands."""
    found: list[str] = []
    while True:
        start = cursor.at
        separated = cursor.conjunction()
        cursor.word("in")
        place = None if not separated or cursor.opens_request(cursor) else folder(cursor)
        if place is None or not cursor.at_boundary():
            cursor.at = start
            return found
        found.append(place)


def kind_of_file(cursor: Cursor) -> str | None:
    """Take ``python files``, ``*.py files``, ``.py files`` or a lone glob; return the pattern."""
    start = cursor.at
    token = cursor.peek()
    cursor.at += 1
    noun = cursor.word("files", "file", "scripts", "modules", "documents")
    text = token.text
    if token.kind in ("quoted", "word"):
        if has_glob(text):
            return text
        if noun and text.startswith(".") and text.strip("."):
            return f"*{text}"
    if noun and token.lower in _LANGUAGES and not cursor.next_is(NAMED):
        return _LANGUAGES[token.lower]
    cursor.at = start
    return None
