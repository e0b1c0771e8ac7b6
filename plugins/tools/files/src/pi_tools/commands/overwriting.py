"""Output as a terminal leaves it: a line that was overwritten, as progress bars do, is its last state."""

from __future__ import annotations

import re

__all__ = ["Overwriting", "collapse", "collapsed"]

_HELD = 1 << 16
"""Bytes of a line that is not at its end for which the stream waits: no terminal has lines as long as that."""

_TIDY = 1 << 12
"""Bytes from which on a line that was overwritten is replaced by its state."""

_FEWEST = 512
"""Bytes with one NUL among them are no text that a terminal overwrites: random bytes have two in so many."""

_TO_THE_START = (b"\x1b[G", b"\x1b[0G", b"\x1b[1G")
_START = "\x1b\\[[01]?G"
_ERASES = "\x1b\\[[02]?K"
_CLEARS = "\x1b\\[2K"
_ESCAPE = "\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[@-Z\\\\^_])"


def collapse(text: str) -> str:
    """Return a text with every line as a terminal would show it at the end."""
    if not any(mark in text for mark in ("\r", "\b", "\x1b[")):
        return text
    return "\n".join(_last_state(line) for line in text.split("\n"))


def _last_state(line: str) -> str:
    body = line.rstrip("\r")
    body = re.sub(_START, "\r", body).rstrip("\r") if "\x1b[" in body else body
    if "\r" not in body and "\b" not in body:
        return line
    end = "\r" if line.endswith("\r") else ""
    shown = plain = ""
    for frame in body.split("\r"):
        shown, plain = _over(shown, plain, frame)
    return shown + end


def _over(shown: str, plain: str, frame: str) -> tuple[str, str]:
    """Return the line after a frame was written over it, and the same without escape sequences.

    What is left of a longer line loses its colours.
    """
    if not frame:
        return shown, plain
    if "\b" in frame:
        frame = _without_backspaces(frame)
    if "\x1b" not in frame:
        rest = plain[len(frame) :]
        return frame + rest, frame + rest
    *cleared, frame = re.split(_CLEARS, frame)
    kept = re.sub(_ERASES, "", frame)
    written = re.sub(_ESCAPE, "", kept)
    if cleared or kept != frame:
        return kept, written
    if not written:
        return shown + kept, plain
    rest = plain[len(written) :]
    return kept + rest, written + rest


def _without_backspaces(frame: str) -> str:
    cells: list[str] = []
    at = 0
    for piece in re.split("(\b+)", frame):
        if piece.startswith("\b"):
            at = max(at - len(piece), 0)
        else:
            cells[at : at + len(piece)] = piece
            at += len(piece)
    return "".join(cells)


class Overwriting:
    """The same for bytes that come in pieces.

    Attributes:
        line: The line that has not ended yet; ``collapsed`` returns it as it is now.
    """

    def __init__(self) -> None:
        self.line = b""

    def feed(self, chunk: bytes) -> bytes:
        """Take the next piece; return what can no longer change, which ends with a line or is very long."""
        end = chunk.rfind(b"\n") + 1
        done = b""
        if end:
            whole = chunk if end == len(chunk) else chunk[:end]
            done = collapsed(self.line + whole if self.line else whole)
            self.line = chunk[end:]
        else:
            self.line += chunk
        if len(self.line) > _TIDY and _marked(self.line):
            # What comes next stands where it would have stood: after the last mark, which stays.
            body, mark, last = self.line.rpartition(b"\r")
            self.line = collapsed(body) + mark + last if mark else collapsed(self.line)
        if len(self.line) > _HELD:
            done, self.line = done + self.line, b""
        return done


def _marked(data: bytes) -> bool:
    """Whether something may have been overwritten; a CR in front of an LF overwrites nothing, nor do binary data."""
    if len(data) > _TIDY and data.count(b"\0") * _FEWEST > len(data):
        return False
    if b"\b" in data or (b"\x1b" in data and any(mark in data for mark in _TO_THE_START)):
        return True
    returns = data.count(b"\r")
    return returns > 0 and returns != data.count(b"\r\n")


def collapsed(data: bytes) -> bytes:
    """Return the same for bytes."""
    if not _marked(data):
        return data
    return collapse(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
