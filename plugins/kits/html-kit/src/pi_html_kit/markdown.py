"""Renders Markdown as GitHub displays it: no scripts, nothing to load, no links but http, https and mailto."""

from __future__ import annotations

import re
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

from pi_html_kit.html_text import Html, clean, element, escaped, tag
from pi_html_kit.maths import add_maths
from pi_terminal_kit.diagrams import drawn_diagram, is_diagram

if TYPE_CHECKING:
    from collections.abc import MutableMapping, Sequence

    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token
    from markdown_it.utils import OptionsDict

__all__ = ["code_block", "markdown"]

_SAFE = re.compile(r"(?:https?://|mailto:)[^\s\x00-\x1f]+", re.IGNORECASE)
_PLAIN = re.compile(r"(?:[^\W\d_][\w ,;.:'\"()?!%/@…-]*)?")
"""One line without Markdown syntax, which is rendered ten times as fast: most messages of users."""
_TASK = re.compile(r"\[([ xX])\]\s+")
_PARAGRAPH = element("p")
_DIAGRAM_COLUMNS = 110
_LONGEST = 50_000
"""Maximum characters; a longer text is hardly prose, takes long to parse, and is rendered as plain text."""


def markdown(text: str) -> Html:
    """Return a Markdown text rendered; as plain text where that fails."""
    text = clean(text).strip("\n")
    if len(text) <= _LONGEST:
        if "_" not in text and _PLAIN.fullmatch(text):
            return _PARAGRAPH(text)
        try:
            return Html(_renderer().render(text))
        except (RecursionError, ValueError, IndexError):  # excessive nesting, or a bug of the library
            pass
    return tag("pre", Html(escape(text)), class_="plain")


def code_block(text: str, language: str = "") -> Html:
    """Return a block of code; lines of a diff are coloured."""
    text = clean(text).rstrip("\n")
    badge = tag("span", language, class_="lang") if language else None
    is_diff = language.lower() in ("diff", "patch")
    body = diff_lines(text) if is_diff else escaped(text)
    code = tag("code", body, data_lang=None if is_diff else language or None)
    return tag("div", badge, tag("pre", code), class_="code")


def diff_lines(text: str) -> Html:
    """Return the lines of a diff, each in the colour of its kind."""
    return Html("\n".join(_diff_line(line) for line in text.split("\n")))


def _diff_line(line: str) -> Html:
    if line.startswith("+") and not line.startswith("+++ "):
        return tag("ins", line)
    if line.startswith("-") and not line.startswith("--- "):
        return tag("del", line)
    return tag("span", line, class_="hunk") if line.startswith("@@") else escaped(line)


@cache
def _renderer() -> MarkdownIt:
    from markdown_it import MarkdownIt

    renderer = MarkdownIt("js-default", {"html": False, "breaks": True, "maxNesting": 40})
    renderer.validateLink = lambda url: _SAFE.fullmatch(url) is not None  # type: ignore[method-assign]
    rules = {"link_open": _link, "image": _image, "fence": _fence, "code_block": _fence, "task": _task}
    for name, rule in rules.items():
        renderer.add_render_rule(name, rule)
    renderer.core.ruler.push("tasks", _mark_tasks)
    add_maths(renderer)
    for name in ("table_open", "table_close"):
        renderer.add_render_rule(name, _table)
    for name in ("th_open", "td_open"):
        renderer.add_render_rule(name, _cell)
    return renderer


def _mark_tasks(state: StateCore) -> None:
    """Turn list items that begin with ``[ ]`` or ``[x]`` into tasks, as GitHub does."""
    from markdown_it.token import Token

    for place, token in enumerate(state.tokens):
        children = token.children if token.type == "inline" else None
        if not children or place < 2 or state.tokens[place - 2].type != "list_item_open":  # noqa: PLR2004 - li, p, text
            continue
        found = _TASK.match(children[0].content) if children[0].type == "text" else None
        if found is None:
            continue
        state.tokens[place - 2].attrSet("class", "task")
        children[0].content = children[0].content[found.end() :]
        children.insert(0, Token("task", "", 0, meta={"done": found[1] != " "}))


def _task(
    self: RendererHTML, tokens: Sequence[Token], place: int, _options: OptionsDict, _env: MutableMapping[str, Any]
) -> str:
    del self
    done = bool(tokens[place].meta["done"])
    return tag("input", type="checkbox", disabled=True, checked=done, aria_label="done" if done else "to do")


def _link(
    self: RendererHTML, tokens: Sequence[Token], place: int, _options: OptionsDict, _env: MutableMapping[str, Any]
) -> str:
    """Render a link with its address, without opener and referrer."""
    del self
    address = str(tokens[place].attrGet("href") or "")
    start = tag("a", href=address, title=address, target="_blank", rel="noopener noreferrer")
    return start.removesuffix("</a>")


def _image(
    self: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: MutableMapping[str, Any]
) -> str:
    """Render an image as a link to it: loading it would reveal the reader to its host."""
    token = tokens[place]
    address = str(token.attrGet("src") or "")
    text = self.renderInlineAsText(token.children or [], options, env) or address
    link = tag("a", f"🖼 {text}", href=address, title=address, target="_blank", rel="noopener noreferrer")
    # Links cannot be nested.
    depth = sum(each.nesting for each in tokens[:place] if each.type in ("link_open", "link_close"))
    return escaped(f"🖼 {text}") if depth else link


def _fence(
    self: RendererHTML, tokens: Sequence[Token], place: int, _options: OptionsDict, _env: MutableMapping[str, Any]
) -> str:
    del self
    words = tokens[place].info.split()
    if words and is_diagram(words[0]) and (drawing := drawn_diagram(tokens[place].content, _DIAGRAM_COLUMNS)):
        source = tag(
            "details", tag("summary", "Source of the diagram"), tag("pre", tokens[place].content), class_="more"
        )
        return tag("div", tag("pre", drawing), source, class_="diagram wide")
    return code_block(tokens[place].content, words[0][:40] if words else "")


def _table(
    self: RendererHTML, tokens: Sequence[Token], place: int, _options: OptionsDict, _env: MutableMapping[str, Any]
) -> str:
    """Render a table that scrolls when it is too wide."""
    del self
    return '<div class="wide"><table>' if tokens[place].nesting > 0 else "</table></div>"


def _cell(
    self: RendererHTML, tokens: Sequence[Token], place: int, _options: OptionsDict, _env: MutableMapping[str, Any]
) -> str:
    """Render a cell's alignment as a class: the page's policy forbids inline styles."""
    del self
    token = tokens[place]
    aligned = str(token.attrGet("style") or "").removeprefix("text-align:")
    return tag(token.tag, class_=aligned if aligned in ("right", "center") else None).removesuffix(f"</{token.tag}>")
