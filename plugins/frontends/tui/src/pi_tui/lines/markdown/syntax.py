"""The Markdown that is understood: CommonMark, tables, struck text, bare links, formulas and numbered footnotes.

Bare links, formulas and footnotes cost time in every frame of a growing answer, so only a text that may have them is
parsed with them.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from pi_tui.lines.markdown.formulas import formula_text

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

__all__ = ["parsed"]

_LINK = re.compile(r"https?://|mailto:", re.IGNORECASE)

_FORMULA = re.compile(r"\$\$(?P<display>[^$]{1,500}?)\$\$|\$(?P<inline>[^\s$](?:[^$\n]{0,200}?[^\s$])?)\$(?!\w)")

_NOTE = re.compile(r"\[\^(\d{1,3})\](?![(\[])")

_NOTE_TEXT = re.compile(r"^( {0,3}\[\^\d{1,3}\]):[ \t]*", re.MULTILINE)
"""The beginning of a footnote's text, which CommonMark takes for the definition of a link."""

_CJK = (
    r"[\u1100-\u11ff\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef"
    r"\U00020000-\U0003ffff]"
)
"""Characters of Chinese, Japanese and Korean, and their punctuation, which are written without spaces."""
_STARRED = re.compile(rf"{_CJK}\*|\*{_CJK}")
_IS_CJK = re.compile(_CJK)

_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def parsed(text: str) -> list[Token]:
    """Return the tokens of a text; formulas are of type ``formula``, references to footnotes of type ``note``."""
    has_notes = "[^" in text
    if has_notes:
        text = _NOTE_TEXT.sub(r"\1 ", text)
    has_stars = _STARRED.search(text) is not None
    return _parser(_LINK.search(text) is not None, "$" in text, has_notes, has_stars).parse(text)


@cache
def _parser(has_links: bool, has_formulas: bool, has_notes: bool, has_stars: bool) -> MarkdownIt:  # noqa: FBT001
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"linkify": has_links}).enable(["table", "strikethrough"])
    parser.validateLink = lambda url: True  # type: ignore[method-assign]  # noqa: ARG005 - ``inline`` validates them
    if has_links and parser.linkify is not None:
        parser.enable("linkify")
        parser.linkify.set({"fuzzy_link": False, "fuzzy_email": False, "fuzzy_ip": False})
        parser.linkify.add("//", None).add("ftp:", None)
    if has_formulas:
        parser.inline.ruler.before("escape", "formula", _formula)
    if has_notes:
        parser.inline.ruler.before("link", "note", _note)
    if has_stars:
        parser.inline.ruler.before("emphasis", "stars", _stars)
    return parser


def _stars(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - markdown-it calls it
    """Read stars next to a character of Chinese, Japanese or Korean.

    CommonMark lets stars between a letter and punctuation begin or end nothing, because there would be a space in other
    scripts: ``これは**「太字」**です``.
    """
    if silent or state.src[state.pos] != "*":
        return False
    from markdown_it.rules_inline.state_inline import Delimiter

    scanned = state.scanDelims(state.pos, True)  # noqa: FBT003 - the name of the parameter differs between versions
    before = state.src[state.pos - 1] if state.pos else " "
    after = state.src[state.pos + scanned.length : state.pos + scanned.length + 1] or " "
    opens = scanned.can_open or bool(_IS_CJK.match(before) and not after.isspace())
    closes = scanned.can_close or bool(_IS_CJK.match(after) and not before.isspace())
    for _ in range(scanned.length):
        state.push("text", "", 0).content = "*"
        place = len(state.tokens) - 1
        state.delimiters.append(Delimiter(ord("*"), scanned.length, place, -1, opens, closes))
    state.pos += scanned.length
    return True


def _formula(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - markdown-it calls it
    found = _FORMULA.match(state.src, state.pos)
    before = state.src[state.pos - 1] if state.pos else ""
    if found is None or before.isalnum() or before in ("$", "\\"):
        return False
    text = formula_text(found["display"] or found["inline"])
    if text is None:
        return False
    if not silent:
        state.push("formula", "", 0).content = text
    state.pos = found.end()
    return True


def _note(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - markdown-it calls it
    found = _NOTE.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        state.push("note", "", 0).content = found[1].translate(_SUPERSCRIPT)
    state.pos = found.end()
    return True
