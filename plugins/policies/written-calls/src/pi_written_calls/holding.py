"""Holds back the text of an answer while it may be a call, so that no front end shows it, and passes calls instead.

A text is held from the place on where a call may begin: the beginning of the answer, or a line after an announcement.
What turns out to be text is passed at once; nothing of it is lost or changed.
"""

from __future__ import annotations

import json
from os import urandom
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from pi_hookspecs import (
    Done,
    TextContent,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from pi_provider_kit import runs_locally
from pi_written_calls.settings import ID, MISTAKE, mode_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pi_hookspecs import AssistantMessage, AssistantMessageEvent, Context, Model, SettingsView, StreamOptions
    from pi_written_calls.meaning import Meaning, Written

__all__ = ["HeldText", "WrittenCalls", "meaning_of", "other_texts"]

_NOTE = "argumentsRepair"
"""Key in a call's ``extra`` of a note that is copied to the details of its result."""
_READ = "Read the call from the text, where the model wrote it"
_CUT = "the answer hit the output limit, so the call in it is incomplete. Make the answer shorter"
_FIRST = frozenset("<[{`>cf")
"""The characters with which the forms begin; a bare name in marks (``commentary to=``, ``functools``) included."""
_FIRST_FAR = frozenset("<[")


class WrittenCalls:
    """Implements ``AnswerFilter``."""

    def filter_answer(
        self, model: Model, context: Context, options: StreamOptions, settings: SettingsView
    ) -> Callable[[AssistantMessageEvent], Iterable[AssistantMessageEvent]] | None:
        """See ``AnswerFilter``; an answer that cannot make calls is left as it is."""
        choice = options.tool_choice
        choice = choice.get("type") if isinstance(choice, dict) else choice
        if not context.tools or choice == "none" or options.output_schema is not None or mode_of(settings) == "off":
            return None
        return HeldText(lambda: meaning_of(model, context), near=runs_locally(model))


def meaning_of(model: Model, context: Context) -> Meaning:
    """Return the reader for the answer to a request."""
    from pi_written_calls.meaning import Meaning

    tools = {tool.name: tool.parameters for tool in context.tools}
    return Meaning(tools, near=runs_locally(model), others=lambda: other_texts(context.messages))


def other_texts(messages: Iterable[Any]) -> Iterator[str]:
    """Yield the texts of a conversation that are not the model's."""
    from pi_hookspecs import text_of

    return (text_of(each.content) for each in messages if each.role != "assistant" and hasattr(each, "content"))


@frozen(eq=False)
class _Whole:
    """The partial message of events that are made when the answer is complete."""

    message: AssistantMessage

    def partial(self) -> AssistantMessage:
        return evolve(self.message, stop_reason="pending")


class HeldText:
    """The filter of one answer.

    Args:
        read: Returns the reader; called when a text first may be a call.
        near: Whether the model runs on a computer of the user.
    """

    def __init__(self, read: Callable[[], Meaning], *, near: bool) -> None:
        self._read = read
        self._first = _FIRST if near else _FIRST_FAR
        self._meaning: Meaning | None = None
        self._is_off = False
        self._index = -1
        """Index of the text block; -1 before it."""
        self._start: TextStart | None = None
        """The beginning of the block, as long as nothing of the block was passed."""
        self._end: TextEnd | None = None
        self._source: Any = None
        self._text = ""
        """The text so far, without ``_more``."""
        self._more: list[str] = []
        """Text that came after it was decided that the text is held to the end of the answer."""
        self._passed = 0
        """How much of the text was passed."""
        self._parts: list[str] = []
        """Text behind it that was passed as it came, in the midst of a line."""
        self._is_plain = False
        """Whether a piece without a line break is passed as it comes."""
        self._held_at = -1
        """Where the held text begins; -1 if nothing is held."""

    def __call__(self, event: AssistantMessageEvent) -> Iterable[AssistantMessageEvent]:  # noqa: PLR0911 - one per event
        """Return the events to pass in place of one."""
        if self._is_off:
            return (event,)
        if isinstance(event, TextDelta) and event.content_index == self._index and self._end is None:
            return self._on_delta(event)
        if isinstance(event, TextStart) and self._index < 0:
            self._index, self._start, self._source = event.content_index, event, event.source
            return ()
        if isinstance(event, TextEnd) and event.content_index == self._index and self._end is None:
            return self._on_end(event)
        if isinstance(event, Done):
            return self._on_done(event)
        if self._index < 0 and not isinstance(event, ToolCallStart):
            return (event,)
        self._is_off = True
        return [*self._released(), event]

    def _on_delta(self, event: TextDelta) -> Iterable[AssistantMessageEvent]:
        if self._is_plain and "\n" not in event.delta:
            self._parts.append(event.delta)
            return (event,)
        if self._more:
            self._more.append(event.delta)
            return ()
        self._join()
        self._text += event.delta
        events = self._look()
        self._is_plain = self._held_at < 0 and self._passed == len(self._text) and self._is_within_line()
        return events

    def _join(self) -> None:
        """Add the text that was passed as it came to the text so far."""
        if self._parts:
            self._text += "".join(self._parts)
            self._passed = len(self._text)
            self._parts.clear()

    def _is_within_line(self) -> bool:
        """Return whether no call can begin before the next line."""
        begin = _after_thought(self._text)
        if begin == 0 and "<think>".startswith(self._text.lstrip()[:7]):
            return False
        return begin is not None and bool(self._text[begin:].rpartition("\n")[2].strip())

    def _look(self) -> Iterable[AssistantMessageEvent]:
        """Hold the text from the first place on where a call may begin, and pass what is before it."""
        from pi_written_calls.meaning import announces, can_announce

        if self._meaning is None:
            if not self._text.strip() or self._is_plain_begin():
                return () if not self._text.strip() else self._pass_to(len(self._text))
            self._meaning = self._read()
        meaning, text = self._meaning, self._text
        begin = _after_thought(text)
        if begin is None:
            return self._pass_to(len(text))
        at = self._held_at if self._held_at >= 0 else _line_start(text, max(self._passed, begin), begin)
        while at < len(text):
            before = text[begin:at]
            if before.strip() and not can_announce(before):
                return self._switch_off()
            opening = meaning.opening(text[at:], before) if announces(before) else "no"
            if opening != "no":
                passed = list(self._pass_to(at)) if at > self._passed and before.strip() else []
                self._held_at = at
                if opening == "yes":
                    self._more = [""]
                return passed
            at = _line_start(text, at + 1, begin)
        self._held_at = -1
        return self._pass_to(len(text))

    def _is_plain_begin(self) -> bool:
        """Return whether the answer begins like a sentence, and has no second line yet."""
        begin = self._text.lstrip()
        return "\n" not in begin and begin[0] not in self._first and not "<think>".startswith(begin[:7])

    def _switch_off(self) -> Iterable[AssistantMessageEvent]:
        self._is_off = True
        return self._released()

    def _pass_to(self, place: int) -> Iterable[AssistantMessageEvent]:
        """Pass the text up to a place."""
        piece, self._passed = self._text[self._passed : place], place
        events: list[AssistantMessageEvent] = []
        if piece and self._start is not None:
            events, self._start = [self._start], None
        if piece:
            events.append(TextDelta(source=self._source, content_index=self._index, delta=piece))
        return events

    def _released(self) -> list[AssistantMessageEvent]:
        """Pass all of the text, because it is one."""
        self._join()
        self._text += "".join(self._more)
        self._more, self._held_at = [], -1
        events = list(self._pass_to(len(self._text)))
        if self._start is not None:
            events, self._start = [*events, self._start], None
        if self._end is not None:
            events, self._end = [*events, self._end], None
        return events

    def _on_end(self, event: TextEnd) -> Iterable[AssistantMessageEvent]:
        self._join()
        if self._held_at < 0 and self._start is None:
            self._is_off = True
            return (*self._pass_to(len(self._text)), event)
        self._end = event
        return ()

    def _on_done(self, event: Done) -> Iterable[AssistantMessageEvent]:
        self._is_off = True
        self._join()
        message = event.message
        if self._held_at < 0 or message.stop_reason not in ("stop", "length") or message.tool_calls:
            return [*self._released(), event]
        text = self._text + "".join(self._more)
        block = next((each for each in reversed(message.content) if isinstance(each, TextContent)), None)
        meaning = self._meaning or self._read()
        written = meaning.find(text) if block is not None and block.text == text else None
        if block is None or written is None or len(written.before) != self._held_at:
            return [*self._released(), event]
        problem = _CUT if message.stop_reason == "length" else written.problem
        if problem is None:
            return self._calls(written, event, block)
        from pi_written_calls.mistakes import hint_of

        hint = hint_of(problem, meaning.tools)
        return [*self._released(), Done(message=evolve(message, extra={**message.extra, MISTAKE: hint}))]

    def _calls(self, written: Written, event: Done, block: TextContent) -> Iterable[AssistantMessageEvent]:
        """Return the events of the calls in place of the held text."""
        events = list(self._pass_to(self._held_at)) if written.before.strip() else []
        left = (written.before if written.before.strip() else "") + (written.after if written.after.strip() else "")
        calls = [
            ToolCall(f"{ID}{urandom(6).hex()}", name, given, extra={_NOTE: _READ}) for name, given in written.calls
        ]
        content: list[Any] = []
        for each in event.message.content:
            kept = (evolve(block, text=left),) if left else ()
            content += (*kept, *calls) if each is block else (each,)
        message = evolve(event.message, content=tuple(content), stop_reason="toolUse")
        source: Any = _Whole(message)
        index = self._index
        if left:
            if self._start is not None:
                events.append(self._start)
            if written.after.strip():
                events.append(TextDelta(source=source, content_index=index, delta=written.after))
            events.append(TextEnd(source=source, content_index=index, content=left))
            index += 1
        for call in calls:
            events += [
                ToolCallStart(source=source, content_index=index, id=call.id, tool_name=call.name),
                ToolCallDelta(source=source, content_index=index, delta=json.dumps(call.arguments)),
                ToolCallEnd(source=source, content_index=index, tool_call=call),
            ]
            index += 1
        return [*events, Done(message=message)]


def _after_thought(text: str) -> int | None:
    """Return where a text begins after the thinking that a server left in it; None if that has not ended."""
    begin = text.lstrip()
    if not begin or ("<think>".startswith(begin[:7]) and len(begin) < len("<think>")):
        return 0
    if not begin.startswith("<think>"):
        return 0
    end = text.find("</think>")
    return None if end < 0 else end + len("</think>")


def _line_start(text: str, at: int, begin: int) -> int:
    """Return the next place from ``at`` on where a line begins that is not empty; the length if there is none.

    The beginning of the text is such a place, with the white space before its first line.
    """
    if at <= begin:
        return begin
    first = len(text) - len(text[begin:].lstrip())
    if at <= first or text[at - 1] != "\n":
        at = text.find("\n", max(at, first)) + 1 or len(text)
    while at < len(text) and text[at] == "\n":
        at += 1
    return at
