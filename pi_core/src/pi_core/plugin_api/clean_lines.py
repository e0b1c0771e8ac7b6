"""Redacts secrets in texts that arrive in pieces, and in the JSON lines sent to another program.

A text that is streamed in deltas is held back where a secret may begin, because a secret may be split between two
deltas. The text held back is sent with a later delta, at the latest before the event that ends the text.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Protocol, Self

from pi_core.base.mapped_texts import map_texts
from pi_core.wire import dumps
from pi_hookspecs import PiError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pi_hookspecs import PiContext, SettingsView

__all__ = ["CleanLines", "CleanStream"]

_HELD = 200
"""Characters at the end that are held back."""
_MOST = 16 * 1024
"""Characters that are held back where no place to cut is found: a longer word or key is cut anywhere."""
_SPACE = re.compile(r"\s")
_KEY_BLOCK = re.compile(r"-----BEGIN (?:(?!-----END [^\n-]{0,80}-----).)*\Z", re.DOTALL)
"""A block of a key whose last line is not complete yet."""


class CleanStream:
    """Implements ``TextStream``: splits a text only between words, and never inside a value that is redacted.

    Args:
        clean: Returns a complete text without secrets.
    """

    def __init__(self, clean: Callable[[str], str]) -> None:
        self._clean = clean
        self._held = ""
        self._enough = _HELD

    def feed(self, piece: str) -> str:
        """Return the text that may be written now."""
        self._held += piece
        written, cut = self._cut()
        self._held = self._held[cut:]
        return written

    def end(self) -> str:
        """Return the rest."""
        rest, self._held = self._held, ""
        return self._clean(rest)

    def _cut(self) -> tuple[str, int]:
        """Return what may be written, and how many of the characters held back that is.

        All that is held back is cleaned once. It may be cut where the rest, cleaned alone, is the end of the whole:
        then no value that was replaced reaches over the cut. Where there is no such place, the next is looked for when
        half as much again is held back, so that a text is not cleaned again for each small piece.
        """
        held = self._held
        if len(held) <= self._enough:
            return "", 0
        self._enough = _HELD
        whole = self._clean(held)
        block = _KEY_BLOCK.search(held)
        for after in _breaks(held, min(len(held) - _HELD, len(held) if block is None else block.start())):
            rest = held[after:] if whole == held else self._clean(held[after:])
            if whole.endswith(rest):
                return whole[: len(whole) - len(rest)], after
        if len(held) > _MOST:
            return whole, len(held)
        self._enough = min(len(held) * 3 // 2, _MOST)
        return "", 0


def _breaks(text: str, end: int) -> Iterator[int]:
    """Yield places after white space before ``end``, each at least twice as far back as the one before.

    The first is the last there is. The furthest is as far back as a word is held back.
    """
    least, latest, distance = max(0, end - _MOST), end, 1
    while latest > least:
        begin = max(latest - _HELD, least)
        found = [each.end() for each in _SPACE.finditer(text, begin, latest)]
        if found:
            yield found[-1]
            distance = max(2 * (end - found[-1]), 1)
            latest = min(found[-1] - 1, end - distance)
        else:
            latest = begin


_FAILED = "[left out: secrets could not be taken out of it]"
_GROWING = ("tool_execution_update",)
"""Events with a result that is not complete: each has the whole text so far."""
_COMPLETE = ("message_start", "message_end", "response")
"""Events with all of a text whose deltas are over; the answer to a command ends its output."""


class _Session(Protocol):
    """What is needed of a session."""

    @property
    def settings(self) -> SettingsView: ...

    @property
    def ctx(self) -> PiContext: ...


class CleanLines:
    """Redacts secrets in the lines of one session.

    Args:
        clean: Returns a complete text without secrets.
    """

    def __init__(self, clean: Callable[[str], str]) -> None:
        self._plugin = clean
        self._blocks: dict[tuple[str, Any], _Block] = {}

    @classmethod
    def asked_for(cls, session: _Session) -> Self | None:
        """Return the redactor of a session's lines; None unless the setting ``redact.output`` is true."""
        wanted = session.settings.get_bool("redact.output", default=False)
        return cls(session.ctx.secrets.clean) if wanted else None

    @classmethod
    def texts_for(cls, session: _Session) -> Callable[[Any], Any]:
        """Return a function that redacts the texts of a JSON value for the session's clients, as its lines are."""
        clean = cls.asked_for(session)
        return clean.texts if clean is not None else lambda value: value

    def texts(self, value: Any) -> Any:
        """Return a JSON value with its texts redacted."""
        return map_texts(value, self._clean)

    def of(self, line: bytes) -> Iterator[bytes]:
        """Yield the lines to write for one line: none while all of its text is held back, two where a text ends."""
        value = json.loads(line)
        kind = value.get("type") if isinstance(value, dict) else None
        if kind == "message_update":
            yield from self._update(value)
        elif kind == "bash_execution_update":
            yield from self._delta(value, value, ("bash", value.get("id")))
        elif kind in _GROWING:
            yield dumps(map_texts(value, self._begun))
        else:
            if kind in _COMPLETE:
                yield from self._end(kind, value)
            yield dumps(map_texts(value, self._clean))

    def _end(self, kind: str, value: dict[str, Any]) -> Iterator[bytes]:
        """Finish the texts that an event completes: the texts of a message, or the output of a command."""
        for key in [*self._blocks]:
            if (key[0] == "bash") != (kind == "response") or (key[0] == "bash" and key[1] != value.get("id")):
                continue
            block = self._blocks.pop(key)
            if key[0] == "bash" and (rest := block.stream.end()):
                yield dumps({**block.event, "delta": rest})

    def _clean(self, text: str) -> str:
        try:
            return self._plugin(text)
        except PiError:
            return _FAILED

    def _begun(self, text: str) -> str:
        """Return the part of an unfinished text that may be written now."""
        return CleanStream(self._clean).feed(text)

    def _update(self, value: dict[str, Any]) -> Iterator[bytes]:
        inner = value["assistantMessageEvent"]
        block, _, step = inner["type"].partition("_")
        key = block, inner.get("contentIndex")
        if step == "delta":
            yield from self._delta(value, inner, key)
            return
        ended = self._blocks.pop(key, None)
        if ended is not None and (rest := ended.stream.end()):
            ended.written += rest
            yield dumps(self._whole({**value, "assistantMessageEvent": {**ended.event, "delta": rest}}))
        yield dumps(self._whole(map_texts(value, self._clean)))

    def _delta(self, value: dict[str, Any], holder: dict[str, Any], key: tuple[str, Any]) -> Iterator[bytes]:
        block = self._blocks.get(key)
        if block is None:
            block = self._blocks[key] = _Block(CleanStream(self._clean))
        block.event = {name: each for name, each in holder.items() if name != "delta"}
        written = block.stream.feed(holder["delta"])
        if written:
            block.written += written
            holder["delta"] = written
            yield dumps(self._whole(value))

    def _whole(self, value: dict[str, Any]) -> dict[str, Any]:
        """Return an event in whose partial message each unfinished text ends with the last delta that was written."""
        for holder in (value, value.get("assistantMessageEvent", {})):
            name = "message" if holder is value else "partial"
            if isinstance(holder.get(name), dict):
                holder[name] = map_texts(holder[name], self._clean)
                self._cut(holder[name].get("content"))
        return value

    def _cut(self, content: Any) -> None:
        for (kind, index), block in self._blocks.items():
            if isinstance(content, list) and isinstance(index, int) and index < len(content):
                if kind == "toolcall":
                    content[index] = {**content[index], "arguments": {}}
                else:
                    content[index] = {**content[index], kind: block.written}


class _Block:
    """A streamed text: the part already written, and its latest event without the delta."""

    def __init__(self, stream: CleanStream) -> None:
        self.stream = stream
        self.written = ""
        self.event: dict[str, Any] = {}
