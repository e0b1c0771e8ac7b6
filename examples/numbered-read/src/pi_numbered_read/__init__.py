"""Numbers the lines that `read` returns, and adds `read_all`, which `/read-all` offers to the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import ToolAnnotations, ToolContext, ToolResult, UserError, hookimpl, tool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import PiAPI, PiContext, Tool

__all__ = ["activate", "register_tools"]

READS = ToolAnnotations(read_only=True, idempotent=True, open_world=False)
LINES = {
    "type": "object",
    "properties": {"first": {"type": "integer"}, "lines": {"type": "integer"}},
    "required": ["first", "lines"],
}


@tool(annotations=READS, output_schema=LINES)
async def read(path: str, ctx: ToolContext, offset: int = 1, limit: int | None = None) -> ToolResult:
    """Read a file; each line of a text begins with its number.

    Args:
        path: The file, relative to the working directory.
        offset: The first line, from 1.
        limit: How many lines.
    """
    overridden = ctx.overridden_tool("read")
    if overridden is None:
        raise UserError("numbered-read numbers the lines of another tool `read`, and there is none")
    arguments: dict[str, Any] = {"path": path, "offset": offset} | ({} if limit is None else {"limit": limit})
    result = await ctx.execute_tool(overridden.reference, arguments)
    if result.is_error or any(block.type != "text" for block in result.content):
        return result
    text = "".join(block.text for block in result.content if block.type == "text")
    lines = [f"{number:6}  {line}" for number, line in enumerate(text.splitlines(), offset)]
    return ToolResult.text("\n".join(lines), details={"first": offset, "lines": len(lines)})


@tool(annotations=READS, exposure="deferred")
async def read_all(paths: list[str], ctx: ToolContext) -> str:
    """Read several files at once.

    Args:
        paths: The files, relative to the working directory.
    """
    results = [await ctx.execute_tool("read", {"path": path}) for path in paths]
    texts = ["".join(block.text for block in each.content if block.type == "text") for each in results]
    return "\n\n".join(f"{path}:\n{text}" for path, text in zip(paths, texts, strict=True))


@hookimpl
def register_tools() -> Sequence[Tool]:
    """Add the tools."""
    return [read, read_all]


@hookimpl
def activate(pi: PiAPI) -> None:
    """Add the command."""

    @pi.register_command("read-all", description="Let the model read several files at once")
    def offer(args: str, ctx: PiContext) -> None:
        pi.set_active_tools([*pi.get_active_tools(), "read_all"])
        ctx.ui.notify("The model may use read_all from now on")
