"""The head of the page: the session's name and facts, its total cost, system prompt and tools."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from attrs import define, field

from pi_hookspecs import (
    AssistantMessage,
    BranchSummaryEntry,
    CompactionEntry,
    MessageEntry,
    ToolResultMessage,
    UsageEntry,
    UserMessage,
    text_of,
)
from pi_html_kit.amounts import cost, moment, tokens
from pi_html_kit.html_text import Html, join, tag
from pi_html_kit.tools import as_json
from pi_terminal_kit.words import session_title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_export_html.outline import Outline
    from pi_hookspecs import ExportRequest, SessionEntry, SessionView, Tool, Usage

__all__ = ["about", "title"]


def title(session: SessionView, outline: Outline) -> str:
    """Return the page's title: the session's name, or what it is called in lists."""
    messages = (each.message for each in outline.entries if isinstance(each, MessageEntry))
    first = next((text_of(each.content) for each in messages if isinstance(each, UserMessage)), "")
    return session_title(session.name, first) if session.name or first.strip() else f"Session {session.id}"


def about(session: SessionView, outline: Outline, request: ExportRequest) -> Html:
    """Return the head of the page."""
    totals = _Totals()
    for entry in outline.entries:
        totals.add(entry)
    return tag(
        "section",
        tag("h1", title(session, outline)),
        tag("dl", join(_facts(session, outline, totals)), class_="facts"),
        _prompt(request.system_prompt),
        _tools(request.tools),
        class_="about",
    )


def _facts(session: SessionView, outline: Outline, totals: _Totals) -> list[Html]:
    header, entries = session.header, outline.entries
    facts: list[tuple[str, str | None]] = [
        ("Session", tag("code", header.id)),
        ("Folder", tag("code", header.cwd)),
        ("Forked from", tag("code", header.parent_session) if header.parent_session else None),
        ("Begun", moment(header.timestamp)),
        ("Last entry", moment(entries[-1].timestamp) if entries else None),
        ("Models" if len(totals.models) > 1 else "Model", ", ".join(name for name, _ in totals.models.most_common())),
        ("Messages", totals.messages()),
        ("Tokens", totals.tokens()),
        ("Cost", cost(totals.dollars) if totals.dollars else None),
    ]
    return [tag("div", tag("dt", name), tag("dd", value)) for name, value in facts if value]


def _prompt(system_prompt: str | None) -> Html | None:
    if not system_prompt:
        return None
    return tag("details", tag("summary", "System prompt"), tag("pre", system_prompt), class_="fold")


def _tools(tools: Sequence[Tool] | None) -> Html | None:
    if not tools:
        return None
    offered = [
        tag(
            "div",
            tag("dt", tool.name),
            tag(
                "dd",
                tool.description,
                tag("details", tag("summary", "parameters"), tag("pre", as_json(tool.parameters))),
            ),
        )
        for tool in tools
    ]
    body = tag("dl", join(offered), class_="offered")
    return tag("details", tag("summary", f"Tools ({len(offered)})"), body, class_="fold")


@define
class _Totals:
    """Counts the entries of all branches: an abandoned branch still cost its tokens."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    dollars: float = 0.0
    models: Counter[str] = field(factory=Counter)
    users: int = 0
    answers: int = 0
    calls: int = 0

    def add(self, entry: SessionEntry) -> None:
        """Count an entry."""
        if isinstance(entry, CompactionEntry | BranchSummaryEntry | UsageEntry):
            self._spend(entry.usage)
        message = entry.message if isinstance(entry, MessageEntry) else None
        if isinstance(message, AssistantMessage):
            self.answers += 1
            self.calls += len(message.tool_calls)
            self.models[f"{message.provider}/{message.model}"] += 1
            self._spend(message.usage)
        elif isinstance(message, ToolResultMessage):
            self._spend(message.usage)
        elif isinstance(message, UserMessage):
            self.users += 1

    def messages(self) -> str:
        """Return the numbers of messages by role."""
        answers, calls = ("" if count == 1 else "s" for count in (self.answers, self.calls))
        return f"{self.users:,} of yours, {self.answers:,} answer{answers}, {self.calls:,} tool call{calls}"

    def tokens(self) -> str:
        """Return the tokens of all requests."""
        parts = (
            ("in", self.input),
            ("out", self.output),
            ("from cache", self.cache_read),
            ("to cache", self.cache_write),
        )
        return ", ".join(f"{tokens(count)} {what}" for what, count in parts if count > 0)

    def _spend(self, usage: Usage | None) -> None:
        if usage is not None:  # a sum of values would make two of them for each answer
            self.input += usage.input
            self.output += usage.output
            self.cache_read += usage.cache_read
            self.cache_write += usage.cache_write
            self.dollars += usage.cost.total
