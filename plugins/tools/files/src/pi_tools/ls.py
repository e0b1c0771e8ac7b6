"""The tool ``ls``: one entry per line, in alphabetical order."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from pi_hookspecs.tools import Tool, ToolAnnotations, ToolResult
from pi_tools.failure import ToolFailure
from pi_tools.paths import locate
from pi_tools.text import as_count, clean, show_names
from pi_tools.threads import check, look
from pi_tools.workspace import file_operations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs.abort import AbortSignal
    from pi_hookspecs.tool_context import ToolContext
    from pi_hookspecs.tools import ToolUpdate
    from pi_tools.options import LsOptions

__all__ = ["ls_tool"]

_PARAMETERS = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "The directory; the working directory without it"},
        "limit": {"type": "number", "description": "Most entries to list; 500 without it"},
    },
}
_LIMIT = 500


def ls_tool(cwd: str | None = None, options: LsOptions | None = None) -> Tool:
    """Return the tool; without ``cwd`` it works where the session does."""

    async def execute(
        _call_id: str, params: dict[str, Any], signal: AbortSignal, _on_update: ToolUpdate, ctx: ToolContext
    ) -> ToolResult:
        check(signal)
        limit = max(as_count(params.get("limit"), _LIMIT), 1)
        operations = file_operations(ctx, options)
        path = await locate(params.get("path") or ".", cwd or str(ctx.cwd), operations and operations.is_directory)
        if operations is not None:
            entries = await _fetch(operations, path)
            return await look(signal, _show, entries, limit)
        return await look(signal, _list, path, limit)

    return Tool(
        name="ls",
        description=(
            "List a directory: sorted by name, dotfiles included, directories with a final '/'. "
            "At most 500 entries or 50KB, whichever is reached first."
        ),
        parameters=_PARAMETERS,
        execute=execute,
        annotations=ToolAnnotations(read_only=True, open_world=False),
        prompt_snippet="List directories",
        default_active=False,
    )


async def _fetch(operations: Any, path: str) -> Sequence[tuple[str, bool]]:
    try:
        is_directory = await operations.is_directory(path)
    except OSError:
        raise ToolFailure(f"Path not found: {clean(path)}") from None
    if not is_directory:
        raise ToolFailure(f"Not a directory: {clean(path)}")
    try:
        entries: Sequence[tuple[str, bool]] = await operations.entries(path)
    except OSError as error:
        raise _unreadable(error, path) from error
    return entries


def _unreadable(error: OSError, path: str) -> ToolFailure:
    from pi_tools.failure import system_failure

    return ToolFailure(f"Cannot read directory: {system_failure(error, 'scandir', clean(path))}")


def _list(path: str, limit: int) -> ToolResult:
    if not os.path.exists(path):
        raise ToolFailure(f"Path not found: {clean(path)}")
    if not os.path.isdir(path):
        raise ToolFailure(f"Not a directory: {clean(path)}")
    try:
        with os.scandir(path) as found:
            entries = [(entry.name, kind) for entry in found if (kind := _kind(entry)) is not None]
    except OSError as error:
        raise _unreadable(error, path) from error
    return _show(entries, limit)


def _kind(entry: os.DirEntry[str]) -> bool | None:
    """Return whether it is a directory, or a link to one; None if it cannot be examined."""
    try:
        if entry.is_dir():
            return True
        return False if not entry.is_symlink() or os.path.exists(entry.path) else None
    except OSError:
        return None


def _show(entries: Sequence[tuple[str, bool]], limit: int) -> ToolResult:
    from pi_tools.collate import in_order
    from pi_tools.truncate import MAX_BYTES, format_size, truncate_head

    names = in_order(entries)
    if not names:
        return ToolResult.text("(empty directory)")
    details: dict[str, Any] = {}
    notices = []
    if len(names) > limit:
        details["entryLimitReached"] = limit
        notices.append(f"{limit} entries limit reached. Use limit={limit * 2} for more")
    text = show_names([f"{name}/" if is_directory else name for name, is_directory in names[:limit]])
    record = truncate_head(text, max_lines=max(len(names), 1))
    if record["truncated"]:
        details["truncation"] = record
        notices.append(f"{format_size(MAX_BYTES)} limit reached")
    shown = record["content"] + (f"\n\n[{'. '.join(notices)}]" if notices else "")
    return ToolResult.text(shown, details=details or None)
