"""Formulas in LaTeX as MathML; one that cannot be read stays as it was written.

Nothing of the library's markup is used as it is: elements and attributes are written anew, those that are known.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import unescape
from typing import TYPE_CHECKING

from pi_html_kit.html_text import Html, escaped, tag

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline

__all__ = ["add_maths", "formula"]

_ELEMENTS = frozenset(
    [
        "math",
        "mrow",
        "mi",
        "mn",
        "mo",
        "mtext",
        "mspace",
        "mfrac",
        "msqrt",
        "mroot",
        "msub",
        "msup",
        "msubsup",
        "munder",
        "mover",
        "munderover",
        "mtable",
        "mtr",
        "mtd",
        "mstyle",
        "mpadded",
        "mphantom",
        "menclose",
        "mmultiscripts",
        "none",
        "mprescripts",
    ]
)
_ATTRIBUTES = frozenset(
    [
        "accent",
        "accentunder",
        "columnalign",
        "columnlines",
        "columnspacing",
        "depth",
        "display",
        "displaystyle",
        "fence",
        "form",
        "height",
        "largeop",
        "linethickness",
        "lspace",
        "mathsize",
        "mathvariant",
        "maxsize",
        "minsize",
        "movablelimits",
        "notation",
        "rowlines",
        "rowspacing",
        "rspace",
        "scriptlevel",
        "separator",
        "stretchy",
        "symmetric",
        "voffset",
        "width",
    ]
)
_VALUE = re.compile(r"[\w .%+-]{0,40}")
_LONGEST = 2000
"""Characters of a formula that is drawn."""

_MOST_LINES = 60

_INLINE = re.compile(
    r"\$\$(?P<display>(?:[^$\\]|\\.)+?)\$\$"
    r"|(?<![\w$\\])\$(?P<dollar>(?![\s$])(?:[^$\n\\]|\\.)*?(?<!\s))\$(?![\w$])"
    r"|\\\((?P<round>.{1,600}?)\\\)"
    r"|\\\[(?P<square>.{1,600}?)\\\]",
    re.DOTALL,
)
_CLOSING = {"$$": "$$", "\\[": "\\]"}


@lru_cache(maxsize=256)
def formula(source: str, *, is_block: bool = False) -> Html:
    """Return a formula drawn; as code where it cannot be read."""
    found = _drawn(source, "block" if is_block else "inline") if len(source) <= _LONGEST else None
    if found is None:
        return tag("code", source, class_="math")
    return tag("div", found, class_="math") if is_block else found


def _drawn(source: str, display: str) -> Html | None:
    from latex2mathml.converter import convert_to_element

    try:
        root = convert_to_element(source, display=display)
        return _written(root)
    except Exception:  # noqa: BLE001 - whatever a model's text causes in the library
        return None


def _written(element: Element) -> Html:
    """Return an element as markup, without names and attributes that are not known."""
    name = element.tag if element.tag in _ELEMENTS else "mrow"
    known = {key: value for key, value in element.attrib.items() if key in _ATTRIBUTES and _VALUE.fullmatch(value)}
    text = escaped(unescape(element.text)) if element.text else Html()
    return tag(name, text, *[_written(child) for child in element], **known)


def add_maths(renderer: MarkdownIt) -> None:
    """Teach a parser of Markdown formulas, in a line and as blocks."""
    renderer.inline.ruler.before("escape", "math_inline", _inline)
    renderer.block.ruler.before("fence", "math_block", _block, {"alt": ["paragraph", "blockquote", "list"]})
    renderer.add_render_rule("math_inline", lambda _self, tokens, place, *_: formula(tokens[place].content))
    renderer.add_render_rule(
        "math_block", lambda _self, tokens, place, *_: formula(tokens[place].content, is_block=True)
    )


def _inline(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - the library's signature
    if state.src[state.pos] not in "$\\":
        return False
    found = _INLINE.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        token = state.push("math_inline", "math", 0)
        token.content = next(filter(None, found.groups())).strip()
    state.pos = found.end()
    return True


def _block(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 - the library's signature
    """Take lines from one that begins with ``$$`` or a bracket to the one that ends with its counterpart."""
    first = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]].strip()
    closing = _CLOSING.get(first[:2])
    if closing is None:
        return False
    lines = [first[2:]]
    line = start
    while not lines[-1].rstrip().endswith(closing):
        line += 1
        if line >= end or line - start > _MOST_LINES or state.sCount[line] < state.blkIndent:
            return False
        lines.append(state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]])
    if not silent:
        token = state.push("math_block", "math", 0)
        token.block = True
        token.content = "\n".join(lines).rstrip().removesuffix(closing).strip()
        token.map = [start, line + 1]
        state.line = line + 1
    return True
