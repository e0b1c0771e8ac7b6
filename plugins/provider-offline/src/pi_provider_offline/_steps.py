"""How each request is done: one generator per kind, which yields tool calls, gets replies and returns the outcome.

A generator holds no state of its own beyond its replies, so that running it again on the calls and results of a
conversation brings it to the same place. The tool made for the job comes first, bash second, and a call that was
refused is never tried another way.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from attrs import frozen

from pi_provider_offline._outcomes import (
    Counts,
    Entries,
    Failed,
    FileCounts,
    Lines,
    Missing,
    Outcome,
    Outline,
    Output,
    Replaced,
    Said,
    Written,
)
from pi_provider_offline._requests import (
    CountFiles,
    CountIn,
    FindFiles,
    ListFiles,
    ReadEnd,
    ReadFile,
    Replace,
    Request,
    Run,
    SearchText,
    Summarise,
    Unit,
    WriteFile,
)
from pi_provider_offline._results import NotText, Reply, chunk_of, entries_of, output_of
from pi_provider_offline._shell import Shell

if TYPE_CHECKING:
    from collections.abc import Generator

    from pi_provider_offline._toolbox import Call, Toolbox

    Steps: TypeAlias = Generator[Call, Reply, Outcome]

MAX_PAGES = 200
"""Calls of ``read`` for one file, 10 MB at most; then the answer says where it stopped."""

MANY = 100_000
"""The limit asked for when a listing with the tool's own limit was cut."""


def steps(request: Request, tools: Toolbox) -> Steps:  # noqa: C901, PLR0911 - one case per kind of request
    """Return the generator that does a request with the given tools."""
    match request:
        case ListFiles(folder):
            return _list(tools, folder)
        case ReadFile(path, first, count):
            return _read(tools, path, first, count)
        case ReadEnd(path, count):
            return _read_end(tools, path, count)
        case FindFiles(pattern, folder):
            return _find(tools, pattern, folder)
        case SearchText():
            return _search(tools, request)
        case CountIn(path, units):
            return _count(tools, path, units)
        case CountFiles(folder, pattern):
            return _count_files(tools, folder, pattern)
        case Run(command):
            return _run(tools, command)
        case WriteFile(path, content):
            return _write(tools, path, content)
        case Replace(path, old, new):
            return _replace(tools, path, old, new)
        case Summarise(path):
            return _outline(tools, path)
        case _:
            return _nothing()


def _nothing() -> Steps:
    yield from ()
    return Said()


def _run(tools: Toolbox, command: str) -> Steps:
    call = tools.bash(command)
    if call is None:
        return Missing((("bash",),))
    reply = yield call
    return Output(reply.text, reply.is_error)


# Folders


def _list(tools: Toolbox, folder: str) -> Steps:
    if tools.call("ls", _at(folder)) is not None:
        return (yield from _entries(tools, "ls", _at(folder), "(empty directory)"))
    return (yield from _shell_entries(tools, Shell.list(folder), "ls"))


def _find(tools: Toolbox, pattern: str, folder: str) -> Steps:
    if tools.call("find", {"pattern": pattern, **_at(folder)}) is not None:
        return (yield from _entries(tools, "find", {"pattern": pattern, **_at(folder)}, _NO_FILES))
    return (yield from _shell_entries(tools, Shell.find(pattern, folder), "find"))


_NO_FILES = "No files found matching pattern"


def _at(folder: str) -> dict[str, str]:
    """Return the argument for a folder; the tools take the working directory when there is none."""
    return {} if folder == "." else {"path": folder}


def _entries(tools: Toolbox, name: str, arguments: dict[str, str], nothing: str) -> Steps:
    """List with a tool; a listing that the tool's own limit cut is asked for again with a higher one."""
    names: tuple[str, ...] = ()
    notice = None
    for limit in (None, MANY):
        call = tools.call(name, arguments, limit=limit)
        if call is None or (limit and not tools.takes(name, "limit")):
            break
        reply = yield call
        if reply.is_error:
            return Failed(reply.text)
        names, notice = entries_of(reply, nothing)
        if notice is None:
            break
    return Entries(names, notice)


def _shell_entries(tools: Toolbox, command: str, tool: str) -> Steps:
    call = tools.bash(command)
    if call is None:
        return Missing(((tool,), ("bash",)))
    reply = yield call
    if reply.is_error:
        return Failed(reply.text)
    text, complete = output_of(reply)
    names = sorted(line.removeprefix("./") for line in text.split("\n") if line)
    return Entries(tuple(names), None if complete else "only the last lines of the command's output are known")


def _count_files(tools: Toolbox, folder: str, pattern: str | None) -> Steps:
    name = "ls" if pattern is None else "find"
    arguments = _at(folder) if pattern is None else {"pattern": pattern, **_at(folder)}
    listing = Entries((), "no tool")
    if tools.call(name, arguments) is not None:
        outcome = yield from _entries(tools, name, arguments, "(empty directory)" if pattern is None else _NO_FILES)
        if not isinstance(outcome, Entries):
            return outcome
        listing = outcome
        if listing.notice is None:
            return _by_kind(listing)
    call = tools.bash(Shell.count_files(folder, pattern))
    if call is None:
        return _by_kind(listing) if listing.names else Missing(((name,), ("bash",)))
    reply = yield call
    numbers = [int(number) for number in reply.text.split() if number.isdecimal()]
    if reply.is_error or len(numbers) != len(("files", "folders")):
        return Failed(reply.text)
    files, folders = numbers
    return FileCounts(files, folders)


def _by_kind(listing: Entries) -> FileCounts:
    folders = sum(name.endswith("/") for name in listing.names)
    return FileCounts(len(listing.names) - folders, folders, at_least=listing.notice is not None)


def _search(tools: Toolbox, request: SearchText) -> Steps:
    literal = tools.takes("grep", "literal")
    pattern = request.text if request.regex or literal else re.escape(request.text)
    needed = {"pattern": pattern, **_at(request.path)}
    if request.glob is not None:
        needed["glob"] = request.glob
    call = tools.call(
        "grep", needed, literal=None if request.regex else True, ignoreCase=True if request.ignore_case else None
    )
    if call is None:
        return (yield from _shell_entries(tools, Shell.search(request), "grep"))
    reply = yield call
    return Failed(reply.text) if reply.is_error else Entries(*entries_of(reply, "No matches found"))


# Files, read


@frozen
class _Text:
    """What was read of a file: ``next_line`` is where it goes on, None at its end, and ``total`` as in ``Chunk``."""

    text: str
    next_line: int | None = None
    total: int | None = None


def _pages(
    tools: Toolbox, path: str, first: int = 1, count: int | None = None, *, whole: bool = True
) -> Generator[Call, Reply, _Text | NotText | Failed]:
    """Read with ``read``, page after page, until the end or ``count`` lines; without ``whole`` only the first page."""
    parts: list[str] = []
    line, total = first, None
    for _ in range(MAX_PAGES):
        call = tools.call("read", {"path": path}, offset=line if line > 1 else None, limit=count)
        if call is None or (line > 1 and not tools.takes("read", "offset")):
            break
        reply = yield call
        if reply.is_error:
            return Failed(reply.text)
        chunk = chunk_of(reply, line)
        if isinstance(chunk, NotText):
            return chunk
        parts.append(chunk.text)
        if chunk.next_line is None:
            return _Text("\n".join(parts))
        count = None if count is None else count - (chunk.next_line - line)
        line, total = max(chunk.next_line, line + 1), chunk.total
        if not whole or (count is not None and count <= 0):
            break
    return _Text("\n".join(parts), line, total)


def _read(tools: Toolbox, path: str, first: int, count: int | None) -> Steps:
    if not tools.has("read", "path", *(["offset"] if first > 1 else [])):
        return (yield from _shell_lines(tools, Shell.lines(path, first, count), first))
    page = yield from _pages(tools, path, first, count, whole=count is not None)
    if not isinstance(page, _Text):
        return _unreadable(page)
    text = page.text if page.next_line is None else page.text + "\n"  # the notice stood in place of the line end
    pieces = text.split("\n")
    if count is not None and len(pieces) > count:
        text = "\n".join(pieces[:count]) + "\n"
    if page.next_line is None or (count is not None and page.next_line >= first + count):
        return Lines(text, first)
    return Lines(text, first, f"The file goes on at line {page.next_line}.")


def _unreadable(page: NotText | Failed) -> Failed:
    return page if isinstance(page, Failed) else Failed(f"it cannot be shown as text ({page.why})")


def _shell_lines(tools: Toolbox, command: str, first: int) -> Steps:
    call = tools.bash(command)
    if call is None:
        return Missing((("read",), ("bash",)))
    reply = yield call
    if reply.is_error:
        return Failed(reply.text)
    text, complete = output_of(reply)
    return Lines(text, first) if complete else Lines(text, 0, "That is only the end of it; the rest was cut.")


def _read_end(tools: Toolbox, path: str, count: int) -> Steps:
    command = Shell.last_lines(path, count)
    if not tools.has("read", "path"):
        return (yield from _shell_lines(tools, command, 0))
    page = yield from _pages(tools, path, whole=False)
    if isinstance(page, _Text) and page.next_line is not None:
        if page.total is None or not tools.takes("read", "offset"):
            if tools.bash(command) is not None:
                return (yield from _shell_lines(tools, command, 0))
            return Failed("the file is too long to find its end with `read`")
        page = yield from _pages(tools, path, max(1, page.total - count))
    if not isinstance(page, _Text):
        return _unreadable(page)
    if page.next_line is not None:
        return _stopped(page)
    lines = page.text.removesuffix("\n").split("\n")
    return Lines("\n".join(lines[-count:]) + "\n" if page.text else "", 0)


def _count(tools: Toolbox, path: str, units: tuple[Unit, ...]) -> Steps:
    """Count what one page of ``read`` shows; longer files, and what is no text, bash counts in one call."""
    command = tools.bash(Shell.count(path, units))
    if tools.has("read", "path"):
        page = yield from _pages(tools, path, whole=command is None)
        if isinstance(page, _Text) and page.next_line is None:
            return Counts({unit: _COUNTERS[unit](page.text) for unit in units})
        if isinstance(page, Failed) or command is None:
            return _stopped(page)
    if command is None:
        return Missing((("read",), ("bash",)))
    reply = yield command
    numbers = [int(number) for number in reply.text.split() if number.isdecimal()]
    if reply.is_error or len(numbers) != len(units):
        return Failed(reply.text)
    return Counts(dict(zip(units, numbers, strict=True)))


def _stopped(page: _Text | NotText | Failed) -> Failed:
    if isinstance(page, _Text):
        return Failed(f"it still goes on at line {page.next_line}, and I stop after {MAX_PAGES} calls of `read`")
    return _unreadable(page)


def count_lines(text: str) -> int:
    """Count lines; a last one without a line end counts too."""
    return text.count("\n") + (1 if text and not text.endswith("\n") else 0)


def _count_words(text: str) -> int:
    return len(text.split())


_COUNTERS = {"lines": count_lines, "words": _count_words, "characters": len}


def _outline(tools: Toolbox, path: str) -> Steps:
    if not tools.has("read", "path"):
        outcome = yield from _shell_lines(tools, Shell.beginning(path), 1)
        if not isinstance(outcome, Lines):
            return outcome
        whole = len(outcome.text.encode("utf-8", "replace")) < Shell.BEGINNING
        return Outline(outcome.text, None if whole else f"only its first {Shell.BEGINNING} bytes were read")
    page = yield from _pages(tools, path, whole=False)
    if not isinstance(page, _Text):
        return _unreadable(page)
    if page.next_line is None:
        return Outline(page.text)
    of = f" of {page.total}" if page.total else ""
    return Outline(page.text, f"only its first {page.next_line - 1}{of} lines were read")


# Files, written


def _write(tools: Toolbox, path: str, content: str) -> Steps:
    call = tools.call("write", {"path": path, "content": content}) or tools.bash(Shell.write(path, content))
    if call is None:
        return Missing((("write",), ("bash",)))
    reply = yield call
    return Failed(reply.text) if reply.is_error else Written(count_lines(content), len(content))


_SEVERAL = re.compile(r"Found \d+ occurrences of ")


def _replace(tools: Toolbox, path: str, old: str, new: str) -> Steps:
    """Edit; where the text stands several times, which ``edit`` refuses, the file is written anew."""
    can_rewrite = tools.has("read", "path") and tools.has("write", "path", "content")
    call = tools.call("edit", {"path": path, "edits": [{"oldText": old, "newText": new}]})
    if call is not None:
        reply = yield call
        if not reply.is_error:
            return Replaced(1)
        if not can_rewrite or not _SEVERAL.match(reply.text):
            return Failed(reply.text)
    elif not can_rewrite and tools.bash("") is None:
        return Missing((("edit",), ("read", "write"), ("bash",)))
    text = yield from _whole_text(tools, path)
    if not isinstance(text, str):
        return text
    times = text.count(old) if old else 0
    if not times:
        return Failed("the text to be replaced does not occur in it")
    outcome = yield from _write(tools, path, text.replace(old, new))
    return Replaced(times) if isinstance(outcome, Written) else outcome


def _whole_text(tools: Toolbox, path: str) -> Generator[Call, Reply, str | Failed]:
    """Read a file that is going to be written again: all of it, and only if nothing is lost on the way."""
    if tools.has("read", "path"):
        page = yield from _pages(tools, path)
        if not isinstance(page, _Text):
            return _unreadable(page)
        text, complete = page.text, page.next_line is None
    else:
        outcome = yield from _shell_lines(tools, Shell.lines(path, 1, None), 1)
        if not isinstance(outcome, Lines):
            return outcome if isinstance(outcome, Failed) else Failed("it cannot be read")
        text, complete = outcome.text, outcome.rest is None
    if not complete:
        return Failed("it is too long to be rewritten as a whole")
    if "\N{REPLACEMENT CHARACTER}" in text or "\0" in text:
        return Failed("it is not UTF-8 text, and rewriting it would damage it")
    return text
