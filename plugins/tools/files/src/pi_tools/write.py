"""The tool ``write``: creates or replaces a file atomically, with its parent folders."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from pi_hookspecs.tools import Tool, ToolAnnotations, ToolResult
from pi_tools.failure import system_failure
from pi_tools.mutation_queue import file_mutation_queue
from pi_tools.paths import locate, resolve
from pi_tools.text import clean, to_utf8
from pi_tools.threads import check, finish
from pi_tools.workspace import file_operations

if TYPE_CHECKING:
    from pi_hookspecs.abort import AbortSignal
    from pi_hookspecs.tool_context import ToolContext
    from pi_hookspecs.tools import ToolUpdate
    from pi_tools.options import WriteOperations, WriteOptions

__all__ = ["write_tool"]

_PARAMETERS = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "The file, relative to the working directory or absolute"},
        "content": {"type": "string", "description": "What the file is to hold"},
    },
    "required": ["path", "content"],
}


def write_tool(cwd: str | None = None, options: WriteOptions | None = None) -> Tool:
    """Return the tool; without ``cwd`` it works where the session does."""

    async def execute(
        _call_id: str, params: dict[str, Any], signal: AbortSignal, _on_update: ToolUpdate, ctx: ToolContext
    ) -> ToolResult:
        check(signal)
        path = params["path"]
        content = to_utf8(params["content"])
        operations: WriteOperations | None = file_operations(ctx, options)
        where = cwd or str(ctx.cwd)
        here = operations is None
        absolute = await locate(path, where) if here else resolve(path, where)
        if operations is None:
            from pi_tools.local_files import LocalWriteOperations

            operations = LocalWriteOperations()
        async with file_mutation_queue(absolute):
            check(signal)
            if here:
                content = await finish(_kept, absolute, content, clean(path))
            await _write(operations, absolute, content)
        return ToolResult.text(f"Successfully wrote {len(content)} bytes to {clean(path)}")

    return Tool(
        name="write",
        description=(
            "Write a file: it is created if it is missing, with its parent directories, and replaced if it is there."
        ),
        parameters=_PARAMETERS,
        execute=execute,
        annotations=ToolAnnotations(read_only=False, destructive=True, idempotent=True, open_world=False),
        prompt_snippet="Create files or replace them whole",
        constrained_sampling="prefer",
        prompt_guidelines=("Use write for new files and complete rewrites only; change existing files with edit.",),
    )


def _kept(path: str, content: bytes, shown: str) -> bytes:
    from pi_tools.editing.encoding import replacement

    return replacement(path, content, shown)


async def _write(operations: WriteOperations, path: str, content: bytes) -> None:
    parent = os.path.dirname(path)
    try:
        await operations.mkdir(parent)
    except OSError as error:
        raise system_failure(error, "mkdir", clean(parent)) from error
    try:
        await operations.write_file(path, content)
    except OSError as error:
        raise system_failure(error, "open", clean(path)) from error
