"""The tree of a session at the page's side: every entry in one line, and what kind it is for the filters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_export_html._html import Html, join, tag
from pi_export_html._tools import call_line
from pi_hookspecs import (
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryEntry,
    CompactionEntry,
    CustomEntry,
    CustomMessageEntry,
    LabelEntry,
    MessageEntry,
    ModelChangeEntry,
    SessionInfoEntry,
    ThinkingLevelChangeEntry,
    ToolResultMessage,
    UserMessage,
    text_of,
)

if TYPE_CHECKING:
    from pi_export_html._outline import Outline
    from pi_hookspecs import AgentMessage, SessionEntry

__all__ = ["FILTERS", "sidebar"]

FILTERS = {
    "default": "Default",
    "no-tools": "No tools",
    "user": "User only",
    "labeled": "Labeled",
    "all": "All",
}
"""What the tree may be limited to (pi.md 14.4, tree view)."""

_DEEPEST = 12
_LONGEST = 120


def sidebar(outline: Outline) -> Html:
    """Return the tree."""
    options = [tag("option", told, value=name) for name, told in FILTERS.items()]
    tools = tag(
        "div",
        tag("input", id="find", type="search", placeholder="Search ( / )", aria_label="Search the tree"),
        tag("select", join(options), id="filter", aria_label="What the tree shows"),
        class_="tools",
    )
    items = [_item(outline, number, depth) for number, depth in outline.walk()]
    return tag("nav", tools, tag("ul", join(items), id="tree", data_filter="default"), aria_label="Tree of the session")


def _item(outline: Outline, number: int, depth: int) -> Html:
    kind, sign, told = _line(outline, number, outline.entries[number])
    label = outline.labels.get(number)
    classes = [kind, f"d{min(depth, _DEEPEST)}"]
    classes += ["on"] if number in outline.active else []
    classes += ["leaf"] if number == outline.leaf else []
    classes += ["labeled"] if label else []
    classes += ["fork"] if len(outline.children.get(outline.parents[number], ())) > 1 else []
    link = tag("a", tag("i", sign), tag("mark", label) if label else None, told, href=f"#e{number}")
    return tag("li", link, class_=" ".join(classes), data_n=number, data_p=outline.parents[number])


def _line(outline: Outline, number: int, entry: SessionEntry) -> tuple[str, str, str]:
    """Return an entry's kind, its sign and its text."""
    if isinstance(entry, MessageEntry):
        return _message_line(outline, number, entry.message)
    if isinstance(entry, CompactionEntry):
        return "t-summary", "≡", "compaction"
    if isinstance(entry, BranchSummaryEntry):
        return "t-summary", "≡", f"left branch: {_short(entry.summary)}"
    if isinstance(entry, CustomMessageEntry):
        return "t-custom", "◇", f"{entry.custom_type}: {_short(text_of(entry.content))}"
    if isinstance(entry, ModelChangeEntry):
        return "t-note", "·", f"model {entry.model_id}"
    if isinstance(entry, ThinkingLevelChangeEntry):
        return "t-note", "·", f"thinking {entry.thinking_level}"
    if isinstance(entry, LabelEntry):
        return "t-note", "·", f"label {entry.label or 'taken away'}"
    if isinstance(entry, SessionInfoEntry):
        return "t-note", "·", f"name {entry.name or '(none)'}"
    if isinstance(entry, CustomEntry):
        return "t-note", "·", entry.custom_type
    return "t-note", "·", entry.type


def _message_line(outline: Outline, number: int, message: AgentMessage) -> tuple[str, str, str]:
    if isinstance(message, UserMessage):
        return "t-user", "❯", _short(message.text) or "(image)"
    if isinstance(message, AssistantMessage):
        text = _short(message.text)
        if message.error_message and not text:
            return "t-answer t-error", "✕", _short(message.error_message)
        return ("t-answer" if text else "t-answer t-silent"), "●", text or "(tool calls)"
    if isinstance(message, ToolResultMessage):
        found = outline.calls.get(number)
        told = call_line(found[1]) if found is not None else _short(message.text)
        sign = "✕" if message.is_error else "⚙"
        return ("t-tool t-error" if message.is_error else "t-tool"), sign, f"{message.tool_name} {_short(told)}"
    if isinstance(message, BashExecutionMessage):
        return "t-tool", "$", _short(message.command)
    return (
        "t-custom",
        "◇",
        _short(text_of(getattr(message, "content", getattr(message, "summary", "")))) or message.role,
    )


def _short(text: str) -> str:
    """Return the beginning of a text in one line."""
    line = " ".join(text[: 4 * _LONGEST].split()).lstrip("#> ")
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
