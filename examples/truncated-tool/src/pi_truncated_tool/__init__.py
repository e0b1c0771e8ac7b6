"""Adds a search whose output is truncated like that of pi's own tools; the result names a file with all output."""

import tempfile
from pathlib import Path

from pi_hookspecs import Tool, ToolContext, ToolResult, hookimpl, tool
from pi_tools import truncate_head


@tool(name="search_all")
async def search_all(pattern: str, ctx: ToolContext, path: str = ".") -> ToolResult:
    """Search files for a regular expression, hidden and ignored ones too; at most 2000 lines or 50KB are returned.

    Args:
        pattern: What to look for.
        path: Folder or file, relative to the working directory.
    """
    found = await ctx.exec("grep", ["-rnHE", "-e", pattern, "--", path], timeout=60)
    if found.code > 1:
        raise RuntimeError(f"grep failed: {found.stderr.strip()}")
    cut = truncate_head(found.stdout)
    if not cut["truncated"]:
        return ToolResult.text(found.stdout or "No matches")
    with tempfile.NamedTemporaryFile("w", prefix="pi-search-", suffix=".txt", delete=False, encoding="utf-8") as file:
        file.write(found.stdout)
    where = f"[{cut['outputLines']} of {cut['totalLines']} lines. All of them: {Path(file.name)}]"
    details = {"truncation": cut, "fullOutputPath": file.name}
    return ToolResult.text(f"{cut['content']}\n\n{where}", details=details)


@hookimpl
def register_tools() -> list[Tool]:
    return [search_all]
