"""How each kind of request is done: a generator that yields tool calls, gets their replies and returns a paragraph.

A generator keeps no state but its replies, so that running it again on the calls and results of a conversation brings
it to the same place. The tool made for the job comes first, bash second; a call that was refused is never tried
another way, except that a text which ``edit`` finds several times is replaced by writing the file as a whole.
"""

from __future__ import annotations

import json
import posixpath
import re
from shlex import quote
from typing import TYPE_CHECKING, TypeAlias

from pi_provider_offline.tools import Call, Failed, Reply, Toolbox, listing_of, page_of

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from pi_provider_offline.requests import Request

    Steps: TypeAlias = Generator[Call, Reply, str]


def steps(request: Request, tools: Toolbox) -> Steps:
    """Return the generator that does a request with the given tools."""
    if request.path is None:
        return 'I cannot tell which file you mean by "it": none was named before.'
    if request.kind == "unknown":
        return ""
    try:
        return (yield from _DOERS[request.kind](request, tools))
    except Failed as failure:
        why = str(failure).strip() or "no reason was given"
        if "\n" in why:
            return f"I could not {request}:\n{fence(why)}"
        return f"I could not {request}: {why if why.endswith(('.', '!', '?', ']', ')')) else why + '.'}"


# Folders


def _entries(request: Request, tools: Toolbox) -> Generator[Call, Reply, tuple[list[str], str]]:
    reply = yield tools.first(ls={"path": _given(request)}, bash={"command": f"ls -Ap {_path(request)}"})
    return listing_of(reply)


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
    reply = yield tools.first(find={"pattern": pattern, "path": _given(request)}, bash={"command": command})
    return _matches(request, pattern, f"No files match `{pattern}`", reply)


def _search(request: Request, tools: Toolbox) -> Steps:
    # the shell's grep answers 1 for no match, which is not a failure
    command = f"grep -rnIF --exclude-dir=.git -e {quote(request.text)} {_path(request)} || test $? -eq 1"
    given = {"pattern": request.text, "path": _given(request), "literal": True}
    reply = yield tools.first(grep=given, bash={"command": command})
    return _matches(request, request.text, f"No matches for `{request.text}`", reply)


def _matches(request: Request, text: str, none: str, reply: Reply) -> str:
    found, more = listing_of(reply)
    heading = f"{_number(len(found), 'match')} for `{text}` {request.place}:"
    return _lines_of(heading, "\n".join(found), more) if found else f"{none} {request.place}."


# Files


def _read(request: Request, tools: Toolbox) -> Steps:
    path, count = request.path, request.count
    if request.first < 0:
        call = tools.first(bash={"command": f"tail -n {count} {_path(request)}"})
    else:
        command = f"head -n {count} {_path(request)}" if count is not None else f"cat {_path(request)}"
        call = tools.first(read={"path": path, "limit": count}, bash={"command": command})
    page = page_of((yield call))
    text = page.text if count is None else "".join(page.text.splitlines(keepends=True)[:count])
    if text in ("", "(no output)"):
        return f"{path} is empty."
    goes_on = count is None and page.next_line is not None
    return _lines_of(_heading(request, text), text, f"The file continues at line {page.next_line}." if goes_on else "")


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
    counting = {"command": " && ".join(commands.get(unit, f"LC_ALL=C.UTF-8 wc -m < {name}") for unit in request.units)}
    call = tools.first(read={"path": request.path}, bash=counting)
    reply = yield call
    page = page_of(reply) if call.tool == "read" else None
    if page is not None and page.next_line is None:
        text = page.text
        counted = {"lines": _count_lines(text), "words": len(text.split()), "characters": len(text)}
    else:
        reply = reply if page is None else (yield tools.first(bash=counting))
        counted = dict(zip(request.units, map(int, reply.output().split()), strict=True))
    return f"{request.path} has {joined([_number(counted[unit], unit.removesuffix('s')) for unit in request.units])}."


def _run(request: Request, tools: Toolbox) -> Steps:
    reply = yield tools.first(bash={"command": request.text})
    code = re.search(r"(?:\n\n)?Command exited with code (\d+)\s*\Z", reply.text) if reply.is_error else None
    output = reply.text[: code.start()] if code is not None else reply.output()
    heading = f"`{request.text}` failed with exit code {code[1]}" if code is not None else f"`{request.text}` ran"
    if output.strip() in ("", "(no output)"):
        return f"{heading} and printed nothing."
    return f"{heading}; its output:\n{fence(output)}"


def _write(request: Request, tools: Toolbox) -> Steps:
    path, content = request.path or "", request.text
    folder = posixpath.dirname(path)
    make = f"mkdir -p {quote(folder)} && " if folder.strip("/") else ""
    command = f"{make}printf %s {quote(content)} > {quote(path)}"
    reply = yield tools.first(write={"path": path, "content": content}, bash={"command": command})
    reply.output()
    return f"Wrote {path} ({_number(_count_lines(content), 'line')}, {_number(len(content), 'character')})."


def _replace(request: Request, tools: Toolbox) -> Steps:
    edits = [{"oldText": request.text, "newText": request.new}]
    reply = yield tools.first(edit={"path": request.path, "edits": edits})
    several = re.match(r"Found \d+ occurrences", reply.text) if reply.is_error else None
    reading = tools.call("read", path=request.path) if several else None
    page = page_of((yield reading)) if reading is not None else None
    times = 1
    if page is not None and page.next_line is None and "\N{REPLACEMENT CHARACTER}" not in page.text:  # else a loss
        times, content = page.text.count(request.text), page.text.replace(request.text, request.new)
        reply = yield tools.first(write={"path": request.path, "content": content})
    reply.output()
    return f"Replaced {_number(times, 'occurrence')}: {str(request).removeprefix('replace ')}."


def _call(request: Request, tools: Toolbox) -> Steps:
    try:
        arguments = json.loads(request.text or "{}")
    except ValueError as error:
        raise Failed(f"its arguments are not JSON ({error})") from error
    reply = yield tools.named(request.new, arguments)
    return _lines_of(f"`{request.new}` answered:", reply.output(), "")


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
    "call": _call,
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
