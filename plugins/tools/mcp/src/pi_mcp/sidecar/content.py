"""Converts a tool's result to text and images for the model, within limits; the rest is saved to files."""

from __future__ import annotations

import json
import mimetypes
import os
import re
import tempfile
from typing import Any

from pi_core import decode_base64, fit_image

__all__ = ["as_result", "cut", "printable", "resource_text"]

TEXT_LIMIT = 20_000
"""Maximum characters of a result that the model receives."""
STRUCTURED_LIMIT = 64 << 10
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def printable(text: str) -> str:
    """Return a text with control characters escaped and lone surrogates replaced."""
    text = text.replace("\r\n", "\n").encode("utf-8", "replace").decode("utf-8")
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def as_result(result: dict[str, Any], *, resize: bool = True) -> dict[str, Any]:
    """Convert a ``CallToolResult`` from the wire to ``content``, ``isError`` and ``details``.

    Args:
        result: The result.
        resize: Whether to shrink large images. One that cannot be made to fit is saved.
    """
    texts: list[str] = []
    images: list[dict[str, str]] = []
    details: dict[str, Any] = {}
    for block in result.get("content") or ():
        _add(block, texts, images, details, resize=resize)
    structured = result.get("structuredContent")
    if structured is not None:
        if not texts and not images:
            texts.append(json.dumps(structured, ensure_ascii=False, indent=2))
        if len(json.dumps(structured)) <= STRUCTURED_LIMIT:
            details["structured"] = structured
    text, path = cut(printable("\n".join(texts)))
    if path:
        details["path"] = path
    content: list[dict[str, str]] = [{"type": "text", "text": text}] if text or not images else []
    return {"content": content + images, "isError": bool(result.get("isError")), "details": details}


def _add(
    block: dict[str, Any], texts: list[str], images: list[dict[str, str]], details: dict[str, Any], *, resize: bool
) -> None:
    kind = block.get("type")
    if kind == "image":
        picture = fit_image(block.get("data", ""), resize=resize)
        if not picture.omitted:
            images.append({"type": "image", "data": picture.data, "mimeType": picture.mime_type})
            texts.extend(picture.notes)
            return
    if kind == "text":
        texts.append(block.get("text", ""))
    elif kind in ("image", "audio"):
        path = _save(block.get("data", ""), block.get("mimeType", ""))
        details["path"] = path
        texts.append(f"[{kind} {block.get('mimeType', '')}, saved to {path}]")
    elif kind == "resource":
        texts.append(resource_text(block.get("resource") or {}))
    elif kind == "resource_link":
        about = f": {block['description']}" if block.get("description") else ""
        texts.append(f"[resource {block.get('uri')} ({block.get('name', '')}){about}; read_mcp_resource reads it]")
    else:
        texts.append(f"[content of the unknown type {kind!r}]")


def resource_text(resource: dict[str, Any]) -> str:
    """Return the text of a resource, or where its bytes were saved."""
    if "text" in resource:
        return str(resource["text"])
    path = _save(resource.get("blob", ""), resource.get("mimeType") or "")
    return f"[{resource.get('mimeType') or 'bytes'} of {resource.get('uri')}, saved to {path}]"


def cut(text: str) -> tuple[str, str | None]:
    """Return a text within the limit, and the file with the whole text if it was cut."""
    if len(text) <= TEXT_LIMIT:
        return text, None
    path = _write(text.encode(), ".txt")
    half = TEXT_LIMIT // 2
    missing = len(text) - 2 * half
    return (
        f"{text[:half]}\n[... {missing} characters are left out here; all of it is in {path} ...]\n{text[-half:]}",
        path,
    )


def _save(data: str, mime_type: str) -> str:
    try:
        raw = decode_base64(data)
    except ValueError:
        raw = data.encode()
    return _write(raw, mimetypes.guess_extension(mime_type.partition(";")[0]) or ".bin")


def _write(raw: bytes, suffix: str) -> str:
    descriptor, path = tempfile.mkstemp(prefix="pi-mcp-", suffix=suffix)  # mode 0600
    with os.fdopen(descriptor, "wb") as file:
        file.write(raw)
    return path
