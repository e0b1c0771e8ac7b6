"""The command ``render`` of the web page: texts of the session as safe HTML, made where the renderer is.

The page gets the conversation as it is stored, and asks for what comes into view, so a long session costs nothing that
nobody looks at.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from pi_core import dumps, from_wire
from pi_hookspecs import PiError, ToolCall, ToolResultMessage

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["render_texts", "rendering_of"]

_PREFIX = b'{"type":"render",'
_MOST = 200
"""Texts of one command."""


def rendering_of(line: bytes | None) -> dict[str, Any] | None:
    """Return the command if a line is one, written as the page writes it; None for any other line."""
    if line is None or not line.startswith(_PREFIX):
        return None
    try:
        asked = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return asked if isinstance(asked, dict) and isinstance(asked.get("texts"), list) else None


async def render_texts(asked: dict[str, Any], respond: Callable[[bytes], None]) -> None:
    """Render texts in a thread, and respond with a list of HTML.

    A text is ``{"kind": "markdown" | "output", "text": ...}``; a call of a tool is ``{"kind": "call", "call": ...,
    "result": ..., "running": ...}``, with both as they are on the wire. What is neither becomes an empty text.
    """
    texts = [each for each in asked["texts"][:_MOST] if isinstance(each, dict)]
    html = await asyncio.to_thread(lambda: [_rendered(each) for each in texts])
    answer = {"type": "response", "command": "render", "success": True, "data": {"html": html}}
    respond(dumps(answer | ({"id": asked["id"]} if "id" in asked else {})))


def _rendered(item: dict[str, Any]) -> str:
    from pi_html_kit.markdown import markdown
    from pi_html_kit.terminal import terminal_text

    if item.get("kind") == "call":
        return _call(item)
    text = item.get("text")
    if not isinstance(text, str):
        return ""
    return terminal_text(text) if item.get("kind") == "output" else markdown(text)


def _call(item: dict[str, Any]) -> str:
    from pi_html_kit.tools import tool_fold

    try:
        call = from_wire({"type": "toolCall", "arguments": {}, **item["call"]}, ToolCall)
        result = item.get("result")
        told = (
            None
            if result is None
            else from_wire({"toolCallId": call.id, "toolName": call.name, **result}, ToolResultMessage)
        )
        return tool_fold(call, told, is_running=item.get("running") is True)
    except (PiError, KeyError, TypeError, ValueError):  # not what a tool's call looks like
        return ""
