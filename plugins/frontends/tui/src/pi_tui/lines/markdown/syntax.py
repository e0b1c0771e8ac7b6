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

_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def parsed(text: str) -> list[Token]:
    """Return the tokens of a text; formulas are of type ``formula``, references to footnotes of type ``note``."""
    has_notes = "[^" in text
    if has_notes:
        text = _NOTE_TEXT.sub(r"\1 ", text)
    return _parser(_LINK.search(text) is not None, "$" in text, has_notes).parse(text)


@cache
def _parser(has_links: bool, has_formulas: bool, has_notes: bool) -> MarkdownIt:  # noqa: FBT001
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
    return parser


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
