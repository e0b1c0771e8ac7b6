"""The exporter of the format ``markdown``: the conversation of the current branch, as text to read or to paste.

Escape sequences in it are made visible, because people read such files with ``cat`` too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pi_core import clean_text
from pi_hookspecs import (
    AssistantMessage,
    BashExecutionMessage,
    CompactionEntry,
    MessageEntry,
    ToolResultMessage,
    UserMessage,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_hookspecs import AgentMessage, ExportRequest, SessionEntry, SessionView

__all__ = ["MarkdownExporter"]


class MarkdownExporter:
    """Implements ``Exporter``. Images and thinking are left out."""

    format = "markdown"
    suffixes = (".md", ".markdown")

    def export(self, session: SessionView, _: ExportRequest) -> bytes:
        """Return the conversation."""
        parts = [f"# {session.name or 'Session ' + session.id}"]
        for entry in session.branch():
            parts += _entry(entry)
        return (clean_text("\n\n".join(parts)) + "\n").encode("utf-8", "replace")


def _entry(entry: SessionEntry) -> Iterator[str]:
    if isinstance(entry, CompactionEntry):
        yield f"## Summary of what came before\n\n{entry.summary.strip()}"
    elif isinstance(entry, MessageEntry):
        yield from _message(entry.message)


def _message(message: AgentMessage) -> Iterator[str]:
    if isinstance(message, UserMessage):
        yield f"## User\n\n{text_of(message.content).strip()}"
    elif isinstance(message, AssistantMessage):
        if text := message.text.strip():
            yield f"## {message.model}\n\n{text}"
        for call in message.tool_calls:
            arguments = "\n".join(f"{name}: {value}" for name, value in call.arguments.items())
            yield f"**{call.name}**\n\n{_fenced(arguments)}"
        if message.error_message:
            yield f"**Error:** {message.error_message}"
    elif isinstance(message, ToolResultMessage):
        yield _fenced(text_of(message.content))
    elif isinstance(message, BashExecutionMessage):
        yield f"## User\n\n{_fenced(f'$ {message.command}', message.output)}"


def _fenced(*texts: str) -> str:
    """Return texts as a block of code, whose fence is longer than any in it."""
    text = "\n".join(each.strip("\n") for each in texts)
    fence = "`" * max(3, *(len(each) + 1 for each in re.findall("`+", text)), 0)
    return f"{fence}text\n{text}\n{fence}"
