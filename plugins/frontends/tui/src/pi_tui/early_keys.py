"""Input typed while the session is created and Textual is imported: displayed at once, handed to the screen later.

A thread reads the input and draws only plain text and its deletion: the screen, which receives every byte, handles all
other keys. The thread reads only while the terminal has the settings of this process: a program that asks for a
password, as ssh may do, changes them, and input typed then belongs to that program.
"""

from __future__ import annotations

import os
import re
import selectors
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["EarlyKeys", "plain_text", "typed_before"]

_BACKSPACES = (0x7F, 0x08)

_STOP_SECONDS = 1.0

_ESCAPE_SECONDS = 0.05
"""Seconds without input after which an escape is the key, and not the beginning of a sequence or Alt."""

_ESCAPE, _ESCAPE_KEY = b"\x1b", b"\x1b[27u"
"""The byte of the key, and its unambiguous form."""

_ESCAPE_THEN_TYPED = re.compile(rb"\x1b(?=[ -/:-@`{-~])")
"""Escape and then a character such as ``/``: with Alt it is no key of pi, and begins no sequence."""


class EarlyKeys:
    """Reads the terminal until it is stopped.

    Args:
        descriptor: The terminal's input.
        width: Columns of the row that is drawn.
        draw: Draws a text in the editor of the first frame; called in the thread.
        typed: Input that was typed before.
    """

    def __init__(self, descriptor: int, width: int, draw: Callable[[str], object], typed: bytes = b"") -> None:
        import termios

        self._descriptor = descriptor
        self._width = width
        self._draw = draw
        self._settings = termios.tcgetattr(descriptor)[:4]
        self._data = bytearray(typed)
        self._wake_read, self._wake_write = os.pipe()
        self._thread = threading.Thread(target=self._read, name="pi-early-keys", daemon=True)
        self._thread.start()

    def stop(self) -> bytes:
        """Stop reading, and return the input that was read."""
        with suppress(OSError):
            os.write(self._wake_write, b"\0")
        self._thread.join(_STOP_SECONDS)  # a terminal that accepts no output would block the thread
        if not self._thread.is_alive():
            os.close(self._wake_read)
            os.close(self._wake_write)
        return bytes(self._data)

    def _read(self) -> None:
        drawn = self._draw_new("")
        with selectors.DefaultSelector() as selector, suppress(OSError, ValueError):
            selector.register(self._descriptor, selectors.EVENT_READ)
            selector.register(self._wake_read, selectors.EVENT_READ)
            while all(key.fd == self._descriptor for key, _ in selector.select()) and self._is_ours():
                data = os.read(self._descriptor, 4096)
                if not data:
                    return
                if data.endswith(_ESCAPE) and not selector.select(_ESCAPE_SECONDS):
                    data = data.removesuffix(_ESCAPE) + _ESCAPE_KEY
                self._data += data
                drawn = self._draw_new(drawn)

    def _draw_new(self, drawn: str) -> str:
        """Draw the typed text, if it is plain; return the text that is drawn now."""
        text = plain_text(self._data)
        if text is None or text == drawn or len(text) >= self._width:
            return drawn
        self._draw(text)
        return text

    def _is_ours(self) -> bool:
        """Whether no other program has changed the terminal's settings."""
        import termios

        try:
            return termios.tcgetattr(self._descriptor)[:4] == self._settings
        except termios.error:
            return False


def typed_before(descriptor: int) -> bytes:
    """Return input that was typed before the terminal was set to raw input, with Enter as a raw terminal sends it.

    Until then, the terminal converts Enter to a line feed, which the editor uses for a new line, so that a prompt typed
    early would not be sent. Several lines are not changed, since they may be a paste, which is never sent. Escape and a
    character that was typed after it are read at once, as Alt with this character would be.
    """
    with suppress(OSError, ValueError), selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        if selector.select(0):
            data = _ESCAPE_THEN_TYPED.sub(_ESCAPE_KEY, os.read(descriptor, 4096))
            return data[:-1] + b"\r" if data and data.find(b"\n") == len(data) - 1 else data
    return b""


def plain_text(data: bytes | bytearray) -> str | None:
    """Return the typed text after applying deletions; None if the bytes contain more than plain ASCII."""
    text = ""
    for byte in data:
        if byte in _BACKSPACES:
            text = text[:-1]
        elif 0x20 <= byte < 0x7F:  # noqa: PLR2004 - what ASCII prints
            text += chr(byte)
        else:
            return None
    return text
