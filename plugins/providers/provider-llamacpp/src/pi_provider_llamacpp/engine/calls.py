"""Finds the calls in the text of an answer while it is written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, TypeAlias

from pi_provider_llamacpp.engine.syntax import BEGIN, END

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["CallSplitter", "Piece"]

Piece: TypeAlias = tuple[Literal["text", "call", "arguments"], str]
"""Text of the answer, the name of a call that begins, or a part of the arguments of the latest call."""

_OPENING = re.compile(r'\s*\{\s*"name"\s*:\s*"((?:[^"\\]|\\.)*)"\s*,\s*"arguments"\s*:\s*(?=\{)')
_LONGEST_OPENING = 400
"""Characters; what is longer without being an opening is text."""


class CallSplitter:
    """Splits the text of one answer.

    Args:
        marked: Whether calls are between marks, anywhere; otherwise an answer is text, or begins with its call.
    """

    def __init__(self, *, marked: bool) -> None:
        self._marked = marked
        self._state: Literal["text", "opening", "arguments", "closing"] = "text" if marked else "opening"
        self._held = ""
        self._object = _ObjectEnd()
        self.calls = 0
        """How many calls have begun."""

    def feed(self, text: str) -> Iterator[Piece]:
        """Yield what a piece of the answer adds."""
        self._held += text
        while self._held and (found := self._next()) is not None:
            yield from found

    def end(self) -> Iterator[Piece]:
        """Yield what was held back until the answer ended."""
        held, self._held = self._held, ""
        if self._state == "opening":
            held = f"{BEGIN}{held}" if self._marked else held
        elif self._state == "closing" or (self._state == "text" and self._is_gap(held)):
            held = ""
        if held:
            yield ("arguments" if self._state == "arguments" else "text", held)

    def _next(self) -> list[Piece] | None:
        """Return the pieces of one step; None if more text is needed."""
        return getattr(self, f"_in_{self._state}")()  # type: ignore[no-any-return] # one of the four below

    def _in_text(self) -> list[Piece] | None:
        held = self._held
        if not self._marked:
            self._held = ""
            return [("text", held)]
        before, mark, rest = held.partition(BEGIN)
        if mark:
            self._state, self._held = "opening", rest
            return [("text", before)] if before and not self._is_gap(before) else []
        kept = next((size for size in range(len(BEGIN) - 1, 0, -1) if held.endswith(BEGIN[:size])), 0)
        self._held = held[len(held) - kept :]
        ready = held[: len(held) - kept]
        if self._is_gap(ready):
            self._held = held
            return None
        return [("text", ready)] if ready else None

    def _is_gap(self, text: str) -> bool:
        """Whether this is only the space between two calls."""
        return self.calls > 0 and not text.strip()

    def _in_opening(self) -> list[Piece] | None:
        held = self._held
        match = _OPENING.match(held)
        if match is not None:
            self._state, self._held, self._object = "arguments", held[match.end() :], _ObjectEnd()
            self.calls += 1
            return [("call", _plain(match[1]))]
        if held.lstrip()[:1] in ("", "{") and len(held) < _LONGEST_OPENING:
            return None
        self._state = "text"
        if self._marked:
            self._held = ""
            return [("text", f"{BEGIN}{held}")]
        return []

    def _in_arguments(self) -> list[Piece] | None:
        held, end = self._held, self._object.find(self._held)
        if end is None:
            self._held = ""
            return [("arguments", held)]
        self._state, self._held = "closing", held[end:]
        return [("arguments", held[:end])]

    def _in_closing(self) -> list[Piece] | None:
        """Skip what follows the arguments: a brace, and the mark where there are marks."""
        if not self._marked:
            self._held = ""
            return None
        _, mark, rest = self._held.partition(END)
        if not mark:
            return None
        self._state, self._held = "text", rest
        return []


def _plain(name: str) -> str:
    """Return a name without the escapes of JSON."""
    import json

    try:
        return str(json.loads(f'"{name}"'))
    except ValueError:
        return name


class _ObjectEnd:
    """Finds the end of a JSON object that comes in pieces."""

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = self._escaped = False

    def find(self, text: str) -> int | None:
        """Return the index after the object's last character; None while it is incomplete."""
        for place, character in enumerate(text):
            if self._in_string:
                self._escaped, was_escaped = character == "\\" and not self._escaped, self._escaped
                self._in_string = character != '"' or was_escaped
            elif character == '"':
                self._in_string = True
            elif character in "{[":
                self._depth += 1
            elif character in "}]":
                self._depth -= 1
                if not self._depth:
                    return place + 1
        return None
