"""Converts each entry of a session to one element of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from attrs import asdict, frozen

from pi_export_html.records import record_fold
from pi_hookspecs import (
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryEntry,
    BranchSummaryMessage,
    CompactionEntry,
    CompactionSummaryMessage,
    ContextEditEntry,
    CustomEntry,
    CustomMessage,
    CustomMessageEntry,
    LabelEntry,
    MessageEntry,
    ModelChangeEntry,
    SessionInfoEntry,
    SystemMessage,
    TextContent,
    ThinkingContent,
    ThinkingLevelChangeEntry,
    ToolCall,
    ToolResultMessage,
    UsageEntry,
    UserMessage,
)
from pi_html_kit.amounts import moment, seconds, tokens, usage_line
from pi_html_kit.html_text import Html, element, escaped, join, tag
from pi_html_kit.markdown import markdown
from pi_html_kit.terminal import terminal_text
from pi_html_kit.tools import as_json, folded, fragments, output, plain, result_body, tool_box

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pi_export_html.outline import Outline
    from pi_hookspecs import AgentMessage, Renderer, SessionEntry

__all__ = ["Transcript"]

_MARKDOWN = element("div", class_="md")
_WIDTH = 100
"""Width for a plugin's renderer, in columns."""


@frozen(eq=False)
class Transcript:
    """Writes the entries of a session.

    Attributes:
        outline: The session.
        renderers: Renderers of plugins' messages and entries.
    """

    outline: Outline
    renderers: Mapping[str, Renderer]

    def written(self) -> Iterator[Html]:
        """Yield each entry, those of other branches hidden."""
        return map(self._entry, range(len(self.outline.entries)))

    def _entry(self, number: int) -> Html:
        if number in self.outline.calls:  # is part of the answer that made the call
            return Html()
        entry = self.outline.entries[number]
        if isinstance(entry, MessageEntry):
            return self._message(number, entry.message)
        if isinstance(entry, CompactionEntry | BranchSummaryEntry):
            return self._summary_entry(number, entry)
        if isinstance(entry, CustomMessageEntry):
            return self._custom(number, entry.custom_type, entry, entry.content, shows=entry.display)
        rendered = self._rendered(entry.custom_type, entry) if isinstance(entry, CustomEntry) else None
        if isinstance(entry, CustomEntry) and rendered is not None:
            return self._article(number, "custom", entry.custom_type, rendered)
        return self._note(number, entry)

    def _summary_entry(self, number: int, entry: CompactionEntry | BranchSummaryEntry) -> Html:
        headline = "Summary of an abandoned branch"
        if isinstance(entry, CompactionEntry):
            headline = f"Compacted from {tokens(entry.tokens_before)} tokens"
        spent = usage_line(entry.usage) if entry.usage is not None else ""
        return self._article(number, "summary", headline, _summary(entry.summary), note=spent)

    # Messages

    def _message(self, number: int, message: AgentMessage) -> Html:
        if isinstance(message, AssistantMessage):
            return self._answer(number, message)
        if isinstance(message, SystemMessage) and message.is_record:
            return tag("div", record_fold(message), id=f"e{number}", class_=self._classes(number, "record"))
        if isinstance(message, CustomMessage):
            return self._custom(number, message.custom_type, message, message.content, shows=message.display)
        render = _RENDERERS.get(type(message), _unknown)
        return self._article(number, *render(message))

    def _answer(self, number: int, message: AssistantMessage) -> Html:
        parts = [self._block(number, block) for block in message.content]
        if message.error_message or message.stop_reason in ("error", "aborted", "length"):
            notes = {"aborted": "Stopped", "length": "Cut off at the model's output limit"}
            reason = notes.get(message.stop_reason, "Error")
            details = f": {message.error_message}" if message.error_message else ""
            parts.append(tag("p", f"{reason}{details}", class_="error"))
        took = seconds(message.duration_ms) if message.duration_ms is not None else ""
        note = " · ".join(filter(None, (f"{message.provider}/{message.model}", usage_line(message.usage), took)))
        return self._article(number, "answer", message.model, join(parts), note=note)

    def _block(self, number: int, block: Any) -> Html:
        if isinstance(block, TextContent):
            return _markdown(block.text) if block.text.strip() else Html()
        if isinstance(block, ThinkingContent):
            return _thinking(block)
        if isinstance(block, ToolCall):
            return self._call(number, block)
        return folded(as_json({"type": block.type, **block.extra}))

    def _call(self, number: int, call: ToolCall) -> Html:
        place = self.outline.results.get((number, call.id))
        entry = self.outline.entries[place] if place is not None else None
        message = entry.message if isinstance(entry, MessageEntry) else None
        result = message if isinstance(message, ToolResultMessage) else None
        return tool_box(call, result, f"e{place}" if place is not None else None)

    # Plugins' entries

    def _custom(self, number: int, custom_type: str, value: Any, content: Any, *, shows: bool) -> Html:
        body = self._rendered(custom_type, value)
        if body is None:
            body = fragments(content, _markdown)
        if not shows:
            body = tag("details", tag("summary", "only for the model"), body)
        return self._article(number, "custom", custom_type, body)

    def _rendered(self, custom_type: str, value: Any) -> Html | None:
        kind = "entry" if isinstance(value, CustomEntry) else "message"
        renderer = self.renderers.get(f"{kind}/{custom_type}") or self.renderers.get(custom_type)
        if renderer is None:
            return None
        try:
            lines = renderer.render(value, width=_WIDTH, expanded=True)
            if lines is None:
                return None
            return tag("pre", terminal_text("\n".join(map(str, lines))), class_="output")
        except Exception:  # noqa: BLE001 - a plugin's renderer: fall back to the content
            return None

    # Frames

    def _article(self, number: int, kind: str, who: str, body: Html, note: str = "") -> Html:
        label = self.outline.labels.get(number)
        entry = self.outline.entries[number]
        mark = f"<mark>{escaped(label)}</mark>" if label else ""
        time = f'<a href="#e{number}">{moment(entry.timestamp)}</a>'
        head = f"<header><b>{escaped(who)}</b>{mark}{time}</header>"
        foot = f"<footer>{escaped(note)}</footer>" if note else ""
        return Html(f'<article id="e{number}" class="{self._classes(number, kind)}">{head}{body}{foot}</article>')

    def _note(self, number: int, entry: SessionEntry) -> Html:
        """Return an entry in one line; details that appear elsewhere, or are only for plugins, are folded."""
        headline = _NOTES[type(entry)](entry) if type(entry) in _NOTES else f"Entry of type {entry.type}"
        details = _data(entry)
        kind = "note quiet" if isinstance(entry, LabelEntry | SessionInfoEntry | CustomEntry) else "note"
        more = tag("details", tag("summary", "data"), tag("pre", as_json(details))) if details else None
        return tag("div", tag("span", headline), more, id=f"e{number}", class_=self._classes(number, kind))

    def _classes(self, number: int, kind: str) -> str:
        return f"m {kind}" if number in self.outline.active else f"m {kind} off"


def _markdown(text: str) -> Html:
    return _MARKDOWN(markdown(text))


def _thinking(block: ThinkingContent) -> Html:
    if not block.thinking.strip():
        return tag("p", "Thinking, not shown by the provider", class_="hidden-thinking") if block.redacted else Html()
    first = " ".join(block.thinking.split())
    headline = first if len(first) <= 100 else f"{first[:99]}…"  # noqa: PLR2004 - a line
    body = _markdown(block.thinking)
    return tag("details", tag("summary", tag("b", "Thinking"), " ", tag("span", headline)), body, class_="thinking")


def _summary(text: str) -> Html:
    return tag("details", tag("summary", "read the summary"), _markdown(text))


def _command(message: BashExecutionMessage) -> Html:
    notes = []
    if message.cancelled:
        notes.append("cancelled")
    elif message.exit_code:
        notes.append(f"exit code {message.exit_code}")
    if message.exclude_from_context:
        notes.append("not sent to the model")
    if message.truncated:
        notes.append(f"truncated; full output: {message.full_output_path}" if message.full_output_path else "cut")
    return join(
        [
            tag("pre", f"$ {message.command}", class_="command"),
            output(message.output),
            tag("p", " · ".join(notes), class_="note") if notes else Html(),
        ]
    )


def _result(message: ToolResultMessage) -> _Rendered:
    kind = "tool failed" if message.is_error else "tool"
    return kind, f"Result of {message.tool_name}", result_body(message)


def _system(message: SystemMessage) -> _Rendered:
    body = tag("details", tag("summary", "show"), fragments(message.content, plain))
    return "system", "System prompt", body


def _unknown(message: Any) -> _Rendered:
    return "unknown", f"Message of role {message.role}", folded(as_json(message.extra))


_Rendered: TypeAlias = tuple[str, str, Html]
"""A message's kind, its author, and its body."""

_RENDERERS: dict[type, Callable[[Any], _Rendered]] = {
    UserMessage: lambda message: ("user", "You", fragments(message.content, _markdown)),
    ToolResultMessage: _result,
    BashExecutionMessage: lambda message: ("bash", "You ran", _command(message)),
    BranchSummaryMessage: lambda message: ("summary", "Summary of a branch", _summary(message.summary)),
    CompactionSummaryMessage: lambda message: ("summary", "Summary of what came before", _summary(message.summary)),
    SystemMessage: _system,
}

_NOTES: dict[type, Callable[[Any], str]] = {
    ModelChangeEntry: lambda entry: f"Model: {entry.provider}/{entry.model_id}",
    ThinkingLevelChangeEntry: lambda entry: f"Thinking level: {entry.thinking_level}",
    LabelEntry: lambda entry: f"Label: {entry.label}" if entry.label else "Label removed",
    SessionInfoEntry: lambda entry: f"Session name: {entry.name or '(none)'}",
    CustomEntry: lambda entry: f"Data of {entry.custom_type}",
    UsageEntry: lambda entry: (
        f"Request for {entry.kind}: {entry.provider}/{entry.model} {usage_line(entry.usage)} {entry.note or ''}"
    ),
    ContextEditEntry: lambda _entry: "What the model sees of an entry was changed",
}
"""Entries that are not messages, in one line."""


def _data(entry: SessionEntry) -> Any:
    """Return the fields of an entry that are not in its line."""
    if isinstance(entry, CustomEntry):
        return entry.data
    if isinstance(entry, ContextEditEntry):
        return asdict(entry.replacement)["content"] if entry.replacement is not None else None
    return None if type(entry) in _NOTES else entry.extra
