"""What the rules can be asked for: one value per kind of request, and how each reads in a sentence."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from attrs import evolve, frozen

Unit: TypeAlias = Literal["lines", "words", "characters"]
"""What can be counted in a file."""


@frozen
class ListFiles:
    """List a folder; ``.`` is the working directory."""

    folder: str = "."

    def __str__(self) -> str:
        return f"list {files_in(self.folder)}"


@frozen
class ReadFile:
    """Show a file from line ``first`` on (counted from 1), ``count`` lines of it or all."""

    path: str
    first: int = 1
    count: int | None = None

    def __str__(self) -> str:
        if self.first == 1:
            return f"read {self.path}" if self.count is None else f"read the first {lines(self.count)} of {self.path}"
        if self.count is None:
            return f"read {self.path} from line {self.first} on"
        return f"read {line_range(self.first, self.count)} of {self.path}"


@frozen
class ReadEnd:
    """Show the last ``count`` lines of a file."""

    path: str
    count: int

    def __str__(self) -> str:
        return f"read the last {lines(self.count)} of {self.path}"


@frozen
class FindFiles:
    """Find files below a folder whose name, or path where the pattern has a slash, matches a glob."""

    pattern: str
    folder: str = "."

    def __str__(self) -> str:
        return f"find {self.pattern} {within(self.folder)}"


@frozen
class SearchText:
    """Find lines that hold a text, or match a regular expression, in a file or below a folder."""

    text: str
    path: str = "."
    glob: str | None = None
    regex: bool = False
    ignore_case: bool = False

    def __str__(self) -> str:
        return f"search for {self.text!r} {self.place}"

    @property
    def place(self) -> str:
        """Where, as it reads in a sentence."""
        return within(self.path) if self.glob is None else f"in {self.glob} {within(self.path)}"


@frozen
class CountIn:
    """Count the lines, words or characters of a file."""

    path: str
    units: tuple[Unit, ...]

    def __str__(self) -> str:
        return f"count the {joined(self.units)} in {self.path}"


@frozen
class CountFiles:
    """Count the entries of a folder, or what a glob matches below it."""

    folder: str = "."
    pattern: str | None = None

    def __str__(self) -> str:
        if self.pattern is not None:
            return f"count the files that match {self.pattern} {within(self.folder)}"
        return f"count {files_in(self.folder)}"


@frozen
class Run:
    """Run a shell command."""

    command: str

    def __str__(self) -> str:
        return f"run {code(self.command)}"


@frozen
class WriteFile:
    """Write a file, exactly this text."""

    path: str
    content: str

    def __str__(self) -> str:
        return f"write {self.path}"


@frozen
class Replace:
    """Replace a text by another, wherever it stands in a file."""

    path: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"replace {self.old!r} with {self.new!r} in {self.path}"


@frozen
class Summarise:
    """Tell what is in a file, by its headings and first sentences."""

    path: str

    def __str__(self) -> str:
        return f"summarise {self.path}"


@frozen
class Help:
    """Say what can be asked."""

    def __str__(self) -> str:
        return "say what I can do"


@frozen
class Unclear:
    """A request that names no file; ``text`` is what the user wrote."""

    text: str

    def __str__(self) -> str:
        return f"ask which file is meant in {quoted(self.text)}"


@frozen
class Unknown:
    """Something that no rule fits, as the user wrote it."""

    text: str

    def __str__(self) -> str:
        return f"say that I do not understand {quoted(self.text)}"


Request: TypeAlias = (
    ListFiles
    | ReadFile
    | ReadEnd
    | FindFiles
    | SearchText
    | CountIn
    | CountFiles
    | Run
    | WriteFile
    | Replace
    | Summarise
    | Help
    | Unclear
    | Unknown
)
"""One thing that the user wants, or that was not understood."""


@frozen
class Names:
    """What "it", "there" and "both" mean.

    Attributes:
        file: The file named last.
        folder: The folder named last.
        latest: The later of the two.
        group: All files named so far, each once.
    """

    file: str | None = None
    folder: str | None = None
    latest: str | None = None
    group: tuple[str, ...] = ()

    def after(self, request: Request) -> Names:
        """Return the names as they stand after a request."""
        match request:
            case ReadFile() | ReadEnd() | CountIn() | WriteFile() | Replace() | Summarise():
                return self.with_file(request.path)
            case SearchText() if looks_like_file(request.path):
                return self.with_file(request.path)
            case FindFiles() if not has_glob(request.pattern):
                return evolve(self.with_file(request.pattern), folder=request.folder)
            case SearchText():
                return evolve(self, folder=request.path, latest=request.path)
            case ListFiles() | FindFiles() | CountFiles():
                return evolve(self, folder=request.folder, latest=request.folder)
            case _:
                return self

    def with_file(self, path: str) -> Names:
        """Return the names after a file was named."""
        group = self.group if path in self.group else (*self.group, path)
        return evolve(self, file=path, latest=path, group=group)


def looks_like_file(path: str) -> bool:
    """Tell whether the last part of a path has an extension, which folders seldom have."""
    return re.search(r"[^./\\]\.\w+$", path) is not None


def has_glob(text: str) -> bool:
    """Tell whether a name is a pattern."""
    return "*" in text or "?" in text or ("[" in text and "]" in text)


def files_in(folder: str) -> str:
    """Return ``the files here`` or ``the files in FOLDER``."""
    return "the files here" if folder == "." else f"the files in {folder}"


def within(folder: str) -> str:
    """Return ``here`` or ``in FOLDER``."""
    return "here" if folder == "." else f"in {folder}"


def lines(count: int) -> str:
    """Return ``line`` for one line, else ``N lines``, as it follows "the first"."""
    return "line" if count == 1 else f"{count} lines"


def line_range(first: int, count: int) -> str:
    """Return ``line 3`` or ``lines 3 to 7``."""
    return f"line {first}" if count == 1 else f"lines {first} to {first + count - 1}"


def joined(parts: tuple[str, ...] | list[str]) -> str:
    """Return ``a``, ``a and b`` or ``a, b and c``."""
    return " and ".join(part for part in (", ".join(parts[:-1]), *parts[-1:]) if part)


def code(text: str) -> str:
    """Return a text as Markdown code in the line, whatever backticks it holds."""
    ticks = "`"
    while ticks in text:
        ticks += "`"
    room = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{room}{text}{room}{ticks}"


def quoted(text: str, limit: int = 200) -> str:
    """Return the user's words in quotation marks, at most ``limit`` characters of them."""
    short = text if len(text) <= limit else text[:limit].rstrip() + " ..."
    return f"\N{LEFT DOUBLE QUOTATION MARK}{short}\N{RIGHT DOUBLE QUOTATION MARK}"
