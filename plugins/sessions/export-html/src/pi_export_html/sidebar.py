"""The sidebar with the session's tree: every entry in one line, with its kind for the filters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from pi_hookspecs import (
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryEntry,
    BranchSummaryMessage,
    CompactionEntry,
    CompactionSummaryMessage,
    CustomEntry,
    CustomMessage,
    CustomMessageEntry,
    LabelEntry,
    MessageEntry,
    ModelChangeEntry,
    SessionInfoEntry,
    SystemMessage,
    ThinkingLevelChangeEntry,
    ToolResultMessage,
    UnknownMessage,
    UserMessage,
    text_of,
)
from pi_html_kit.html_text import Html, escaped, join, tag
from pi_html_kit.tools import call_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pi_export_html.outline import Outline
    from pi_hookspecs import SessionEntry

__all__ = ["FILTERS", "sidebar"]

FILTERS = {
    "default": "Default",
    "no-tools": "No tools",
    "user": "User only",
    "labeled": "Labeled",
    "all": "All",
}
"""Filters of the tree."""

_DEEPEST = 12
_LONGEST = 120


def sidebar(outline: Outline) -> Iterator[Html]:
    """Yield the tree from its start to its end, each entry alone."""
    options = [tag("option", text, value=name) for name, text in FILTERS.items()]
    tools = tag(
        "div",
        tag("input", id="find", type="search", placeholder="Search ( / )", aria_label="Search the tree"),
        tag("select", join(options), id="filter", aria_label="What the tree shows"),
        class_="tools",
    )
    yield Html(f'<nav aria-label="Tree of the session">{tools}<ul id="tree" data-filter="default">')
    for number, depth in outline.walk():
        yield _item(outline, number, depth)
    yield Html("</ul></nav>")


def _item(outline: Outline, number: int, depth: int) -> Html:
    kind, sign, text = _line(outline, number, outline.entries[number])
    parent, label = outline.parents[number], outline.labels.get(number)
    on = " on" if number in outline.active else ""
    leaf = " leaf" if number == outline.leaf else ""
    labeled, mark = (" labeled", f"<mark>{escaped(label)}</mark>") if label else ("", "")
    fork = " fork" if len(outline.children[parent]) > 1 else ""
    classes = f"{kind} d{min(depth, _DEEPEST)}{on}{leaf}{labeled}{fork}"
    link = f'<a href="#e{number}"><i>{escaped(sign)}</i>{mark}{escaped(text)}</a>'
    return Html(f'<li class="{classes}" data-n="{number}" data-p="{parent}">{link}</li>')


def _line(outline: Outline, number: int, entry: SessionEntry) -> _Line:
    message = entry.message if isinstance(entry, MessageEntry) else None
    if isinstance(message, ToolResultMessage):
        found = outline.calls.get(number)
        text = call_line(found[1]) if found is not None else message.text
        return _failed("t-tool", "⚙", f"{message.tool_name} {_short(text)}", failed=message.is_error)
    return _LINES.get(type(message or entry), _other)(message or entry)


def _answer(message: AssistantMessage) -> _Line:
    text = _short(message.text)
    if message.error_message and not text:
        return _failed("t-answer", "", _short(message.error_message), failed=True)
    return ("t-answer" if text else "t-answer t-silent"), "●", text or "(tool calls)"


def _failed(kind: str, sign: str, text: str, *, failed: bool) -> _Line:
    return (f"{kind} t-error", "✕", text) if failed else (kind, sign, text)


def _other(thing: Any) -> _Line:
    """Return the line of an unknown message, or of an entry that is not a message."""
    return "t-note", "·", thing.role if isinstance(thing, UnknownMessage | SystemMessage) else thing.type


def _custom(thing: CustomMessage | CustomMessageEntry) -> _Line:
    return "t-custom", "◇", f"{thing.custom_type}: {_short(text_of(thing.content))}"


def _left(thing: BranchSummaryEntry | BranchSummaryMessage) -> _Line:
    return "t-summary", "≡", f"abandoned branch: {_short(thing.summary)}"


_Line: TypeAlias = tuple[str, str, str]
"""An entry's kind, its sign and its text."""

_LINES: dict[type, Callable[[Any], _Line]] = {
    UserMessage: lambda message: ("t-user", "❯", _short(message.text) or "(image)"),  # noqa: RUF001 - a prompt's sign
    AssistantMessage: _answer,
    BashExecutionMessage: lambda message: ("t-tool", "$", _short(message.command)),
    CustomMessage: _custom,
    CustomMessageEntry: _custom,
    BranchSummaryEntry: _left,
    BranchSummaryMessage: _left,
    CompactionEntry: lambda _entry: ("t-summary", "≡", "compaction"),
    CompactionSummaryMessage: lambda _message: ("t-summary", "≡", "compaction"),
    ModelChangeEntry: lambda entry: ("t-note", "·", f"model {entry.model_id}"),
    ThinkingLevelChangeEntry: lambda entry: ("t-note", "·", f"thinking {entry.thinking_level}"),
    LabelEntry: lambda entry: ("t-note", "·", f"label {entry.label or 'removed'}"),
    SessionInfoEntry: lambda entry: ("t-note", "·", f"name {entry.name or '(none)'}"),
    CustomEntry: lambda entry: ("t-note", "·", entry.custom_type),
}


def _short(text: str) -> str:
    """Return the beginning of a text in one line."""
    line = ""
    for characters in (_LONGEST + 40, 4 * _LONGEST):  # most texts need no more than the first
        line = " ".join(text[:characters].split()).lstrip("#> ")
        if len(line) > _LONGEST:
            return f"{line[: _LONGEST - 1]}…"
        if characters >= len(text):
            break
    return line
