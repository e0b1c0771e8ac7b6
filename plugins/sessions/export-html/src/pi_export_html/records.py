"""A record of system prompt and tools: one line with the changes, and the full text folded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_html_kit.html_text import Html, join, tag
from pi_html_kit.tools import as_json, fragments, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pi_hookspecs import SystemMessage

__all__ = ["record_fold"]


def record_fold(record: SystemMessage) -> Html:
    """Return the full record, folded behind a line with its changes."""
    return tag("details", tag("summary", _line(record)), join(list(_parts(record))), class_="fold")


def _line(record: SystemMessage) -> str:
    sections = record.sections or {}
    changes = (
        ("System prompt", [name for name, text in sections.items() if text is not None]),
        ("Removed from it", [name for name, text in sections.items() if text is None]),
        ("Tools", _names(record.tools_added)),
        ("Tools removed", _names(record.tools_removed)),
    )
    return ". ".join(f"{what}: {', '.join(names)}" for what, names in changes if names) or "System prompt"


def _parts(record: SystemMessage) -> Iterator[Html]:
    if record.content:
        yield fragments(record.content, plain)
    for text in (record.sections or {}).values():
        if isinstance(text, str):
            yield tag("pre", text)
    if record.tools_added:
        yield tag("pre", as_json(record.tools_added))


def _names(tools: Iterable[Any] | None) -> list[str]:
    return [str(each.get("name", "?")) for each in tools or () if isinstance(each, dict)]
