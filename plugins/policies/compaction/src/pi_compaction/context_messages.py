"""Messages of entries in the model's context, with context edits applied and without failed answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from pi_core import edited_message, entry_message, estimate_tokens, paused_gc
from pi_hookspecs import AssistantMessage

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_hookspecs import AgentMessage, CompactionEntry, ContextEditEntry, SessionEntry

__all__ = ["ReadBranch", "messages_of", "since_compaction"]


class ReadBranch:
    """What a compaction needs of a branch, read once.

    Args:
        branch: The branch.

    Attributes:
        entries: The entries that are not summarised.
        previous: The last compaction.
        messages: The message of each entry, or None.
        sizes: The estimated tokens of each message; 0 where there is none.
    """

    def __init__(self, branch: Sequence[SessionEntry]) -> None:
        self._branch = branch
        with paused_gc():  # a long session is a hundred thousand objects
            self.entries, self.previous = since_compaction(branch)
            self.messages = messages_of(self.entries)
        self.sizes = [estimate_tokens(message) if message is not None else 0 for message in self.messages]

    def is_of(self, branch: Sequence[SessionEntry]) -> bool:
        """Return whether this was read from a branch: the same snapshot, not one that is equal."""
        return self._branch is branch


def messages_of(entries: Sequence[SessionEntry]) -> list[AgentMessage | None]:
    """Return each entry's message in the model's context, or None; also None for a compaction: its text is separate."""
    found = (cast("ContextEditEntry", entry) for entry in entries if entry.type == "context_edit")
    edits = {edit.target_id: edit for edit in found}
    return [_message(entry, edits.get(entry.id)) for entry in entries]


def _message(entry: SessionEntry, edit: ContextEditEntry | None) -> AgentMessage | None:
    if entry.type == "compaction":
        return None
    message = entry_message(entry)
    if message is None or (isinstance(message, AssistantMessage) and message.stop_reason == "error"):
        return None
    if edit is None:
        return message
    return edited_message(message, edit.replacement.content) if edit.replacement is not None else None


def since_compaction(branch: Sequence[SessionEntry]) -> tuple[list[SessionEntry], CompactionEntry | None]:
    """Return the entries that are not summarised, and the last compaction, which is not among them.

    They begin at that compaction's first kept entry, so that nothing is lost between two summaries; if the branch does
    not contain it, they begin after the compaction. Older entries are not read.
    """
    later: list[SessionEntry] = []
    backwards = reversed(branch)
    for entry in backwards:
        if entry.type == "compaction":
            compaction = cast("CompactionEntry", entry)
            kept = _until(compaction.first_kept_entry_id, backwards)
            return [*reversed(kept), *reversed(later)], compaction
        later.append(entry)
    return later[::-1], None


def _until(entry_id: str, backwards: Iterable[SessionEntry]) -> list[SessionEntry]:
    """Return the entries back to the given one; empty if it is not found."""
    walked: list[SessionEntry] = []
    for entry in backwards:
        walked.append(entry)
        if entry.id == entry_id:
            return [each for each in walked if each.type != "compaction"]
    return []
