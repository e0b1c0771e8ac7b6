"""The context of a branch for the model: messages, thinking level and model, updated as entries are appended.

The type of an entry determines whether it has a message, except that a system message may be a record of prompt and
tools. So a message is parsed when it is first read, and entries before the entries that a compaction kept are never
parsed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from attrs import evolve, fields_dict

from pi_core.session.ids import milliseconds
from pi_core.session.instructions import is_record, is_record_at
from pi_core.session.lazy_messages import LazyMessages, paused_gc
from pi_core.session.tree import NO_ENTRY
from pi_hookspecs.content import TextContent
from pi_hookspecs.deferred import frozen
from pi_hookspecs.entries import MessageEntry, ModelChangeEntry, ThinkingLevelChangeEntry
from pi_hookspecs.messages import AssistantMessage, ToolResultMessage
from pi_hookspecs.session_context import ModelChoice, SessionContext
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pi_core.session.tree import SessionTree
    from pi_hookspecs import AgentMessage, CompactionEntry, ContextEditEntry, SessionEntry, SessionHeader, ToolCall

__all__ = ["BranchContext", "Projected", "edited_message", "entry_message"]

_RARE_TYPES = frozenset({"custom_message", "branch_summary", "compaction"})

_MESSAGE_TYPES = frozenset({"message", "custom_message"})
"""Types of entries that are messages."""

_PARSED_TYPES = frozenset({"branch_summary", "context_edit"})
"""Types of entries that must be parsed to know their effect on the messages."""

_MODEL_TYPES = frozenset({"message", "model_change"})


@frozen(eq=False, repr=False)
class Projected(Value):
    """A message of the context, and its entry."""

    entry: SessionEntry
    message: AgentMessage


def entry_message(entry: SessionEntry) -> AgentMessage | None:
    """Return the message of an entry in the model's context; None for an entry that is not sent."""
    if isinstance(entry, MessageEntry):
        return None if is_record(entry.message) else entry.message
    return _rare_message(entry) if entry.type in _RARE_TYPES else None


def _message_of(entry: SessionEntry) -> AgentMessage:
    """Return the message of an entry; for a damaged entry, one with a role that is never sent."""
    message = entry.message if isinstance(entry, MessageEntry) else entry_message(entry)
    if message is not None:
        return message
    from pi_hookspecs.rare_messages import UnknownMessage

    return UnknownMessage(role=entry.type, extra=entry.extra)


def _rare_message(entry: SessionEntry) -> AgentMessage | None:
    from pi_hookspecs.rare_entries import BranchSummaryEntry, CompactionEntry, CustomMessageEntry
    from pi_hookspecs.rare_messages import BranchSummaryMessage, CompactionSummaryMessage, CustomMessage

    if isinstance(entry, CustomMessageEntry):
        return CustomMessage(
            custom_type=entry.custom_type,
            content=entry.content,
            display=entry.display,
            details=entry.details,
            timestamp=milliseconds(entry.timestamp),
        )
    if isinstance(entry, BranchSummaryEntry) and entry.summary:
        return BranchSummaryMessage(
            summary=entry.summary, from_id=entry.from_id, timestamp=milliseconds(entry.timestamp)
        )
    if isinstance(entry, CompactionEntry):
        return CompactionSummaryMessage(
            summary=entry.summary, tokens_before=entry.tokens_before, timestamp=milliseconds(entry.timestamp)
        )
    return None


class BranchContext:
    """The context of the branch that ends at the tree's leaf.

    Appending an entry at the leaf takes constant time; after the leaf has moved, and after a compaction, the context is
    rebuilt when it is next read.

    Args:
        tree: The session's entries.
        header: Read for model and thinking level when no entry has them, as in files of other programs.
    """

    def __init__(self, tree: SessionTree, header: SessionHeader) -> None:
        self._tree = tree
        self._header = header
        self._leaf: int | None = None
        self._numbers: list[int] = []  # the entries with messages
        self._removed: set[int] = set()  # the entries that an edit removed
        self._parsed: dict[int, AgentMessage] = {}  # messages that were parsed or changed by an edit
        self._edited: set[int] = set()  # the entries that an edit changed
        self._level: str | None = None
        self._model: ModelChoice | None = None

    def get(self, leaf_id: str | None = None) -> SessionContext:
        """Return the context of the branch; it is updated as the branch grows, not rebuilt.

        Args:
            leaf_id: The end of the branch; None uses the leaf.

        Raises:
            UserError: There is no such entry.
        """
        leaf = None if leaf_id is None else self._tree.require(leaf_id)
        if leaf is not None and leaf != self._tree.leaf:
            other = BranchContext(self._tree, self._header)
            other._build(self._tree.path_to(leaf))
            return other._as_context()
        self._update()
        return self._as_context()

    def _as_context(self) -> SessionContext:
        level = self._level or self._from_header("thinkingLevel")
        return SessionContext(
            messages=self._messages(),
            thinking_level=level or "off",
            model=self._model or self._header_model(),
            has_thinking_level=level is not None,
        )

    def _messages(self) -> LazyMessages:
        return LazyMessages(self._visible(), self._parsed, self._read)

    def _visible(self) -> Sequence[int]:
        """Return the numbers of the entries with messages, without those that an edit removed."""
        removed = self._removed
        return [number for number in self._numbers if number not in removed] if removed else self._numbers

    def _read(self, number: int) -> AgentMessage:
        message = self._tree.stored_message(number)
        return message if message is not None else _message_of(self._tree.entry(number))

    def lines(self, messages: Iterable[AgentMessage]) -> Iterator[bytes]:
        """Yield messages as JSON: those that were read from the store as they are stored, if it says that they may be.

        A stored message is recognised as the object that was read; a program that changes what is in it, such as the
        arguments of a call, does not change what is stored.
        """
        from pi_core.wire import dumps

        edited = self._edited
        stored = {id(message): number for number, message in self._parsed.items() if number not in edited}
        for message in messages:
            number = stored.get(id(message), NO_ENTRY)
            line = None if number == NO_ENTRY else self._tree.message_line(number)
            yield dumps(message) if line is None else line

    def projection(self) -> list[Projected]:
        """Return the messages of the context, each with its entry."""
        self._update()
        kept = ((number, self._tree.entry(number)) for number in self._visible())
        return [Projected(entry, self._parsed.get(number) or _message_of(entry)) for number, entry in kept]

    def interrupted_calls(self) -> tuple[ToolCall, ...]:
        """Return the calls of the last answer without a result; while idle this means that the process was killed.

        They are never run again. A front end marks them as interrupted; the conversion of messages adds a placeholder
        for each missing result.
        """
        self._update()
        answered: set[str] = set()
        for message in reversed(self._messages()):
            if isinstance(message, ToolResultMessage):
                answered.add(message.tool_call_id)
            elif isinstance(message, AssistantMessage):
                ran = message.stop_reason not in {"error", "aborted"}
                return tuple(call for call in message.tool_calls if ran and call.id not in answered)
        return ()

    def appended(self, number: int, entry: SessionEntry, leaf_before: int) -> None:
        """Update the context after an entry was appended."""
        if self._leaf is None:
            return
        if self._leaf != leaf_before or self._tree.parent(number) != leaf_before or entry.type == "compaction":
            self._leaf = None
            return
        self._leaf = number
        if entry.type == "context_edit":
            self._parsed = dict(self._parsed)  # contexts that were already returned must not change
        self._add_entry(number, entry.type)
        if isinstance(entry, ThinkingLevelChangeEntry):
            self._level = entry.thinking_level
        self._model = _model_of(entry) or self._model

    # Building

    def _update(self) -> None:
        if self._leaf is None or self._leaf != self._tree.leaf:
            with paused_gc():
                self._build(self._tree.path())
            self._leaf = self._tree.leaf

    def _build(self, path: Sequence[int]) -> None:
        tree = self._tree
        self._numbers, self._removed, self._parsed, self._edited = [], set(), {}, set()
        start = 0
        compaction = self._last_entry(path, "compaction")
        if compaction is not None:
            at, entry = compaction[0], cast("CompactionEntry", compaction[1])
            self._numbers.append(path[at])
            self._parsed[path[at]] = _message_of(entry)
            kept = tree.number(entry.first_kept_entry_id)
            start = next((place for place in range(at - 1, -1, -1) if path[place] == kept), at + 1)
        for number in path[start:]:
            self._add_entry(number, tree.type(number))
        self._model = next(self._models(path), None)
        level = self._last_entry(path, "thinking_level_change")
        self._level = cast("ThinkingLevelChangeEntry", level[1]).thinking_level if level is not None else None

    def _add_entry(self, number: int, kind: str) -> None:
        """Add an entry's message to the messages, or apply its edit."""
        if kind in _MESSAGE_TYPES:
            if number not in self._tree.system or not is_record_at(self._tree, number):
                self._numbers.append(number)
        elif kind in _PARSED_TYPES:
            entry = self._tree.entry(number)
            if entry.type == "context_edit":
                self._apply_edit(cast("ContextEditEntry", entry))
            elif (message := entry_message(entry)) is not None:
                self._numbers.append(number)
                self._parsed[number] = message

    def _apply_edit(self, edit: ContextEditEntry) -> None:
        target = self._tree.number(edit.target_id)
        if target not in reversed(self._numbers):
            return
        if edit.replacement is None:
            self._removed.add(target)
        else:
            self._removed.discard(target)
            self._edited.add(target)
            self._parsed[target] = edited_message(_message_of(self._tree.entry(target)), edit.replacement.content)

    # The settings

    def _last_entry(self, path: Sequence[int], kind: str) -> tuple[int, SessionEntry] | None:
        """Return the last entry of a type on the path, and its index."""
        tree = self._tree
        for at in range(len(path) - 1, -1, -1):
            if tree.type(path[at]) == kind and (entry := tree.entry(path[at])).type == kind:
                return at, entry
        return None

    def _models(self, path: Sequence[int]) -> Iterator[ModelChoice]:
        """Yield the models in the entries of a path, the latest first."""
        tree = self._tree
        for number in reversed(path):
            if tree.type(number) in _MODEL_TYPES:
                model = _model_of(tree.entry(number))
                if model is not None:
                    yield model

    def selected_model(self) -> ModelChoice | None:
        """Return the model that was selected last on the branch; for a virtual model, no answer names it."""
        found = self._last_entry(self._tree.path(), "model_change")
        return _model_of(found[1]) if found is not None else self._header_model()

    def last_answer(self) -> AssistantMessage | None:
        """Return the last successful answer on the branch, compacted or not; None if there is none."""
        tree = self._tree
        for number in reversed(tree.path()):
            if tree.type(number) == "message":
                message = getattr(tree.entry(number), "message", None)
                if isinstance(message, AssistantMessage) and message.stop_reason not in {"error", "aborted"}:
                    return message
        return None

    def _from_header(self, name: str) -> str | None:
        value = self._header.extra.get(name)
        return value if isinstance(value, str) and value else None

    def _header_model(self) -> ModelChoice | None:
        provider, model_id = self._from_header("provider"), self._from_header("modelId")
        return ModelChoice(provider=provider, model_id=model_id) if provider and model_id else None


def _model_of(entry: SessionEntry) -> ModelChoice | None:
    """Return the model that an entry selects, or that gave its answer."""
    if isinstance(entry, ModelChangeEntry):
        return ModelChoice(provider=entry.provider, model_id=entry.model_id)
    if isinstance(entry, MessageEntry) and isinstance(entry.message, AssistantMessage):
        message = entry.message
        if message.provider and message.model:
            return ModelChoice(provider=message.provider, model_id=message.model)
    return None


def edited_message(message: AgentMessage, content: Any) -> AgentMessage:
    """Return the message with new content; if a message has only a summary, with a new summary."""
    if "content" in fields_dict(type(message)):
        if isinstance(content, str) and isinstance(message, AssistantMessage | ToolResultMessage):
            content = (TextContent(content),)
        return evolve(message, content=content)
    from pi_hookspecs.rare_messages import BranchSummaryMessage, CompactionSummaryMessage

    if isinstance(message, BranchSummaryMessage | CompactionSummaryMessage) and isinstance(content, str):
        return evolve(message, summary=content)
    return message
