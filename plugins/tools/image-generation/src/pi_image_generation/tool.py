"""``generate_image``: the prompt goes to an image model, what it draws into files, and both to model and user."""

from __future__ import annotations

import asyncio
import base64
from typing import TYPE_CHECKING, Any

from pi_hookspecs import TextContent, Tool, ToolAnnotations, ToolResult, UserError
from pi_image_generation.files import ImageFiles
from pi_image_generation.options import MODEL

if TYPE_CHECKING:
    from pi_hookspecs import AbortSignal, GeneratedImages, ToolContext, ToolUpdate

__all__ = ["image_tool"]

_MOST_DISPLAYED = 3_500_000
"""Maximum bytes of an image that becomes a part of the conversation: APIs refuse requests with larger ones."""

_QUOTED = 300
"""Characters of the model's text that the result quotes."""

_PARAMETERS = {
    "type": "object",
    "properties": {
        "prompt": {"type": "string", "description": "What to draw, and in which style"},
        "path": {
            "type": "string",
            "description": "The file, in the working directory; a new name in the folder images if not given",
        },
        "images": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Paths of images to start from, if one is to be changed",
        },
        "size": {"type": "string", "description": "The size in the words of the model's API, such as 1024x1024 or 2K"},
        "aspect_ratio": {"type": "string", "description": "Such as 16:9, for models that accept it"},
        "quality": {"type": "string", "description": "Such as low or high, for models that accept it"},
    },
    "required": ["prompt"],
}
_OPTIONS = ("size", "aspect_ratio", "quality")


def image_tool() -> Tool:
    """Return the tool."""
    return Tool(
        name="generate_image",
        label="Generate image",
        description="Draw an image with an image model, and write it to a new file. Each image costs the user money.",
        parameters=_PARAMETERS,
        execute=_execute,
        prompt_snippet="Draw images into files",
        annotations=ToolAnnotations(read_only=False, destructive=False, idempotent=False, open_world=True),
    )


async def _execute(
    _call_id: str, params: dict[str, Any], signal: AbortSignal, on_update: ToolUpdate, ctx: ToolContext
) -> ToolResult:
    files = ImageFiles(ctx)
    await files.check(params.get("path"))
    start = [await files.read(path) for path in params.get("images") or ()]
    model = ctx.settings.get_str(MODEL.name, "") or ""
    options = {name: params[name] for name in _OPTIONS if params.get(name)}
    on_update(ToolResult.text("Drawing ..."))
    drawn = await ctx.models.generate_image(model, params["prompt"], images=start, options=options, signal=signal)
    return await _result(drawn, params, files)


async def _result(drawn: GeneratedImages, params: dict[str, Any], files: ImageFiles) -> ToolResult:
    lines, displayed, written = [], [], []
    for number, image in enumerate(drawn.images):
        content = await asyncio.to_thread(base64.b64decode, image.data)
        fits = len(content) <= _MOST_DISPLAYED
        path, outcome = await _save(files, content, image.mime_type, params, is_first=not number)
        if path is not None:
            written.append({"path": path, "mimeType": image.mime_type, "bytes": len(content)})
        elif fits:
            outcome += "; the image is only in this conversation"
        if fits:
            displayed.append(image)
        else:
            outcome += "; it is too large to be displayed here"
        lines.append(outcome)
    cost = drawn.usage.cost.total
    lines.append(f"Drawn by {drawn.model.reference}{f' for ${cost:.4f}' if cost else ''}")
    if drawn.text.strip():
        lines.append(f"The model wrote: {drawn.text.strip()[:_QUOTED]}")
    details = {"model": drawn.model.reference, "files": written, "dollars": cost}
    return ToolResult(content=(TextContent("\n".join(lines)), *displayed), details=details, is_error=not written)


async def _save(
    files: ImageFiles, content: bytes, mime_type: str, params: dict[str, Any], *, is_first: bool
) -> tuple[str | None, str]:
    """Write an image, which is paid for: if it cannot be written where it belongs, to a temporary file.

    Returns:
        Its path, None if it could not be written at all, and a line that says what happened.
    """
    size = f"({len(content):,} bytes, {mime_type})"
    try:
        path = await files.write(content, mime_type, params["prompt"], params.get("path") if is_first else None)
    except UserError as error:
        try:
            path = await files.keep(content, mime_type)
        except UserError as second:
            return None, f"{error}, and {second}"
        return path, f"{error}. Wrote {path} instead {size}; move it once that is possible"
    return path, f"Wrote {path} {size}"
