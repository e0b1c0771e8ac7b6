"""Markdown as markup, with nothing in it that runs, loads or leads anywhere but the web and a mail program."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from pi_export_html._html import Html, clean, shown, tag

if TYPE_CHECKING:
    from collections.abc import MutableMapping, Sequence

    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token
    from markdown_it.utils import OptionsDict

__all__ = ["code_block", "markdown"]

_SAFE = re.compile(r"(?:https?://|mailto:)[^\s\x00-\x1f]+", re.IGNORECASE)
_PLAIN = re.compile(r"(?:[^\W\d_][\w ,;.:'\"()?!%/@…-]*)?")
"""One line of letters without a sign that means anything in Markdown: most messages of users, ten times as fast."""
_LONGEST = 50_000
"""Characters; what is longer is hardly prose, takes long to look through, and is shown as it stands."""


def markdown(text: str) -> Html:
    """Return a Markdown text rendered; one that cannot be is shown as it stands."""
    text = clean(text).strip("\n")
    if len(text) <= _LONGEST:
        if "_" not in text and _PLAIN.fullmatch(text):
            return tag("p", text)
        try:
            return Html(_renderer().render(text))
        except (RecursionError, ValueError, IndexError):  # nested beyond all sense, or a case that the library misses
            pass
    return tag("pre", text, class_="plain")


def code_block(text: str, language: str = "") -> Html:
    """Return a block of code; lines of a diff are coloured."""
    text = clean(text).rstrip("\n")
    badge = tag("span", language, class_="lang") if language else None
    body = diff_lines(text) if language.lower() in ("diff", "patch") else shown(text)
    return tag("div", badge, tag("pre", tag("code", body)), class_="code")


def diff_lines(text: str) -> Html:
    """Return the lines of a diff, each in the colour of what happened to it."""
    return Html("\n".join(_diff_line(line) for line in text.split("\n")))


def _diff_line(line: str) -> Html:
    if line.startswith("+") and not line.startswith("+++ "):
        return tag("ins", line)
    if line.startswith("-") and not line.startswith("--- "):
        return tag("del", line)
    return tag("span", line, class_="hunk") if line.startswith("@@") else shown(line)


@cache
def _renderer() -> MarkdownIt:
    from markdown_it import MarkdownIt

    renderer = MarkdownIt("js-default", {"html": False, "breaks": True, "maxNesting": 40})
    renderer.validateLink = lambda url: _SAFE.fullmatch(url) is not None  # type: ignore[method-assign]
    for name, rule in (("link_open", _link), ("image", _image), ("fence", _fence), ("code_block", _fence)):
        renderer.add_render_rule(name, rule)
    for name in ("table_open", "table_close"):
        renderer.add_render_rule(name, _table)
    for name in ("th_open", "td_open"):
        renderer.add_render_rule(name, _cell)
    return renderer


def _link(
    self: RendererHTML, tokens: Sequence[Token], place: int, _options: OptionsDict, _env: MutableMapping[str, Any]
) -> str:
    """Write where a link leads; neither what is there nor who sent the reader is told to the other side."""
    del self
    address = str(tokens[place].attrGet("href") or "")
    start = tag("a", href=address, title=address, target="_blank", rel="noopener noreferrer")
    return start.removesuffix("</a>")


def _image(
    self: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: MutableMapping[str, Any]
) -> str:
    """Write an image as a link to it: loading it would tell its host who reads this, and when."""
    token = tokens[place]
    address = str(token.attrGet("src") or "")
    text = self.renderInlineAsText(token.children or [], options, env) or address
    link = tag("a", f"🖼 {text}", href=address, title=address, target="_blank", rel="noopener noreferrer")
    # Inside a link there is a link already.
    depth = sum(each.nesting for each in tokens[:place] if each.type in ("link_open", "link_close"))
    return shown(f"🖼 {text}") if depth else link


def _fence(
    self: RendererHTML, tokens: Sequence[Token], place: int, _options: OptionsDict, _env: MutableMapping[str, Any]
) -> str:
    del self
    words = tokens[place].info.split()
    return code_block(tokens[place].content, words[0][:40] if words else "")


def _table(
    self: RendererHTML, tokens: Sequence[Token], place: int, _options: OptionsDict, _env: MutableMapping[str, Any]
) -> str:
    """Let a wide table scroll on its own."""
    del self
    return '<div class="wide"><table>' if tokens[place].nesting > 0 else "</table></div>"


def _cell(
    self: RendererHTML, tokens: Sequence[Token], place: int, _options: OptionsDict, _env: MutableMapping[str, Any]
) -> str:
    """Write how a cell is aligned as a class: the page's policy allows no style of an element's own."""
    del self
    token = tokens[place]
    aligned = str(token.attrGet("style") or "").removeprefix("text-align:")
    return tag(token.tag, class_=aligned if aligned in ("right", "center") else None).removesuffix(f"</{token.tag}>")
