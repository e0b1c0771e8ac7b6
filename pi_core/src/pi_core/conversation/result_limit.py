"""Limits what a tool's result puts into the conversation; the whole text is kept in a file.

The tools of pi limit their own output. A plugin's tool that returns fifty megabytes would fill the session file, every
later request and the model's context window, and no compaction could repair that.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from typing import TYPE_CHECKING

from attrs import evolve

from pi_hookspecs import ImageContent, TextContent

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs import ToolResult

__all__ = ["MOST_CHARACTERS", "limited"]

MOST_CHARACTERS = 256 * 1024
"""Characters of text in one result, about 64,000 tokens."""

_MEGA = 1024 * 1024


async def limited(result: ToolResult, tool: str, owner: Callable[[], str | None]) -> ToolResult:
    """Return a result whose text fits; the result itself if it does.

    Args:
        result: What the tool returned.
        tool: The tool's name.
        owner: Returns the tool's plugin; None for a tool of the program.
    """
    texts = [each.text for each in result.content if isinstance(each, TextContent)]
    size = sum(map(len, texts))
    if size <= MOST_CHARACTERS:
        return result
    try:
        place = f"Full output: {await asyncio.to_thread(_kept, texts)}"
    except OSError as error:
        place = f"The full output could not be kept: {error}"
    plugin = owner()
    of_plugin = f" of plugin {plugin!r}" if plugin is not None else ""
    note = (
        f"[Tool {tool}{of_plugin} returned {size / _MEGA:.1f}M characters; "
        f"only the first {MOST_CHARACTERS // 1024}K are shown. {place}]"
    )
    content: list[TextContent | ImageContent] = []
    left = MOST_CHARACTERS
    for each in result.content:
        if not isinstance(each, TextContent):
            content.append(each)
        elif left:
            content.append(evolve(each, text=each.text[:left]))
            left -= min(left, len(each.text))
    return evolve(result, content=(*content, TextContent(note)))


def _kept(texts: list[str]) -> str:
    """Write texts to a new file that only the user can read, and return its path."""
    descriptor, path = tempfile.mkstemp(prefix="pi-result-", suffix=".txt")
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogatepass") as file:
        file.write("\n".join(texts))
    return path
