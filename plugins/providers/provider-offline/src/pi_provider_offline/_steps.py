"""How each kind of request is done: a generator that yields tool calls, gets their replies and returns a paragraph.

A generator keeps no state but its replies, so that running it again on the calls and results of a conversation brings
it to the same place. The tool made for the job comes first, bash second; a call that was refused is never tried
another way, except that a text which ``edit`` finds several times is replaced by writing the file as a whole.
"""

from __future__ import annotations

import posixpath
import re
from shlex import quote
from typing import TYPE_CHECKING, TypeAlias

from pi_provider_offline._tools import Call, Page, Reply, Toolbox, listing_of, page_of

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from pi_provider_offline._requests import Request

    Steps: TypeAlias = Generator[Call, Reply, str]


class Failed(Exception):
    """A request that cannot be done; the message is the reason."""


def steps(request: Request, tools: Toolbox) -> Steps:
    """Return the generator that does a request with the given tools."""
    return _guarded(request, _DOERS[request.kind](request, tools))


def _guarded(request: Request, doing: Steps) -> Steps:
    if request.path is None:
        return 'I cannot tell which file you mean by "it": none was named before.'
    try:
        return (yield from doing)
    except Failed as failure:
        why = str(failure).strip() or "no reason was given"
        if "\n" in why:
            return f"I could not {request}:\n{fence(why)}"
        return f"I could not {request}: {why if why.endswith(('.', '!', '?', ']', ')')) else why + '.'}"


def _first_of(*calls: Call | None, needs: str) -> Call:
    """Return the first call that can be made; raises ``Failed`` where none can."""
    found = next((call for call in calls if call is not None), None)
    if found is None:
        raise Failed(f"none of the tools I was given can do it (needs {needs})")
    return found


def _text(reply: Reply) -> str:
    if reply.is_error:
        raise Failed(reply.text)
    return reply.text


# Folders


def _entries(request: Request, tools: Toolbox) -> Generator[Call, Reply, tuple[list[str], str]]:
    call = tools.call("ls", path=_given(request))
    return listing_of(
        _text((yield _first_of(call, tools.call("bash", command=f"ls -Ap {_path(request)}"), needs="`ls` or `bash`")))
    )


def _list(request: Request, tools: Toolbox) -> Steps:
    names, more = yield from _entries(request, tools)
    if not names:
        return "This folder is empty." if request.path == "." else f"{request.path} is empty."
    return _lines_of(f"The files {request.place} ({_number(len(names), 'entry')}):", "\n".join(names), more)


def _count_files(request: Request, tools: Toolbox) -> Steps:
    names, more = yield from _entries(request, tools)
    folders = sum(name.endswith("/") for name in names)
    place = "This folder" if request.path == "." else request.path
    found = f"{_number(len(names) - folders, 'file')} and {_number(folders, 'folder')}"
    return f"{place} has {'at least ' if more else ''}{found}."


def _find(request: Request, tools: Toolbox) -> Steps:
    pattern = request.text if re.search(r"[*?.\[]", request.text) else f"*{request.text}*"
    command = f"find {_path(request)} -mindepth 1 -iname {quote(pattern)} ! -path '*/.git/*' | sort"
    call = tools.call("find", pattern=pattern, path=_given(request))
    reply = yield _first_of(call, tools.call("bash", command=command), needs="`find` or `bash`")
    return _matches(request, pattern, f"No files match `{pattern}`", *listing_of(_text(reply)))


def _search(request: Request, tools: Toolbox) -> Steps:
    # the shell's grep answers 1 for no match, which is no failure
    command = f"grep -rnIF --exclude-dir=.git -e {quote(request.text)} {_path(request)} || test $? -eq 1"
    call = tools.call("grep", pattern=request.text, path=_given(request), literal=True)
    reply = yield _first_of(call, tools.call("bash", command=command), needs="`grep` or `bash`")
    return _matches(request, request.text, f"No matches for `{request.text}`", *listing_of(_text(reply)))


def _matches(request: Request, text: str, none: str, found: list[str], more: str) -> str:
    heading = f"{_number(len(found), 'match')} for `{text}` {request.place}:"
    return _lines_of(heading, "\n".join(found), more) if found else f"{none} {request.place}."


# Files


def _page(request: Request, tools: Toolbox) -> Generator[Call, Reply, Page | None]:
    """Read one page with ``read``; None without that tool. Raises ``Failed`` for what is no text."""
    call = tools.call("read", path=request.path, limit=request.count)
    return None if call is None else _shown((yield call))


def _shown(reply: Reply) -> Page:
    page = page_of(reply)
    if isinstance(page, str):
        raise Failed(page)
    return page


def _read(request: Request, tools: Toolbox) -> Steps:
    path, first, count, rest = request.path, request.first, request.count, ""
    command = f"head -n {count} {_path(request)}" if count is not None else f"cat {_path(request)}"
    command = f"tail -n {count} {_path(request)}" if first < 0 else command
    page = None if first < 0 else (yield from _page(request, tools))
    if page is None:
        page = _shown((yield _first_of(tools.call("bash", command=command), needs="`read` or `bash`")))
    elif count is None and page.next_line is not None:
        rest = f"The file goes on at line {page.next_line}."
    text = page.text if count is None else "".join(page.text.splitlines(keepends=True)[:count])
    if text in ("", "(no output)"):
        return f"{path} is empty."
    return _lines_of(_heading(request, text), text, rest)


def _heading(request: Request, text: str) -> str:
    path, count = request.path, request.count
    if count is None:
        return f"{path}:"
    if request.first == 1 and _count_lines(text) < count:
        return f"{path} has only {_number(_count_lines(text), 'line')}:"
    return f"The {'first' if request.first == 1 else 'last'} {'line' if count == 1 else f'{count} lines'} of {path}:"


def _count(request: Request, tools: Toolbox) -> Steps:
    """Count what one page of ``read`` shows; what is longer, bash counts."""
    name = _path(request)
    commands = {"lines": f"awk 'END {{ print NR }}' < {name}", "words": f"wc -w < {name}"}
    command = " && ".join(commands.get(unit, f"LC_ALL=C.UTF-8 wc -m < {name}") for unit in request.units)
    page = yield from _page(request, tools)
    if page is None or page.next_line is not None:
        numbers = map(
            int, _text((yield _first_of(tools.call("bash", command=command), needs="`read` or `bash`"))).split()
        )
        counted = dict(zip(request.units, numbers, strict=True))
    else:
        text = page.text
        counted = {"lines": _count_lines(text), "words": len(text.split()), "characters": len(text)}
    return f"{request.path} has {joined([_number(counted[unit], unit.removesuffix('s')) for unit in request.units])}."


def _run(request: Request, tools: Toolbox) -> Steps:
    reply = yield _first_of(tools.call("bash", command=request.text), needs="`bash`")
    code = re.search(r"(?:\n\n)?Command exited with code (\d+)\s*\Z", reply.text) if reply.is_error else None
    if reply.is_error and code is None:
        raise Failed(reply.text)
    output = reply.text[: code.start()] if code is not None else reply.text
    heading = f"`{request.text}` failed with exit code {code[1]}" if code is not None else f"`{request.text}` ran"
    if output.strip() in ("", "(no output)"):
        return f"{heading} and printed nothing."
    return f"{heading}; its output:\n{fence(output)}"


def _write(request: Request, tools: Toolbox) -> Steps:
    folder = posixpath.dirname(request.path or "")
    make = f"mkdir -p {quote(folder)} && " if folder.strip("/") else ""
    command = tools.call("bash", command=f"{make}printf %s {quote(request.text)} > {quote(request.path or '')}")
    call = tools.call("write", path=request.path, content=request.text)
    _text((yield _first_of(call, command, needs="`write` or `bash`")))
    lines, characters = _number(_count_lines(request.text), "line"), _number(len(request.text), "character")
    return f"Wrote {request.path} ({lines}, {characters})."


def _replace(request: Request, tools: Toolbox) -> Steps:
    edits = [{"oldText": request.text, "newText": request.new}]
    reply = yield _first_of(tools.call("edit", path=request.path, edits=edits), needs="`edit`")
    several = re.match(r"Found \d+ occurrences", reply.text) if reply.is_error else None
    page = (yield from _page(request, tools)) if several else None
    if page is None or page.next_line is not None or "\N{REPLACEMENT CHARACTER}" in page.text:  # a loss if rewritten
        _text(reply)
        return f"Replaced 1 occurrence: {str(request).removeprefix('replace ')}."
    content = page.text.replace(request.text, request.new)
    _text((yield _first_of(tools.call("write", path=request.path, content=content), needs="`write`")))
    times = _number(page.text.count(request.text), "occurrence")
    return f"Replaced {times}: {str(request).removeprefix('replace ')}."


def _unknown(_request: Request, _tools: Toolbox) -> Steps:
    yield from ()
    return ""


_DOERS = {
    "list": _list,
    "count files": _count_files,
    "find": _find,
    "search": _search,
    "read": _read,
    "count": _count,
    "run": _run,
    "write": _write,
    "replace": _replace,
    "unknown": _unknown,
}


def _given(request: Request) -> str | None:
    """Return the folder as an argument; the tools take the working directory when there is none."""
    return None if request.path == "." else request.path


def _path(request: Request) -> str:
    path = request.path or "."
    return quote(f"./{path}" if path.startswith("-") else path)


def _count_lines(text: str) -> int:
    return text.count("\n") + (1 if text and not text.endswith("\n") else 0)


def _number(count: int, noun: str) -> str:
    plural = {"entry": "entries", "match": "matches"}.get(noun, f"{noun}s")
    return f"{count} {noun if count == 1 else plural}"


def _lines_of(heading: str, text: str, rest: str) -> str:
    return "\n".join(part for part in (heading, fence(text), rest) if part)


def joined(parts: Sequence[str]) -> str:
    """Return ``a``, ``a and b`` or ``a, b and c``."""
    return " and ".join(part for part in (", ".join(parts[:-1]), *parts[-1:]) if part)


def fence(text: str) -> str:
    """Return a text as a Markdown code block, whatever backticks it holds."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    bar = "`" * (longest + 1)
    return f"{bar}\n{text.removesuffix(chr(10))}\n{bar}"
