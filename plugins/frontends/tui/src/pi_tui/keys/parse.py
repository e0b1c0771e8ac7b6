"""Parsing of a terminal's bytes into events. Reads may split a sequence, and many sequences begin with Escape.

``Parser.feed`` holds back input that may be incomplete. Only the caller knows how long no input has arrived: after a
timeout, it calls ``Parser.flush``, which returns the held-back input as keys.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

from pi_terminal_kit.pastes import looks_pasted
from pi_tui.keys.codes import CONTROL_KEYS
from pi_tui.keys.events import Event, Key, Paste, Reply
from pi_tui.keys.names import join_key, split_key
from pi_tui.keys.sequences import application_key, read_sequence

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Parser"]

_PASTE_BEGINS, _PASTE_ENDS = "\x1b[200~", "\x1b[201~"

_CSI = re.compile(r"\x1b\[(?:\[[A-E]|[0-?]*[ -/]*[@-Z\\-~])")

_SS3 = re.compile(r"\x1bO([1-9]?)([A-FHMP-SXa-dj-y])")

_BEGUN = re.compile(r"\x1b(?:[]P_]|\x1b?(?:O[1-9]?|\[(?:\[|[0-?]*[ -/]*))?)\Z")
"""The beginning of these sequences and of a reply; some terminals send two escapes for Alt with an arrow."""

_REPLY = re.compile(r"\x1b(?:\][0-9]|P[0-9>+$!|=]|_G)[^\x00-\x1f\x7f-\x9f]*(?:\x07|\x1b\\|\x9c)")
"""Replies that end with a terminator: OSC with a number, DCS, and the APC of Kitty's images. No reply contains Enter:
if it is pressed, the text that looked like a reply was typed."""

_REPLY_BEGUN = re.compile(r"\x1b(?:\][0-9]|P[0-9>+$!|=]|_G)[^\x00-\x1f\x7f-\x9f]*\x1b?\Z")

_TEXT = re.compile(r"[^\x00-\x1f\x7f-\x9f]+")

_LONGEST_REPLY = 4096
"""Maximum characters of an unterminated reply; longer input is not a reply."""


class Parser:
    """Reads events from bytes as they arrive.

    Args:
        backspace: The character that the terminal sends for the backspace key, according to its settings (``VERASE``).
            The other one of DEL and BS is then ``ctrl+backspace``. With None, both are backspace.
        marks_pastes: Whether the terminal marks the beginning and the end of a paste. Otherwise, several lines that are
            read at once are a paste, which ends when no input has arrived for a while.
    """

    def __init__(self, backspace: str | None = None, *, marks_pastes: bool = True) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self._pasting = False
        self._pasted: list[str] = []
        self._marks_pastes = marks_pastes
        self._unmarked = ""
        self._controls = dict(CONTROL_KEYS)
        if backspace in {"\x08", "\x7f"}:
            self._controls["\x7f" if backspace == "\x08" else "\x08"] = "ctrl+backspace"

    @property
    def pending(self) -> bool:
        """Whether ``flush`` would return held-back input."""
        if self._unmarked:
            return True
        return bool(self._held) and not self._pasting and not self._is_reply_begun(0)

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that these bytes complete."""
        text = self._decoder.decode(data)
        if len(text) == 1 and " " < text <= "~" and not (self._held or self._unmarked or self._pasting):
            return [Key(*typed_key(text))]  # most of what is typed
        if self._unmarked or (not self._marks_pastes and not self._held and looks_pasted(text)):
            self._unmarked += text
            return []
        self._held += text
        return [*self._events(final=False)]

    def flush(self) -> list[Event]:
        """Return held-back input as keys or an unmarked paste; unfinished marked pastes and replies stay held back."""
        if self._unmarked:
            pasted, self._unmarked = self._unmarked, ""
            body = pasted.rstrip("\r")
            return [Paste(body), *([Key("enter")] if len(body) < len(pasted) else [])]
        return [*self._events(final=True)] if self.pending else []

    def _events(self, *, final: bool) -> Iterator[Event]:
        text, at = self._held, 0
        event: Event | None
        while at < len(text):
            if self._pasting:
                at, event = self._paste(text, at)
            elif text.startswith(_PASTE_BEGINS, at):
                at, self._pasting = at + len(_PASTE_BEGINS), True
                continue
            elif typed := _TEXT.match(text, at):
                at = typed.end()
                yield from (Key(*typed_key(character)) for character in typed[0])
                continue
            elif text[at] == "\x1b":
                end, event = self._after_escape(text, at, final=final)
                if end == at:
                    break
                at = end
            else:
                at, event = at + 1, self._key(text[at])
            if event is not None:
                yield event
            elif self._pasting:
                break
        self._held = text[at:]

    def _paste(self, text: str, at: int) -> tuple[int, Paste | None]:
        """Read up to the end of the paste or of the text, but hold back what may be part of the end mark."""
        end = text.find(_PASTE_ENDS, at)
        if end >= 0:
            pasted = Paste("".join([*self._pasted, text[at:end]]))
            self._pasting, self._pasted = False, []
            return end + len(_PASTE_ENDS), pasted
        escape = text.rfind("\x1b", max(at, len(text) - len(_PASTE_ENDS) + 1))
        until = escape if escape >= 0 and _PASTE_ENDS.startswith(text[escape:]) else len(text)
        self._pasted.append(text[at:until])
        return until, None

    def _after_escape(self, text: str, at: int, *, final: bool) -> tuple[int, Event | None]:
        """Return the end of an event that begins with an escape, and the event; its start if it is incomplete."""
        end, event = _sequence(text, at)
        if end == at and not final and (_BEGUN.match(text, at) or self._is_reply_begun(at, text)):
            return at, None
        if end > at:
            return end, event
        second = text[at + 1 : at + 2]
        if second not in {"", "\x1b"}:
            return at + 2, _with_alt(self._key(second))
        end, event = _sequence(text, at + 1)
        if isinstance(event, Key):
            return end, _with_alt(event)
        return at + 1, Key("escape")

    def _is_reply_begun(self, at: int, text: str | None = None) -> bool:
        held = self._held if text is None else text
        return len(held) - at < _LONGEST_REPLY and _REPLY_BEGUN.match(held, at) is not None

    def _key(self, character: str) -> Key | None:
        """Return the key that sends a character; None if no key sends it."""
        if character in self._controls:
            return Key(self._controls[character])
        return None if "\x80" <= character <= "\x9f" else Key(*typed_key(character))


def typed_key(character: str) -> tuple[str, str]:
    """Return the name of the key that types a character, and the character."""
    if character == " ":
        return "space", character
    lower = character.lower()
    if lower != character and len(lower) == 1:
        return f"shift+{lower}", character
    return character, character


def _sequence(text: str, at: int) -> tuple[int, Event | None]:
    """Return the end of the sequence that begins here, and its event; the given index if there is none."""
    if reply := _REPLY.match(text, at):
        return reply.end(), Reply(reply[0])
    if sequence := _CSI.match(text, at):
        return sequence.end(), read_sequence(sequence[0])
    if key := _SS3.match(text, at):
        return key.end(), application_key(key[2], int(key[1] or 1))
    return at, None


def _with_alt(key: Event | None) -> Event | None:
    """Return a key with Alt added; it then types nothing."""
    if not isinstance(key, Key):
        return key
    held, name = split_key(key.name)
    return Key(join_key([*held, "alt"], name), action=key.action)
