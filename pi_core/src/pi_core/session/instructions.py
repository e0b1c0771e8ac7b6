"""The sections of the system prompt and the tools of a request, as a session records them.

A record holds only what changed. The records of a branch, applied in order, are the prompt and the tools of its next
request, in the form of the original pi, which sends them; ours are only read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from attrs import field, frozen

from pi_hookspecs.messages import SystemMessage, text_of
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pi_core.session.tree import SessionTree
    from pi_hookspecs import AgentMessage, CompactionEntry, SessionEntry

__all__ = ["BranchRecords", "Instructions", "is_record", "is_record_at"]


def is_record(message: AgentMessage | None) -> bool:
    """Return whether a message is a record of prompt and tools, which the model is not sent."""
    return isinstance(message, SystemMessage) and message.is_record


def is_record_at(tree: SessionTree, number: int) -> bool:
    """Return whether an entry is known to be a record; False where its store would have to read it to know."""
    if number not in tree.system:
        return False
    return is_record(tree.stored_message(number) or getattr(tree.entry(number), "message", None))


@frozen(kw_only=True, eq=False, repr=False)
class Instructions(Value):
    """The records of a branch, applied in order.

    Attributes:
        content: Texts of a prompt without sections, which other programs record.
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
        """Return the record that changes these instructions to the given ones; None where nothing changed."""
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
        """Return one record that holds all of it; None where there is nothing to record."""
        if not (self.content or self.sections or self.tools):
            return None
        return SystemMessage(
            content="\n\n".join(self.content),
            sections=dict(self.sections) or None,
            tools_added=tuple(self.tools.values()) or None,
            timestamp=timestamp,
        )


_NOTHING = Instructions()


class BranchRecords:
    """The records of the branch, and the branch without them; each is computed when it is first read.

    Args:
        tree: The session's entries.
    """

    def __init__(self, tree: SessionTree) -> None:
        self._tree = tree
        self._leaf = tree.leaf
        self._known: Instructions | None = None
        self._others: list[int] | None = None

    def instructions(self) -> Instructions:
        """Return the recorded prompt and tools: the same object while no record is added and the leaf stays."""
        self._look_at_leaf()
        if self._known is None:
            self._known = self._read()
        return self._known

    def others(self) -> list[int]:
        """Return the numbers of the branch's entries without the records. The list grows with the branch."""
        self._look_at_leaf()
        if self._others is None:
            system = self._tree.system
            self._others = [
                number for number in self._tree.path() if number not in system or not is_record_at(self._tree, number)
            ]
        return self._others

    def appended(self, number: int, entry: SessionEntry, leaf_before: int) -> None:
        """Update the records after an entry was appended."""
        if self._leaf != leaf_before or self._tree.parent(number) != leaf_before:
            return  # the leaf has moved, which the next read notices
        self._leaf = number
        if self._known is not None:
            self._known = _after(self._known, entry)
        if self._others is not None and not is_record_at(self._tree, number):
            self._others.append(number)

    def _look_at_leaf(self) -> None:
        if self._leaf != self._tree.leaf:
            self._leaf, self._known, self._others = self._tree.leaf, None, None

    def _read(self) -> Instructions:
        """Read the entries that count: those from the last compaction on."""
        tree, known = self._tree, _NOTHING
        path = tree.path()
        start = next((at for at in range(len(path) - 1, -1, -1) if tree.type(path[at]) == "compaction"), 0)
        for number in path[start:]:
            kind = tree.type(number)
            if kind == "compaction" or (kind == "message" and (number in tree.system or not tree.knows_system)):
                known = _after(known, tree.entry(number))
        return known


def _after(known: Instructions, entry: SessionEntry) -> Instructions:
    if entry.type == "compaction":
        return _recorded_in(cast("CompactionEntry", entry))
    message = getattr(entry, "message", None)
    return known.after(cast("SystemMessage", message)) if is_record(message) else known


def _recorded_in(compaction: CompactionEntry) -> Instructions:
    """Return the instructions that a compaction holds in place of the records before it; empty where it has none."""
    plain = compaction.system_message
    if plain is None:
        return _NOTHING
    from pi_core.wire.converter import message_from_wire
    from pi_hookspecs.errors import PiError

    try:
        message = message_from_wire(plain)
    except PiError:  # whatever another program wrote there, the conversation can be read
        return _NOTHING
    return _NOTHING.after(message) if isinstance(message, SystemMessage) else _NOTHING


def _name(tool: Any) -> str:
    return str(tool.get("name", "")) if isinstance(tool, dict) else ""
