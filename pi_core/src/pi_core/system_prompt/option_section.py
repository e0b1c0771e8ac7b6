"""The values of ``--system-prompt`` and ``--append-system-prompt``: a text, or the path of a file with the text."""

from __future__ import annotations

import os
import stat

from pi_core.base.sizes import format_size
from pi_hookspecs import PromptSection, UserError
from pi_hookspecs.resources import MAX_BYTES

__all__ = ["option_section"]


def option_section(name: str, value: str) -> PromptSection:
    """Return a section with the text, or with the file's text when ``value`` is the path of an existing file.

    Raises:
        UserError: The file exists, but is too large or cannot be read.
    """
    size = _file_size(value)
    if size is None:
        return PromptSection(name=name, text=value)
    if size > MAX_BYTES:
        raise UserError(
            f"{value}: {format_size(size)} is too much for a system prompt; the limit is {format_size(MAX_BYTES)}"
        )
    try:
        with open(value, "rb") as file:  # noqa: PTH123 - the path is a string from the user
            text = file.read().decode("utf-8-sig", errors="replace")
    except OSError as error:
        raise UserError(f"{value}: cannot be read for the system prompt: {error.strerror}") from error
    return PromptSection(name=name, text=text, source=os.path.abspath(value))  # noqa: PTH100 - does not resolve links


def _file_size(value: str) -> int | None:
    """Return the size of the file whose path is the text; None if the text is not the path of a file."""
    if not value or "\n" in value:
        return None
    try:
        status = os.stat(value)  # noqa: PTH116 - as above
    except (OSError, ValueError):  # no such file, a text too long for a path, or a text with a NUL
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None
