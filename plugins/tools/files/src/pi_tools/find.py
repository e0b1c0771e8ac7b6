"""The tool ``find``: paths by glob pattern, as fd finds them, in a stable order."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Any

from pi_hookspecs.tools import Tool, ToolAnnotations, ToolResult
from pi_tools.failure import ToolFailure
from pi_tools.paths import locate
from pi_tools.text import as_count, clean, show_names
from pi_tools.threads import check, finish, look
from pi_tools.workspace import StartPolicy, file_operations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs.abort import AbortSignal
    from pi_hookspecs.tool_context import ToolContext
    from pi_hookspecs.tools import ToolUpdate
    from pi_tools.options import FindOperations, FindOptions

__all__ = ["LocalFindOperations", "find_tool"]

_PARAMETERS = {
    "type": "object",
    "properties": {
        "pattern": {
            "type": "string",
            "description": "Glob: *.py for names at any depth, src/**/*.ts from path on",
        },
        "path": {"type": "string", "description": "Directory to search; the working directory without it"},
        "limit": {"type": "number", "description": "Most results; 1000 without it"},
    },
    "required": ["pattern"],
}
_LIMIT = 1000


class LocalFindOperations:
    """``find`` on this machine.

    Args:
        start_policy: What plugins want done before git is asked for the user's ignore file; None for nothing.
    """

    def __init__(self, start_policy: StartPolicy | None = None) -> None:
        self._policy = start_policy or StartPolicy(None, "search")

    async def exists(self, path: str) -> bool:
        """Whether the path exists."""
        return await finish(os.path.exists, path)

    async def glob(self, pattern: str, path: str, limit: int, signal: AbortSignal) -> Sequence[str]:
        """Return the paths that match; see ``FindOperations``."""
        from pi_tools.searching.walk import find

        if not await finish(os.path.isdir, path):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        return await look(signal, find, pattern, path, limit, lambda: signal.aborted, self._policy.for_git())


def find_tool(cwd: str | None = None, options: FindOptions | None = None) -> Tool:
    """Return the tool; without ``cwd`` it works where the session does."""

    async def execute(
        _call_id: str, params: dict[str, Any], signal: AbortSignal, _on_update: ToolUpdate, ctx: ToolContext
    ) -> ToolResult:
        check(signal)
        given = params.get("path") or "."
        limit = max(as_count(params.get("limit"), _LIMIT), 1)
        redirected: FindOperations | None = file_operations(ctx, options)
        operations = redirected or LocalFindOperations(StartPolicy(ctx, "search"))
        path = await locate(given, cwd or str(ctx.cwd), None if redirected is None else redirected.exists)
        if not await operations.exists(path):
            raise ToolFailure(f"Path not found: {clean(path)}")
        try:
            found = await operations.glob(_below(clean(params["pattern"])), path, limit + 1, signal)
        except NotADirectoryError:
            raise ToolFailure(f"Not a directory: {clean(given)}") from None
        return _show(found, limit)

    return Tool(
        name="find",
        description=(
            "Find files and directories by a glob pattern; paths come relative to the directory searched. "
            "What .gitignore excludes is left out, hidden files are found. "
            "At most 1000 results or 50KB, whichever is reached first."
        ),
        parameters=_PARAMETERS,
        execute=execute,
        annotations=ToolAnnotations(read_only=True, open_world=False),
        prompt_snippet="Find files by name, .gitignore respected",
        default_active=False,
    )


def _below(pattern: str) -> str:
    """Return a pattern without ``./``, which some operations do not know."""
    while pattern.startswith("./"):
        pattern = pattern[2:]
    return pattern


def _show(found: Sequence[str], limit: int) -> ToolResult:
    from pi_tools.truncate import MAX_BYTES, format_size, truncate_head

    if not found:
        return ToolResult.text("No files found matching pattern")
    details: dict[str, Any] = {}
    notices = []
    if len(found) > limit:  # one more was asked for, to tell the limit from the end
        found = found[:limit]
        details["resultLimitReached"] = limit
        notices.append(f"{limit} results limit reached. Use limit={limit * 2} for more, or refine pattern")
    record = truncate_head(show_names(found), max_lines=len(found))
    if record["truncated"]:
        details["truncation"] = record
        notices.append(f"{format_size(MAX_BYTES)} limit reached")
    text = record["content"] + (f"\n\n[{'. '.join(notices)}]" if notices else "")
    return ToolResult.text(text, details=details or None)
