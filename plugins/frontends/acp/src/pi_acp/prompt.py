"""Converts content blocks to a prompt, and messages to content blocks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_acp.peer import INVALID_PARAMS, RpcError
from pi_hookspecs import ImageContent, TextContent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["blocks_of", "read_prompt"]

_FENCE = 3
"""Minimum number of backticks in a fence."""

_OPENING, _CLOSING = frozenset("([{<\"'`"), frozenset(")]}>\"'`.,;:!?")
"""Characters that belong to what follows them, and to what is before them."""


def read_prompt(blocks: Any, cwd: Path) -> tuple[str, tuple[ImageContent, ...]]:
    """Return the text and the images of a prompt.

    Embedded files follow the text, fenced and with their URI; a link to a file becomes ``@path``.

    Raises:
        RpcError: The blocks are not a list of blocks, or one has a kind that was not offered.
    """
    if not isinstance(blocks, list) or not all(isinstance(each, dict) for each in blocks):
        raise RpcError(INVALID_PARAMS, "Invalid params: 'prompt' must be a list of content blocks")
    parts: list[tuple[str, bool]] = []
    files: list[str] = []
    images: list[ImageContent] = []
    for block in blocks:
        kind = block.get("type")
        if kind == "text":
            parts.append((str(block.get("text", "")), False))
        elif kind == "image":
            images.append(ImageContent(str(block.get("data", "")), str(block.get("mimeType", "image/png"))))
        elif kind == "resource_link":
            parts.append((_link(block, cwd), True))
        elif kind == "resource":
            _embed(block.get("resource") or {}, files, images)
        else:
            raise RpcError(INVALID_PARAMS, f"Invalid params: content blocks of type {kind!r} are not supported")
    return "\n\n".join(filter(None, [_joined(parts), *files])), tuple(images)


def _joined(parts: Iterable[tuple[str, bool]]) -> str:
    """Return texts and links as one text, with a space where a link would touch a word.

    Args:
        parts: Each with whether it is a link.
    """
    text, after_link = "", False
    for part, is_link in parts:
        touches = text[-1:].strip() and text[-1:] not in _OPENING and part[:1].strip() and part[:1] not in _CLOSING
        text += f" {part}" if touches and (is_link or after_link) else part
        after_link = is_link if part else after_link
    return text


def blocks_of(content: str | Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Yield the content blocks of a message's texts and images."""
    for each in [TextContent(content)] if isinstance(content, str) else content:
        if isinstance(each, TextContent):
            if each.text:
                yield {"type": "text", "text": each.text}
        elif isinstance(each, ImageContent):
            yield {"type": "image", "data": each.data, "mimeType": each.mime_type}


def _link(block: dict[str, Any], cwd: Path) -> str:
    from urllib.parse import unquote, urlsplit

    uri = str(block.get("uri", ""))
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return f"[{block.get('name') or uri}]({uri})"
    path = Path(unquote(parts.path))
    return f"@{path.relative_to(cwd) if path.is_relative_to(cwd) else path}"


def _embed(resource: dict[str, Any], files: list[str], images: list[ImageContent]) -> None:
    uri, text = str(resource.get("uri", "")), resource.get("text")
    kind = str(resource.get("mimeType") or "")
    if isinstance(text, str):
        longest = max(map(len, re.findall("`+", text)), default=0)
        fence = "`" * max(_FENCE, longest + 1)
        files.append(f"{uri}\n{fence}\n{text}\n{fence}")
    elif kind.startswith("image/"):
        images.append(ImageContent(str(resource.get("blob", "")), kind))
    else:
        files.append(f"{uri} (its content, {kind or 'of an unknown type'}, is not text and was left out)")
