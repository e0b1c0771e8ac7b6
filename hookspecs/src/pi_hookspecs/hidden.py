r"""Characters that a terminal executes, that reorder text, or that it does not display.

Some programs escape them and others remove them, but all find them by the one pattern ``HIDDEN``. Newline and tab are
not in it. Joiners and variation selectors are, where no script and no emoji needs them, but not at the beginning or the
end of a text, so that a stream can be searched in chunks.
"""

from __future__ import annotations

__all__ = ["HIDDEN", "JOINERS", "SELECTORS", "is_visible"]

_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"
"""Control characters, line and paragraph separators, and lone surrogates, as the inside of a character class."""

_INVISIBLE = (
    r"\xad\u034f\u061c\u070f\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    r"\ufff0-\ufffb\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff"
    r"\U000e01f0-\U000e0fff"
)
"""Unicode's format characters and Default_Ignorable_Code_Point, except visible ones and the next two sets."""

_PLACEHOLDER = r"\U0010eeee"
"""The private character in whose place some terminals draw a part of an image, which another program has sent."""

JOINERS = r"\u200c\u200d"
"""Joiners, which shape the letters of some scripts and combine emoji."""

SELECTORS = r"\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
"""Variation selectors, which choose a form of the preceding character."""

_JOINABLE = (
    r"\u0600-\u061b\u061d-\u070e\u0710-\u109f"  # Arabic to Myanmar
    r"\u1780-\u17b3\u17b6-\u180a\u1810-\u18af"  # Khmer, Mongolian
    r"\ufb50-\ufdff\ufe70-\ufefc"  # Arabic's presentation forms
    r"\u2190-\u2bff\U0001f000-\U0001faff"  # emoji
)

_PLAIN = rf"\x00-\xa8\xaa-\xad\xaf-\xff{_CONTROLS}{_INVISIBLE}{JOINERS}{SELECTORS}"
"""Characters without variants: Latin letters, digits and signs but © and ®, and invisible characters themselves."""

HIDDEN = (
    rf"[{_CONTROLS}{_INVISIBLE}{_PLACEHOLDER}]"
    rf"|(?<=[^{_JOINABLE}\ufe0f])[{JOINERS}]|(?<=[{_PLAIN}]\ufe0f)[{JOINERS}]|[{JOINERS}](?=[^{_JOINABLE}])"
    rf"|(?<=[{_PLAIN}])(?!(?<=[0-9#*])\ufe0f\u20e3)[{SELECTORS}]"  # but the one of keycaps, as in 1️⃣
)
"""A regular expression that matches one hidden character at a time."""

_FILLERS = (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0)
_PRINTABLE = frozenset(
    map(chr, (*_FILLERS, 0x180B, 0x180C, 0x180D, 0x180F, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
)
"""The characters above that Unicode classes as letters or marks: fillers, and the variation selectors."""


def is_visible(text: str) -> bool:
    """Whether nothing in a text needs an escape, judged without the patterns, which take 15 ms to compile.

    False means that they have to decide: Python counts the characters of these patterns, space apart, as not printable,
    but for those of ``_PRINTABLE``.
    """
    printable = text.replace("\n", "").replace("\t", "").isprintable()
    return printable and (text.isascii() or _PRINTABLE.isdisjoint(text))
