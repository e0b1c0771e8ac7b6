"""What is typed while the session is made and Textual is imported: displayed at once, and handed to the screen then.

A thread reads it. It draws plain text and its deletion, no more: what any other key does is decided by the screen,
which gets every byte. It reads only while the terminal is as this process has set it: a program that asks for a
password, as ssh may do, sets it differently, and what is typed then is not ours.
"""

from __future__ import annotations

import os
import selectors
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["EarlyKeys", "plain_text"]

_BACKSPACES = (0x7F, 0x08)

_STOP_SECONDS = 1.0


class EarlyKeys:
    """Reads the terminal until it is stopped.

    Args:
        descriptor: The terminal's input.
        width: Columns of the row that is drawn.
        draw: Draws a text in the editor of the first frame; called in the thread.
    """

    def __init__(self, descriptor: int, width: int, draw: Callable[[str], object]) -> None:
        import termios

        self._descriptor = descriptor
        self._width = width
        self._draw = draw
        self._settings = termios.tcgetattr(descriptor)[:4]
        self._data = bytearray()
        self._wake_read, self._wake_write = os.pipe()
        self._thread = threading.Thread(target=self._read, name="pi-early-keys", daemon=True)
        self._thread.start()

    def stop(self) -> bytes:
        """Read no more, and return what was read."""
        with suppress(OSError):
            os.write(self._wake_write, b"\0")
        self._thread.join(_STOP_SECONDS)  # a terminal that takes no more output would hold it
        if not self._thread.is_alive():
            os.close(self._wake_read)
            os.close(self._wake_write)
        return bytes(self._data)

    def _read(self) -> None:
        drawn = ""
        with selectors.DefaultSelector() as selector, suppress(OSError, ValueError):
            selector.register(self._descriptor, selectors.EVENT_READ)
            selector.register(self._wake_read, selectors.EVENT_READ)
            while all(key.fd == self._descriptor for key, _ in selector.select()) and self._is_ours():
                data = os.read(self._descriptor, 4096)
                if not data:
                    return
                self._data += data
                text = plain_text(self._data)
                if text is not None and text != drawn and len(text) < self._width:
                    self._draw(text)
                    drawn = text

    def _is_ours(self) -> bool:
        """Whether no other program has set the terminal."""
        import termios

        try:
            return termios.tcgetattr(self._descriptor)[:4] == self._settings
        except termios.error:
            return False


def plain_text(data: bytes | bytearray) -> str | None:
    """Return the text that bytes have typed, with what was deleted again; None where there is more than plain ASCII."""
    text = ""
    for byte in data:
        if byte in _BACKSPACES:
            text = text[:-1]
        elif 0x20 <= byte < 0x7F:  # noqa: PLR2004 - what ASCII prints
            text += chr(byte)
        else:
            return None
    return text
