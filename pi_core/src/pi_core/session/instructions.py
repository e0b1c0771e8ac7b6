"""The records of a session: the sections of the system prompt and the tools of its requests.

A record contains only changes. The records of a branch, applied in order, are the prompt and the tools of its next
request. They are compatible with the TypeScript pi, which sends them; here they are only read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.messages import SystemMessage, text_of
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pi_core.session.tree import SessionTree
    from pi_hookspecs import AgentMessage, CompactionEntry, SessionEntry

__all__ = ["BranchRecords", "Instructions", "is_record", "is_record_at"]


def is_record(message: AgentMessage | None) -> bool:
    """Return whether a message is a record of prompt and tools, which is not sent to the model."""
    return isinstance(message, SystemMessage) and message.is_record


def is_record_at(tree: SessionTree, number: int) -> bool:
    """Return whether an entry is known to be a record; False if the store would have to read it to find out."""
    if number not in tree.system:
        return False
    return is_record(tree.stored_message(number) or getattr(tree.entry(number), "message", None))


@frozen(kw_only=True, eq=False, repr=False)
class Instructions(Value):
    """The records of a branch, applied in order.

    Attributes:
        content: Texts of prompts without sections, which other programs record.
        sections: Sections of the prompt by name.
        tools: Declarations of the tools by name.
    """

    content: tuple[str, ...] = ()
    sections: Mapping[str, str] = field(factory=dict)
    tools: Mapping[str, Any] = field(factory=dict)

    def after(self, record: SystemMessage) -> Instructions:
        """Return the instructions after another record."""
        sections, tools = dict(self.sections), dict(self.tools)
        for name, text in (record.sections or {}).items():
            if isinstance(text, str):
                sections[name] = text
            else:
                sections.pop(name, None)
        for tool in record.tools_removed or ():
            tools.pop(_name(tool), None)
        for tool in record.tools_added or ():
            tools[_name(tool)] = tool
        text = text_of(record.content)
        return Instructions(content=(*self.content, text) if text else self.content, sections=sections, tools=tools)

    def record_of(self, sections: Mapping[str, str], tools: Iterable[Mapping[str, Any]]) -> SystemMessage | None:
        """Return the record that changes these instructions to the given ones; None if nothing changed."""
        changed: dict[str, str | None] = {
            name: text for name, text in sections.items() if self.sections.get(name) != text
        }
        changed.update({name: None for name in self.sections if name not in sections})
        offered = {_name(tool): tool for tool in tools}
        added = tuple(tool for name, tool in offered.items() if self.tools.get(name) != tool)
        removed = tuple({"name": name} for name, tool in self.tools.items() if offered.get(name) != tool)
        if not (changed or added or removed):
            return None
        return SystemMessage(sections=changed or None, tools_added=added or None, tools_removed=removed or None)

    def as_record(self, timestamp: int) -> SystemMessage | None:
        """Return one record with all instructions; None if they are empty."""
        if not (self.content or self.sections or self.tools):
            return None
        return SystemMessage(
            content="\n\n".join(self.content),
            sections=dict(self.sections) or None,
            tools_added=tuple(self.tools.values()) or None,
            timestamp=timestamp,
        )


_EMPTY = Instructions()


class BranchRecords:
    """The records of the branch, and the branch without them; each is computed when it is first read.

    Args:
        tree: The session's entries.
    """

    def __init__(self, tree: SessionTree) -> None:
        self._tree = tree
        self._leaf = tree.leaf
        self._cached: Instructions | None = None
        self._others: list[int] | None = None

    def instructions(self) -> Instructions:
        """Return the recorded prompt and tools; the same object until a record is added or the leaf moves."""
        self._invalidate_if_moved()
        if self._cached is None:
            self._cached = self._read()
        return self._cached

    def others(self) -> list[int]:
        """Return the numbers of the branch's entries without the records. The list grows with the branch."""
        self._invalidate_if_moved()
        if self._others is None:
            system = self._tree.system
            self._others = [
                number for number in self._tree.path() if number not in system or not is_record_at(self._tree, number)
            ]
        return self._others

    def appended(self, number: int, entry: SessionEntry, leaf_before: int) -> None:
        """Update the records after an entry was appended."""
        if self._leaf != leaf_before or self._tree.parent(number) != leaf_before:
            return  # the leaf has moved, so the next read rebuilds the cache
        self._leaf = number
        if self._cached is not None:
            self._cached = _apply(self._cached, entry)
        if self._others is not None and not is_record_at(self._tree, number):
            self._others.append(number)

    def _invalidate_if_moved(self) -> None:
        if self._leaf != self._tree.leaf:
            self._leaf, self._cached, self._others = self._tree.leaf, None, None

    def _read(self) -> Instructions:
        """Apply the records from the last compaction on."""
        tree, known = self._tree, _EMPTY
        path = tree.path()
        start = next((at for at in range(len(path) - 1, -1, -1) if tree.type(path[at]) == "compaction"), 0)
        for number in path[start:]:
            kind = tree.type(number)
            if kind == "compaction" or (kind == "message" and (number in tree.system or not tree.knows_system)):
                known = _apply(known, tree.entry(number))
        return known


def _apply(known: Instructions, entry: SessionEntry) -> Instructions:
    if entry.type == "compaction":
        return _from_compaction(cast("CompactionEntry", entry))
    message = getattr(entry, "message", None)
    return known.after(cast("SystemMessage", message)) if is_record(message) else known


def _from_compaction(compaction: CompactionEntry) -> Instructions:
    """Return the instructions of a compaction, which replace the records before it; empty if it has none."""
    plain = compaction.system_message
    if plain is None:
        return _EMPTY
    from pi_core.wire.converter import message_from_wire
    from pi_hookspecs.errors import PiError

    try:
        message = message_from_wire(plain)
    except PiError:  # another program's invalid data must not make the session unreadable
        return _EMPTY
    return _EMPTY.after(message) if isinstance(message, SystemMessage) else _EMPTY


def _name(tool: Any) -> str:
    return str(tool.get("name", "")) if isinstance(tool, dict) else ""
