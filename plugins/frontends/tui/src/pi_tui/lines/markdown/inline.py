"""Conversion of a paragraph's content (emphasis, code, links and line breaks) to runs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from attrs import evolve, frozen

from pi_hookspecs import Run
from pi_tui.view.clean import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Diagrams", "Ink", "inline_lines"]

Diagrams: TypeAlias = Literal["off", "final", "streaming"]
"""The setting ``markdown.mermaid``."""

_SAFE = ("http://", "https://", "mailto:")

_HOST = re.compile(r"(?:\w+://)?(?:[^/@\s]*@)?((?:[\w-]+\.)+[a-z]{2,})(?::\d+)?(?:[/?#]|\Z)", re.IGNORECASE)


@frozen
class Ink:
    """The style of plain text, and the directory whose files may be links.

    Attributes:
        style: A run whose text does not matter.
        cwd: Files below this directory may be links.
        highlight: Whether code is highlighted; False while it grows and is laid out in every frame.
        diagrams: When diagrams in Mermaid are drawn: once the text is complete, as soon as their fence is, or never.
        joined: Whether the lines of a paragraph are one text, as in a file; False keeps them, as in an answer.
    """

    style: Run = Run("")  # noqa: RUF009 - a tuple
    cwd: str = ""
    highlight: bool = True
    joined: bool = False
    diagrams: Diagrams = "final"

    def with_style(self, **fields: Any) -> Ink:
        """Return a copy with a changed style."""
        return evolve(self, style=self.style._replace(**fields))

    def run(self, text: str, **fields: Any) -> Run:
        """Return a run in the style; its text is cleaned, since the parser decodes entities such as ``&#x202e;``."""
        return self.style._replace(text=_clean(text), **fields)


def _clean(text: str) -> str:
    return clean(text).replace("\n", " ")


def inline_lines(node: Any, ink: Ink) -> list[list[Run]]:
    """Return the runs of an inline node (a ``SyntaxTreeNode``), one list for each line of the source."""
    lines: list[list[Run]] = [[]]
    for run in _runs(node.children, ink):
        if run is None:
            lines.append([])
        elif run.text:
            lines[-1].append(run)
    return lines


def _runs(nodes: Sequence[Any], ink: Ink) -> Iterator[Run | None]:
    """Yield runs, and None for a line break."""
    for node in nodes:
        kind = node.type
        if kind == "softbreak" and ink.joined:
            yield ink.run(" ")
        elif kind in ("softbreak", "hardbreak"):
            yield None
        elif kind == "code_inline":
            yield ink.run(node.content, role="mdCode")
        elif kind == "note":
            yield ink.run(node.content, role="mdLink")
        elif kind == "link":
            yield from _link(node, ink)
        elif kind == "image":
            yield ink.run(f"[image: {node.content or 'no description'}]", role="mdLink")
            yield ink.run(f" ({node.attrs.get('src', '')})", role="mdLinkUrl")
        elif kind == "html_inline" and node.content.startswith("<!--"):
            continue
        elif kind in _EMPHASIS:
            yield from _runs(node.children, evolve(ink, style=_EMPHASIS[kind](ink.style)))
        else:
            yield ink.run(node.content)


def _strong(style: Run) -> Run:
    return style._replace(bold=True)


def _em(style: Run) -> Run:
    return style._replace(italic=not style.italic)


def _struck(style: Run) -> Run:
    return style._replace(strike=True)


_EMPHASIS = {"strong": _strong, "em": _em, "s": _struck}


def _link(node: Any, ink: Ink) -> Iterator[Run | None]:
    address = _clean(str(node.attrs.get("href", "")))
    link = address if _is_safe(address, ink.cwd) else None
    inner = ink.with_style(role="mdLink", underline=True, link=link)
    runs = [*_runs(node.children, inner)]
    text = "".join([run.text for run in runs if run is not None])
    if _host(text) not in ("", _host(address)):  # the text looks like the address of another host
        yield inner.run(address)
        return
    yield from runs
    if node.markup != "linkify" and text not in (address, address.removeprefix("mailto:")):
        yield ink.run(f" ({address})", role="mdLinkUrl", link=link)


def _is_safe(address: str, cwd: str) -> bool:
    if address.lower().startswith(_SAFE):
        return True
    path = address.removeprefix("file://")
    return bool(cwd) and path != address and path.startswith(cwd.rstrip("/") + "/") and ".." not in path.split("/")


def _host(address: str) -> str:
    found = _HOST.match(address.strip())
    return found[1].lower() if found is not None else ""
