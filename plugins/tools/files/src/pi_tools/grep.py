"""The tool ``grep``: ripgrep's matches as lines of text, up to the requested limit."""

from __future__ import annotations

import os
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from pi_hookspecs.errors import PiError
from pi_hookspecs.tools import Tool, ToolAnnotations, ToolResult
from pi_tools.failure import ToolFailure
from pi_tools.paths import locate
from pi_tools.text import as_count, clean, show_name
from pi_tools.threads import check, look
from pi_tools.workspace import StartPolicy, file_operations

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs.abort import AbortSignal
    from pi_hookspecs.tool_context import ToolContext
    from pi_hookspecs.tools import ToolUpdate
    from pi_tools.options import GrepOperations, GrepOptions
    from pi_tools.searching.matches import Matches

__all__ = ["grep_tool"]

_PARAMETERS = {
    "type": "object",
    "properties": {
        "pattern": {"type": "string", "description": "Regular expression, or a plain text with literal"},
        "path": {"type": "string", "description": "File or directory; the working directory without it"},
        "glob": {
            "type": "string",
            "description": "Search only files of this form: *.py at any depth, src/**/*.ts from path on",
        },
        "ignoreCase": {"type": "boolean", "description": "Take capitals and small letters for the same"},
        "literal": {"type": "boolean", "description": "Take the pattern as plain text"},
        "context": {"type": "number", "description": "Lines to show before and after each match; 0 without it"},
        "limit": {"type": "number", "description": "Most matches to show; 100 without it"},
    },
    "required": ["pattern"],
}
_LIMIT = 100
_MOST_CONTEXT = 1_000_000
_MOST_BINARY = 3
"""Files whose matches after a NUL are named."""
_MOST_COUNTED = 1 << 26
"""Bytes in which lines are counted for a notice."""


def grep_tool(cwd: str | None = None, options: GrepOptions | None = None) -> Tool:
    """Return the tool; without ``cwd`` it works where the session does."""

    async def execute(
        _call_id: str, params: dict[str, Any], signal: AbortSignal, _on_update: ToolUpdate, ctx: ToolContext
    ) -> ToolResult:
        check(signal)
        where = cwd or str(ctx.cwd)
        redirected = file_operations(ctx, options)
        return await _grep(redirected, params, where, signal, StartPolicy(ctx, "search"))

    return Tool(
        name="grep",
        description=(
            "Search the contents of files with a regular expression; lines come as path:line: text. "
            "What .gitignore excludes is not searched, hidden files are. "
            "At most 100 matches or 50KB, whichever is reached first; long lines are cut at 500 characters."
        ),
        parameters=_PARAMETERS,
        execute=execute,
        annotations=ToolAnnotations(read_only=True, open_world=False),
        prompt_snippet="Search file contents, .gitignore respected",
        default_active=False,
    )


async def _grep(
    redirected: GrepOperations | None, params: dict[str, Any], cwd: str, signal: AbortSignal, policy: StartPolicy
) -> ToolResult:
    from pi_tools.searching.matches import Matches
    from pi_tools.searching.ripgrep import LocalGrepOperations

    operations = redirected or LocalGrepOperations(policy)
    path = await locate(params.get("path") or ".", cwd, None if redirected is None else redirected.is_directory)
    try:
        directory = await operations.is_directory(path)
    except OSError:
        raise ToolFailure(f"Path not found: {clean(path)}") from None
    if not directory and redirected is None:
        _require_file(path)
    limit = max(as_count(params.get("limit"), _LIMIT), 1)
    context = min(max(as_count(params.get("context"), 0), 0), _MOST_CONTEXT)
    query = _Query(params, path, limit, context, directory=directory)
    matches = Matches(path if directory else None, limit, context, query.wanted)
    where = path if directory else os.path.dirname(path)
    failure = await _search(operations, query.arguments, where, signal, matches)
    check(signal)
    if failure is not None and not matches.count:
        raise failure
    notices = await look(signal, _binary_notices, matches, path if redirected is None else None)
    return _result(matches, notices)


def _require_file(path: str) -> None:
    from pi_tools.local_files import kind_of

    try:
        kind = kind_of(os.stat(path).st_mode)
    except OSError:
        return  # it was deleted meanwhile: ripgrep reports that
    if kind is not None:
        raise ToolFailure(f"Cannot search '{clean(path)}': it is {kind}. Search a file or a directory.")


class _Query:
    """A search as arguments of ripgrep, and which of the files that it reports are wanted.

    A glob makes ripgrep search ignored files too. So it gets the glob's last part as a type of files, and its first
    folders as what to leave out, neither of which does that, and the whole glob is compared here.
    """

    def __init__(self, params: dict[str, Any], path: str, limit: int, context: int, *, directory: bool) -> None:
        pattern, glob = clean(params["pattern"]), clean(params.get("glob") or "")
        if "\0" in pattern + glob:
            raise ToolFailure(r"Invalid pattern: it contains a NUL character. Search for \x00 instead.")
        self.wanted: Callable[[str], bool] | None = None
        options = ["--no-config", "--json", "--line-number", "--color=never", "--hidden", "--crlf"]
        options.append(f"--max-count={min(limit, _MOST_CONTEXT) + 1}")
        if params.get("ignoreCase"):
            options.append("--ignore-case")
        if params.get("literal"):
            options.append("--fixed-strings")
        if context:
            options += ["--context", str(context)]
        if directory:
            options.append("--binary")  # to learn of matches after a NUL, before which ripgrep stops without a word
        if glob:
            options += self._restrict(glob, path if directory else os.path.dirname(path))
        if directory:
            options.append("--glob=!.git")
        self.arguments = [*options, "--regexp", pattern, "--", path]

    def _restrict(self, glob: str, root: str) -> list[str]:
        from pi_tools.searching.globs import parse

        parsed = parse(glob.removeprefix("!"), root)
        if glob.startswith("!"):
            return [f"--glob=!{'/' if parsed.anchored else ''}{parsed.text}{'/' if parsed.folders_only else ''}"]
        if parsed.folders_only:  # a folder stands for what is in it
            parsed = parse(f"{'/' if parsed.anchored else '**/'}{parsed.text}/**", root)
        self.wanted = parsed.matches
        return [*_type_of(parsed.text), *(_only_below(parsed.text) if parsed.anchored else ())]


_PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."


def _type_of(glob: str) -> list[str]:
    """Return options that leave out files whose name cannot match the glob."""
    last = glob.rpartition("/")[2]
    bytewise = not last.isascii() or "?" in last or "[" in last  # to ripgrep, "é" is two characters
    if bytewise or "\\" in glob or ("{" in glob and "/" in glob) or not last.strip("*") or last.startswith("include:"):
        return []
    return [f"--type-add=pi:{last}", "--type=pi"]


def _only_below(glob: str) -> list[str]:
    """Return options that leave out all folders but those with which the glob begins.

    Options that name what to search would switch ignore files off, so they name everything else: what differs from the
    folder's name in one of its characters, is longer or shorter.
    """
    options, above = [], "/"
    for part in glob.split("/")[:-1]:
        if part.strip(_PLAIN):
            break
        heads = [part[:index] for index in range(len(part))]
        others = [f"{head}[!{char}]*" for head, char in zip(heads, part, strict=True)]
        options += [f"--glob=!{above}{other}" for other in (*others, *heads[1:], f"{part}?*")]
        above += f"{part}/"
    return options


async def _search(
    operations: GrepOperations, arguments: list[str], cwd: str, signal: AbortSignal, matches: Matches
) -> PiError | None:
    rest: list[bytes] = []
    try:
        async with aclosing(operations.search(arguments, cwd, signal)) as chunks:
            async for chunk in chunks:
                head, newline, tail = chunk.rpartition(b"\n")
                if not newline:
                    rest.append(chunk)
                    continue
                lines = b"".join((*rest, head)).split(b"\n")
                rest = [tail]
                if not matches.take(lines):
                    return None
    except PiError as failure:
        return failure
    finally:
        matches.end()
    return None


def _binary_notices(matches: Matches, root: str | None) -> list[str]:
    """Return what was not searched because of a NUL.

    Args:
        matches: The finished search.
        root: The folder searched, if it is on this machine: only there the line can be counted.
    """
    found = sorted(matches.binary, key=lambda binary: binary.name)
    notices = []
    for binary in found[:_MOST_BINARY]:
        line = None if root is None else _line_at(os.path.join(root, binary.path), binary.offset)
        place = f"byte {binary.offset + 1}" if line is None else f"line {line}"
        notices.append(f"{show_name(binary.name)}: searched only up to a NUL in {place}, and it has matches after it")
    if len(found) > _MOST_BINARY:
        notices.append(f"{len(found) - _MOST_BINARY} more files with a NUL have matches after it")
    if notices:
        notices.append("To search such a file whole, give it as path")
    return notices


def _line_at(path: str, offset: int) -> int | None:
    """Return the number of the line with a byte; None if it is far away or cannot be read."""
    if offset > _MOST_COUNTED:
        return None
    from pi_tools.local_files import open_regular

    try:
        file, _ = open_regular(path)
        with file:
            return (file.read(offset) or b"").count(b"\n") + 1
    except (OSError, ToolFailure):
        return None


def _result(matches: Matches, more_notices: list[str]) -> ToolResult:
    from pi_tools.truncate import GREP_MAX_LINE_LENGTH, MAX_BYTES, format_size, truncate_head

    lines = matches.lines()
    if not lines and not more_notices:
        return ToolResult.text("No matches found")
    record = truncate_head("\n".join(lines) or "No matches found", max_lines=max(len(lines), 1))
    details: dict[str, Any] = {}
    notices = []
    if matches.more:
        details["matchLimitReached"] = matches.limit
        more = matches.limit * 2
        notices.append(f"{matches.limit} matches limit reached. Use limit={more} for more, or refine pattern")
    if record["truncated"]:
        details["truncation"] = record
        notices.append(f"{format_size(MAX_BYTES)} limit reached")
    if matches.cut:
        details["linesTruncated"] = True
        notices.append(f"Some lines truncated to {GREP_MAX_LINE_LENGTH} chars. Use read tool to see full lines")
    # The notice about limits is the last, alone: front ends replace it by one for the user.
    text = record["content"] + "".join(f"\n\n[{'. '.join(each)}]" for each in (more_notices, notices) if each)
    return ToolResult.text(text, details=details or None)
