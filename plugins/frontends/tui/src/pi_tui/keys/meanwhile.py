"""Keys that are typed while the event loop stands still, read in another thread or in a signal handler."""

from __future__ import annotations

import os
import re
import threading

__all__ = ["TypedMeanwhile"]

_INTERRUPT = re.compile(rb"\x03|\x1b\[99(?::\d*)*;5(?::[12])?u|\x1b\[27;5;99~")
"""Ctrl+C: as a byte, and in Kitty's and in xterm's protocol."""


class TypedMeanwhile:
    """What was typed while the loop stood still, in order with what the loop itself reads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._data = b""

    def read(self, descriptor: int, most: int) -> int:
        """Read what the terminal has, without blocking; keep it, and return how often it contains Ctrl+C, left out."""
        if not self._lock.acquire(blocking=False):
            return 0
        try:
            data = os.read(descriptor, most)
            kept, pressed = _INTERRUPT.subn(b"", data)
            self._data += kept
        except OSError:  # nothing was typed
            return 0
        else:
            return pressed
        finally:
            self._lock.release()

    def take(self) -> bytes:
        """Return what was kept, and keep nothing."""
        with self._lock:
            data, self._data = self._data, b""
        return data
