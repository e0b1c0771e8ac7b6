"""Wraps a server's tools as tools of pi, called through the connection, which is opened if needed."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from pi_core import one_line
from pi_hookspecs import ImageContent, TextContent, Tool, ToolAnnotations, ToolResult
from pi_mcp.foreign import marked
from pi_mcp.link import RequestFailed

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs import AbortSignal, ToolContext, ToolExposure
    from pi_mcp.entries import Server
    from pi_mcp.remote import Remote

__all__ = ["make_tool"]

_RELAXING = {"read_only": True, "destructive": False, "idempotent": True, "open_world": False}
"""Annotations that could relax a guard; a server that the user does not trust cannot set them."""


def make_tool(
    name: str, tool: dict[str, Any], remote: Remote, exposure: ToolExposure, is_offered: Callable[[], bool]
) -> Tool:
    """Return pi's tool for a server's tool.

    Args:
        name: Its name for the model.
        tool: Its description by the server.
        remote: The server.
        exposure: When the model is offered it.
        is_offered: Returns whether the server still has it.
    """
    server = remote.server

    async def execute(
        _call_id: str,
        params: dict[str, Any],
        _signal: AbortSignal,
        on_update: Callable[[ToolResult], None],
        ctx: ToolContext,
    ) -> ToolResult:
        if not is_offered():
            return ToolResult.text(f"The MCP server {server.name!r} no longer offers {tool['name']!r}.", is_error=True)
        about = tool.get("annotations") or {}
        async with AsyncExitStack() as stack:
            if not server.parallel and about.get("readOnlyHint") is not True:
                await stack.enter_async_context(remote.order)  # the locks of asyncio are fair: calls keep their order
            return await _call(remote, tool["name"], params, on_update, ctx)

    schema = dict(tool["inputSchema"])
    schema["type"] = "object"
    schema.setdefault("properties", {})
    return Tool(
        name=name,
        label=f"{server.name}/{one_line(tool['name'])}",
        description=tool.get("description") or (tool.get("annotations") or {}).get("title") or one_line(tool["name"]),
        parameters=schema,
        execute=execute,
        annotations=_annotations(server, tool),
        output_schema=tool.get("outputSchema"),
        exposure=exposure,
        namespace=server.name,
    )


def _annotations(server: Server, tool: dict[str, Any]) -> ToolAnnotations:
    given = tool.get("annotations") or {}
    hints = {
        "read_only": given.get("readOnlyHint"),
        "destructive": given.get("destructiveHint"),
        "idempotent": given.get("idempotentHint"),
        "open_world": given.get("openWorldHint"),
    }
    kept = {
        key: value
        for key, value in hints.items()
        if isinstance(value, bool) and (server.trust_annotations or value is not _RELAXING[key])
    }
    title = given.get("title") or tool.get("title")
    return ToolAnnotations(title=title if isinstance(title, str) else None, **kept)


async def _call(
    remote: Remote,
    tool: str,
    params: dict[str, Any],
    on_update: Callable[[ToolResult], None],
    ctx: ToolContext,
) -> ToolResult:
    details: dict[str, Any] = {"server": remote.server.name, "tool": tool, "transport": remote.server.transport}
    about: dict[str, Any] = {"tool": tool, "arguments": params, "meta": dict(await ctx.trace_context())}
    resize = ctx.settings.get("images.autoResize") is not False
    calling = asyncio.ensure_future(
        remote.request("call", ctx, **about, resize=resize, on_progress=lambda text: on_update(ToolResult.text(text)))
    )
    aborted = asyncio.ensure_future(ctx.signal.wait())
    try:
        await asyncio.wait({calling, aborted}, return_when=asyncio.FIRST_COMPLETED)
        if not calling.done():
            calling.cancel()  # cancels it at the server, too, whose answer is not awaited
            return ToolResult.text("Operation aborted", is_error=True, details=details)
        result = calling.result()
    except RequestFailed as error:
        tail = f"\nIt printed:\n{error.tail}" if error.tail else ""
        text = f"The call of {tool!r} of the MCP server {remote.server.name!r} failed: {error}{tail}"
        return ToolResult.text(ctx.secrets.redact(text), is_error=True, details=details)
    finally:
        aborted.cancel()
        calling.cancel()
    details["protocol"] = remote.about.get("protocol")
    texts = [each["text"] for each in result["content"] if each["type"] == "text"]
    content: tuple[TextContent | ImageContent, ...] = (
        TextContent(marked("\n".join(texts) or "(no text)", f"Result of the MCP server {remote.server.name!r}")),
        *(
            ImageContent(data=each["data"], mime_type=each["mimeType"])
            for each in result["content"]
            if each["type"] == "image"
        ),
    )
    return ToolResult(content=content, details={**details, **result["details"]}, is_error=result["isError"])
