"""The tool ``grep``: ripgrep's matches as lines of text, up to the requested limit."""

from __future__ import annotations

import os
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from pi_hookspecs.errors import PiError
from pi_hookspecs.tools import Tool, ToolAnnotations, ToolResult
from pi_tools.failure import ToolFailure
from pi_tools.paths import resolve
from pi_tools.text import as_count, clean
from pi_tools.threads import check
from pi_tools.workspace import StartPolicy, file_operations

if TYPE_CHECKING:
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
        "glob": {"type": "string", "description": "Search only files of this form, as *.py or src/**/*.ts"},
        "ignoreCase": {"type": "boolean", "description": "Take capitals and small letters for the same"},
        "literal": {"type": "boolean", "description": "Take the pattern as plain text"},
        "context": {"type": "number", "description": "Lines to show before and after each match; 0 without it"},
        "limit": {"type": "number", "description": "Most matches to show; 100 without it"},
    },
    "required": ["pattern"],
}
_LIMIT = 100
_MOST_CONTEXT = 1_000_000


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
    path = resolve(params.get("path") or ".", cwd)
    try:
        directory = await operations.is_directory(path)
    except OSError:
        raise ToolFailure(f"Path not found: {clean(path)}") from None
    if not directory and redirected is None:
        _require_file(path)
    limit = max(as_count(params.get("limit"), _LIMIT), 1)
    context = min(max(as_count(params.get("context"), 0), 0), _MOST_CONTEXT)
    matches = Matches(path if directory else None, limit, context)
    failure = await _search(operations, _arguments(params, path, context), cwd, signal, matches)
    check(signal)
    if failure is not None and not matches.count:
        raise failure
    return _result(matches)


def _require_file(path: str) -> None:
    from pi_tools.local_files import kind_of

    try:
        kind = kind_of(os.stat(path).st_mode)
    except OSError:
        return  # it was deleted meanwhile: ripgrep reports that
    if kind is not None:
        raise ToolFailure(f"Cannot search '{clean(path)}': it is {kind}. Search a file or a directory.")


def _arguments(params: dict[str, Any], path: str, context: int) -> list[str]:
    pattern = clean(params["pattern"])
    if "\0" in pattern + (params.get("glob") or ""):
        raise ToolFailure(r"Invalid pattern: it contains a NUL character. Search for \x00 instead.")
    arguments = ["--no-config", "--json", "--line-number", "--color=never", "--hidden"]
    if params.get("ignoreCase"):
        arguments.append("--ignore-case")
    if params.get("literal"):
        arguments.append("--fixed-strings")
    if params.get("glob"):
        arguments += ["--glob", clean(params["glob"])]
    if context:
        arguments += ["--context", str(context)]
    return [*arguments, "--regexp", pattern, "--", path]


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


def _result(matches: Matches) -> ToolResult:
    from pi_tools.truncate import GREP_MAX_LINE_LENGTH, MAX_BYTES, format_size, truncate_head

    lines = matches.lines()
    if not lines:
        return ToolResult.text("No matches found")
    record = truncate_head("\n".join(lines), max_lines=len(lines))
    details: dict[str, Any] = {}
    notices = []
    if matches.count >= matches.limit:
        details["matchLimitReached"] = matches.limit
        more = matches.limit * 2
        notices.append(f"{matches.limit} matches limit reached. Use limit={more} for more, or refine pattern")
    if record["truncated"]:
        details["truncation"] = record
        notices.append(f"{format_size(MAX_BYTES)} limit reached")
    if matches.cut:
        details["linesTruncated"] = True
        notices.append(f"Some lines truncated to {GREP_MAX_LINE_LENGTH} chars. Use read tool to see full lines")
    text = record["content"] + (f"\n\n[{'. '.join(notices)}]" if notices else "")
    return ToolResult.text(text, details=details or None)
