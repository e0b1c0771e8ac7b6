"""Text that grows in pieces: appending costs the same for short and long texts."""

from __future__ import annotations

from pi_tui.view.clean import rewritten

__all__ = ["Growing", "Tail"]


class Growing:
    """A text to which pieces are appended; instances are equal if their texts are."""

    __slots__ = ("_parts", "length")

    def __init__(self, text: str = "") -> None:
        self._parts = [text] if text else []
        self.length = len(text)

    def append(self, piece: str) -> None:
        """Append a piece."""
        if piece:
            self._parts.append(piece)
            self.length += len(piece)

    def since(self, offset: int) -> str:
        """Return what follows the first ``offset`` characters; the cost depends only on the length of the result."""
        missing = self.length - offset
        newest = []
        for part in reversed(self._parts):
            if missing <= 0:
                break
            newest.append(part[-missing:] if missing < len(part) else part)
            missing -= len(part)
        return "".join(reversed(newest))

    def __str__(self) -> str:
        if len(self._parts) > 1:
            self._parts[:] = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""

    def __repr__(self) -> str:
        return f"Growing({str(self)!r:.60})"

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other) if isinstance(other, Growing) else NotImplemented

    __hash__ = None  # type: ignore[assignment] # it changes


class Tail:
    """The end of a program's output, with overwritten lines replaced; instances are equal if their texts are.

    Args:
        text: Cleaned output.
        limit: Minimum number of characters to keep; the maximum is about twice as many.

    Attributes:
        dropped: Number of lines that were dropped from the beginning.
    """

    __slots__ = ("_limit", "_text", "dropped")

    def __init__(self, text: str = "", limit: int = 50_000) -> None:
        self._limit = limit
        self._text = ""
        self.dropped = 0
        self.append(text)

    def append(self, piece: str) -> None:
        """Append a piece; a carriage return in it overwrites the line."""
        text = self._text
        if "\r" in piece or text.endswith("\r"):
            start = text.rfind("\n") + 1
            text, piece = text[:start], rewritten(text[start:] + piece)
        text += piece
        if len(text) > 2 * self._limit:
            text = self._cut(text)
        self._text = text

    def _cut(self, text: str) -> str:
        end = text.rfind("\n", 0, len(text) - self._limit) + 1 or len(text) - self._limit
        self.dropped += text.count("\n", 0, end)
        return text[end:]

    def __str__(self) -> str:
        return self._text.removesuffix("\r")

    def __repr__(self) -> str:
        return f"Tail({str(self)!r:.60})"

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other) if isinstance(other, Tail) else NotImplemented

    __hash__ = None  # type: ignore[assignment] # it changes
