"""Cleaning of external text for the editor: removes escape sequences and control characters."""

from __future__ import annotations

import re

from pi_tui.editor.clusters import MARKS, code_point
from pi_tui.view.clean import without_sequences

__all__ = ["cleaned", "cleaned_paste", "is_control"]

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")

_MARK = re.compile(f"[{chr(MARKS.start)}-{chr(MARKS.stop - 1)}]")

_CONTROL_KEY = re.compile(r"\x1b\[(\d{2,3});5u")
"""A control character as tmux encodes it in a paste while extended keys are on: a newline is Control with J."""


def cleaned(text: str) -> str:
    """Return a text with line feeds as its only line endings and tabs as its only other control characters.

    External text cannot contain marks of pastes: such a private character is replaced by its code point in text form.
    """
    if text.isascii() and text.isprintable():
        return text
    text = re.sub(r"\r\n?", "\n", text)
    text = _CONTROL.sub("", without_sequences(text))
    return _MARK.sub(lambda mark: code_point(mark[0]), text)


def is_control(text: str) -> bool:
    """Whether a key's text is a control character. A joiner, which is not printable either, is part of an emoji."""
    return not text.isprintable() and (_CONTROL.search(text) is not None or text in {"\t", "\n"})


def cleaned_paste(text: str) -> str:
    """Return the text that a terminal sent as a paste, cleaned like ``cleaned`` does."""
    return cleaned(_CONTROL_KEY.sub(_control_character, text))


def _control_character(found: re.Match[str]) -> str:
    letter = chr(int(found[1])).lower()
    return chr(ord(letter) - 96) if "a" <= letter <= "z" else ""
