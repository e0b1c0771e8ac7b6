"""The prompts of a command line: stdin, then files, then the first message make the first of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pi_cli.options import Prompt
from pi_cli.report import warn
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import TextIO

    from pi_hookspecs import ImageContent

__all__ = ["read_prompts", "read_stdin"]

_BINARY_HEAD = 8192
"""Bytes at the beginning of a file; a NUL among them makes it binary."""

_MOST = 64_000_000
"""Bytes of stdin and of each file: more than fits into any model, but small enough to be copied in memory."""

_FOR_SOME = ("image/heic", "image/heif")
"""Formats that only some models take, so that the session decides; the model is not known yet."""

_SIZE = f"{_MOST // 1_000_000} MB"
_WAY_OUT = "{} in the prompt without @, and the model reads the parts that it needs"


def read_stdin(stdin: TextIO | None) -> str:
    """Return the piped input, stripped; empty when stdin is a terminal or closed.

    Raises:
        UserError: It cannot be read, or is too large.
    """
    if stdin is None or stdin.isatty():
        return ""
    try:
        piped = stdin.buffer.read(_MOST + 1)
    except OSError as error:
        message = f"Could not read stdin: {error.strerror or error}"
        raise UserError(message) from error
    if len(piped) > _MOST:
        raise UserError(f"More than {_SIZE} came through stdin. {_WAY_OUT.format('Keep it in a file, name that')}")
    return piped.decode("utf-8", "replace").strip()


def read_prompts(
    messages: Sequence[str], files: Sequence[str], piped: str, cwd: Path, *, resize: bool = True
) -> tuple[Prompt, ...]:
    """Return the prompts in order: stdin and files are put before the first message, without a separator.

    Args:
        messages: From the command line; empty ones are dropped.
        files: Paths, relative to ``cwd``, or with ``~``.
        piped: The text from stdin.
        cwd: The working directory.
        resize: The setting ``images.autoResize``.

    Raises:
        UserError: A file does not exist, cannot be read, or is too large.
    """
    blocks = [block for block in (_file_block(name, cwd, resize=resize) for name in files) if block is not None]
    images = tuple(image for _, image in blocks if image is not None)
    first, *rest = (*map(_clean, messages),) or ("",)
    text = "".join([piped, *(block for block, _ in blocks), first])
    prompts = [Prompt(text=text, images=images, piped=bool(piped)), *(Prompt(text=message) for message in rest)]
    return tuple(prompt for prompt in prompts if prompt.text.strip() or prompt.images)


def _file_block(name: str, cwd: Path, *, resize: bool) -> tuple[str, ImageContent | None] | None:
    """Return a file as it goes into the prompt, and its image if it is one; None for an empty file."""
    from pi_core import image_type

    path = os.path.abspath(os.path.join(cwd, os.path.expanduser(name)))  # noqa: PTH100, PTH111, PTH118 - ".." resolved, links not
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - also a pipe from the shell's <(...)
            content = file.read(_MOST + 1)
    except FileNotFoundError as error:
        message = f"File not found: {path}"
        raise UserError(message) from error
    except (OSError, ValueError) as error:
        message = f"Could not read file {path}: {getattr(error, 'strerror', None) or error}"
        raise UserError(message) from error
    if not content:
        return None
    if len(content) > _MOST:
        raise UserError(f"{path!r} has more than {_SIZE}. {_WAY_OUT.format('Name it')}")
    label = _clean(path)
    kind = image_type(content)
    if kind is not None:
        notes, image = _image(content, kind, resize=resize)
        if image is None:
            warn(f"{path!r} was left out. {notes}")
        return f'<file name="{label}">{notes}</file>\n', image
    if b"\0" in content[:_BINARY_HEAD]:
        warn(f"{path!r} is a binary file: the prompt contains only its name")
        return f'<file name="{label}">\n(binary file, {len(content)} bytes)\n</file>\n', None
    text = content.decode("utf-8-sig", "replace")
    return f'<file name="{label}">\n{text}\n</file>\n', None


def _image(content: bytes, kind: str, *, resize: bool) -> tuple[str, ImageContent | None]:
    """Return notes about an image and the image within limits, or the reason why it is left out and None."""
    from base64 import b64encode

    from pi_core import fit_image
    from pi_hookspecs import ImageContent

    if kind in _FOR_SOME:
        return "", ImageContent(b64encode(content).decode("ascii"), kind)
    fitted = fit_image(content, resize=resize)
    notes = "\n".join(fitted.notes)
    return notes, None if fitted.omitted else ImageContent(fitted.data, fitted.mime_type)


def _clean(argument: str) -> str:
    """Return an argument as text that can be encoded: invalid UTF-8 becomes U+FFFD."""
    return argument.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
