"""How a request falls into words, quotations, punctuation and line ends.

Quotations are one token each, so that a conjunction or a full stop inside them ends nothing; the
punctuation that closes a sentence is taken off the word before it, the dots of a file name stay.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, TypeAlias

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

Kind: TypeAlias = Literal["word", "quoted", "fence", "punctuation", "newline", "end"]


@frozen
class Token:
    """A piece of the source text; ``text`` is without quotation marks, ``lower`` is for comparing words."""

    kind: Kind
    text: str
    start: int
    end: int
    lower: str = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        lower = self.text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'") if self.kind != "quoted" else ""
        object.__setattr__(self, "lower", lower)


_PIECE = re.compile(
    r"""
    (?P<newline> \r?\n )
  | (?P<space> [^\S\n]+ )
  | (?P<fence> (?P<bar>`{3,20}+|~{3,20}+) [^\n`]* \n
                (?P<fenced> (?:.*\n){0,5000}? ) [^\S\n]* (?P=bar) (?=[^\S\n]*(?:\n|\Z)) )
  | (?P<ticks>`{1,3}) (?!`) (?P<code> [^\n]{0,5000}?[^`\n] ) (?P=ticks) (?!`)
  | (?<!\w) "      (?P<double> [^"]{0,5000} )  " (?!\w)
  | \u201c (?P<curly> [^\u201d\n]{0,2000} ) \u201d
  | \u00ab (?P<angle> [^\u00bb\n]{0,2000} ) \u00bb
  | (?<!\w) '      (?P<single> [^\n]{0,2000}? )      ' (?!\w)
  | (?<!\w) \u2018 (?P<bent> [^\u2019\n]{0,2000} ) \u2019 (?!\w)
  | (?P<word> (?: \\[ ] | [^\s`"\u201c\u00ab] )+ )
  | (?P<stray> `+ | . )
    """,
    re.VERBOSE,
)
_QUOTED = ("code", "double", "curly", "angle", "single", "bent")

_ENDINGS = ",;:!?.)\N{HORIZONTAL ELLIPSIS}"


def tokenize(source: str) -> list[Token]:
    """Split a request into tokens; the last one is of kind ``end``. Every text can be split."""
    return [*_tokens(source), Token("end", "", len(source), len(source))]


def _tokens(source: str) -> Iterator[Token]:
    for match in _PIECE.finditer(source):
        start, end = match.span()
        if match["space"] is not None:
            continue
        if match["newline"] is not None:
            yield Token("newline", "\n", start, end)
        elif match["fence"] is not None:
            yield Token("fence", match["fenced"], start, end)
        elif match["word"] is not None or match["stray"] is not None:
            yield from _word(match[0], start, alone=start == 0 or source[start - 1].isspace())
        else:
            text = next(match[group] for group in _QUOTED if match[group] is not None)
            yield Token("quoted", text, start, end)


def _word(text: str, start: int, *, alone: bool) -> Iterator[Token]:
    """Take opening brackets and closing punctuation off a word; ``alone`` is one that space stands before."""
    if len(text) > 1 and text[0] == "(" and ")" not in text[:-1]:
        yield Token("punctuation", "(", start, start + 1)
        text, start = text[1:], start + 1
    length = len(text)
    if text.strip(".") or not alone:  # "." and ".." are folders
        while length and text[length - 1] in _ENDINGS and not (text[length - 1] == ")" and "(" in text[:length]):
            length -= 1
    if length:
        word = text[:length]
        yield Token("word", word.replace("\\ ", " "), start, start + length)
    for offset in range(length, len(text)):
        yield Token("punctuation", text[offset], start + offset, start + offset + 1)
