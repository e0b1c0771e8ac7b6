r"""How text from models, tools, files and plugins becomes safe to write to a terminal.

A terminal obeys escape sequences, no matter who sent them, and with direction marks in it a command can read
differently from the one that runs. Both functions replace what would be obeyed or not be seen by the escape that Python
writes for it, such as ``\x1b`` and ``\u202e``: the reader sees that it is there. Nothing that needs cleaning is left,
so they may be applied twice. Colours are put around what they return, never into what they are given.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["clean_text", "hidden_characters", "one_line"]

_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"

_INVISIBLE = (
    r"\xad\u034f\u061c\u070f\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    r"\ufff0-\ufffb\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff"
    r"\U000e01f0-\U000e0fff"
)
"""What Unicode calls format characters and Default_Ignorable_Code_Point, but for the visible and the next two kinds."""

_JOINERS = r"\u200c\u200d"
"""They shape the letters of some scripts, and make one emoji of several."""

_SELECTORS = r"\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
"""They choose among the forms of the character before them."""

_JOINABLE = (
    r"\u0600-\u061b\u061d-\u070e\u0710-\u109f"  # Arabic to Myanmar
    r"\u1780-\u17b3\u17b6-\u180a\u1810-\u18af"  # Khmer, Mongolian
    r"\ufb50-\ufdff\ufe70-\ufefc"  # Arabic's presentation forms
    r"\u2190-\u2bff\U0001f000-\U0001faff"  # emoji
)

_PLAIN = rf"\x00-\xa8\xaa-\xad\xaf-\xff{_CONTROLS}{_INVISIBLE}{_JOINERS}{_SELECTORS}"
"""What has no other forms to select from: Latin letters, digits and signs but © and ®, and what is not seen itself."""

_HIDDEN = (
    rf"[{_CONTROLS}{_INVISIBLE}]"
    rf"|(?<=[^{_JOINABLE}\ufe0f])[{_JOINERS}]|(?<=[{_PLAIN}]\ufe0f)[{_JOINERS}]|[{_JOINERS}](?=[^{_JOINABLE}])"
    rf"|(?<=[{_PLAIN}])(?!(?<=[0-9#*])\ufe0f\u20e3)[{_SELECTORS}]"  # but the one of keycaps, as in 1️⃣
)


def clean_text(text: str) -> str:
    r"""Return text with an escape for each character that is obeyed or invisible; newlines and tabs stay.

    A carriage return is dropped before a newline and at the end, where it belongs to a line ending. Joiners and
    variation selectors stay where a script or an emoji needs them, and where the text begins or ends with them, so that
    a stream can be cleaned piece by piece.
    """
    if text.isascii() and text.isprintable():
        return text
    return re.sub(_HIDDEN, _escape, re.sub(r"\r+(?=\n|\Z)", "", text))


def hidden_characters(text: str) -> Iterator[tuple[int, str]]:
    """Go through the characters for which ``clean_text`` puts an escape, each with its index."""
    if text.isascii() and text.isprintable():
        return
    for found in re.finditer(rf"(?!\r+(?:\n|\Z))(?:{_HIDDEN})", text):
        yield found.start(), found[0]


def one_line(text: str) -> str:
    """Return text as one clean line: each run of whitespace is one space, and there is none at the ends."""
    return clean_text(" ".join(text.split()))


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")
