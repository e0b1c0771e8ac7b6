"""The tool ``read``: text by lines, images as images, a note for other files."""

from __future__ import annotations

import codecs
import os
from typing import TYPE_CHECKING, Any, TypeAlias

from pi_hookspecs.tools import Tool, ToolAnnotations, ToolResult
from pi_tools.failure import ToolFailure, system_failure
from pi_tools.paths import locate, locate_here
from pi_tools.settings import setting
from pi_tools.text import as_count, clean
from pi_tools.threads import check, look
from pi_tools.workspace import file_operations

if TYPE_CHECKING:
    from typing import BinaryIO

    from pi_core import FittedImage
    from pi_hookspecs.abort import AbortSignal
    from pi_hookspecs.models import Model
    from pi_hookspecs.tool_context import ToolContext
    from pi_hookspecs.tools import ToolUpdate
    from pi_tools.options import ReadOptions

__all__ = ["read_tool"]

_PARAMETERS = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "The file, relative to the working directory or absolute"},
        "offset": {"type": "number", "description": "Line to start from; the first is 1"},
        "limit": {"type": "number", "description": "Most lines to read"},
    },
    "required": ["path"],
}

_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "image/tiff")
_MAX_IMAGE = 256 * 1024 * 1024
"""Bytes; larger ones are described like any other binary file."""


def read_tool(cwd: str | None = None, options: ReadOptions | None = None) -> Tool:
    """Return the tool; without ``cwd`` it works where the session does."""

    async def execute(
        _call_id: str, params: dict[str, Any], signal: AbortSignal, _on_update: ToolUpdate, ctx: ToolContext
    ) -> ToolResult:
        check(signal)
        path = params["path"]
        where = cwd or str(ctx.cwd)
        operations = file_operations(ctx, options)
        content = await _fetch(operations, path, where) if operations is not None else None
        resize = bool(setting(ctx, "images.autoResize", options and options.auto_resize_images, default=True))
        model = getattr(ctx, "model", None)

        def read() -> _Read:
            source = _Local(path, where) if content is None else _Memory(content)
            return source.read(_ReadRequest(params, signal, model, resize=resize))

        return _result(await look(signal, read))

    return Tool(
        name="read",
        description=(
            "Read a file. Text comes as it is, without line numbers; images (jpg, png, gif, webp, bmp) come as images. "
            "At most 2000 lines or 50KB are shown, whichever is reached first: read on with offset and limit."
        ),
        parameters=_PARAMETERS,
        execute=execute,
        annotations=ToolAnnotations(read_only=True, open_world=False),
        prompt_snippet="Read files: text and images",
        constrained_sampling="prefer",
        prompt_guidelines=("Look at files with read, not with cat or sed.",),
    )


class _ReadRequest:
    """Parameters of a call: first line, number of lines, and how images are shown."""

    def __init__(self, params: dict[str, Any], signal: AbortSignal, model: Model | None, *, resize: bool) -> None:
        self.path = clean(params["path"])
        self.offset = max(as_count(params.get("offset"), 1), 1)
        self.limit = None if params.get("limit") is None else max(as_count(params["limit"], 0), 0)
        self.resize = resize
        self.model = model
        self._signal = signal

    def stopped(self) -> bool:
        return self._signal.aborted


_Read: TypeAlias = "ToolResult | tuple[str, FittedImage]"


def _result(read: _Read) -> ToolResult:
    if isinstance(read, ToolResult):
        return read
    from pi_hookspecs.content import ImageContent, TextContent

    mime, image = read
    text = "\n".join([f"Read image file [{image.mime_type or mime}]", *image.notes])
    if image.omitted:
        return ToolResult.text(text)
    return ToolResult(content=(TextContent(text), ImageContent(image.data, image.mime_type)))


async def _fetch(operations: Any, path: str, cwd: str) -> bytes:
    absolute = await locate(path, cwd, operations.access)
    try:
        await operations.access(absolute)
    except OSError as error:
        raise system_failure(error, "access", absolute) from error
    try:
        return bytes(await operations.read_file(absolute))
    except OSError as error:
        raise system_failure(error, "read") from error


class _Memory:
    """The content of a file, read by custom operations."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def read(self, wanted: _ReadRequest) -> _Read:
        import io

        return _read(io.BytesIO(self._content), len(self._content), wanted)


class _Local:
    """A readable file of this machine, not yet open."""

    def __init__(self, path: str, cwd: str) -> None:
        self._path = locate_here(path, cwd)
        try:
            os.stat(self._path)
        except OSError as error:
            raise system_failure(error, "access", clean(self._path)) from error
        if not os.access(self._path, os.R_OK):
            raise ToolFailure(f"EACCES: permission denied, access '{clean(self._path)}'")

    def read(self, wanted: _ReadRequest) -> _Read:
        from pi_tools.local_files import open_regular

        try:
            file, status = open_regular(self._path)
            with file:
                return _read(file, status.st_size, wanted)
        except OSError as error:
            raise system_failure(error, "read") from error


def _read(file: BinaryIO, size: int, wanted: _ReadRequest) -> _Read:
    from pi_core import fit_image, image_type, limits_of
    from pi_tools.reading import sniff

    head = file.read(sniff.HEAD) or b""  # None: a special file without data now
    mime = image_type(head)
    if mime in _IMAGES and size <= _MAX_IMAGE:
        return mime, fit_image(head + file.read(), limits_of(wanted.model), resize=wanted.resize)
    if sniff.is_binary(head):
        from pi_tools.truncate import format_size

        kind = sniff.describe_binary(head)
        note = f"[Binary file: {kind}, {format_size(size)}. Not shown as text; use bash to inspect it.]"
        return ToolResult.text(note)
    from pi_tools.reading.text import read_lines, show

    piece = read_lines(file, size, wanted.offset, wanted.limit, head=head, stopped=wanted.stopped)
    text, details = show(piece, wanted.path, wanted.limit)
    if piece.sample and not head.startswith(codecs.BOM_UTF8):
        from pi_tools.editing.encoding import detect

        found = detect(piece.sample) or "no encoding that is known"
        text += (
            f"\n\n[Not UTF-8 (detected: {found}): U+FFFD stands for what could not be decoded. "
            "Read and convert it with bash (iconv); edit and write refuse it]"
        )
    return ToolResult.text(text, details=details)
