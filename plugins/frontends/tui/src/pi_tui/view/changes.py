"""A record of what an event changed, so that a painter redraws only those parts."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

__all__ = ["NOTHING", "Changes", "Part"]

Part: TypeAlias = Literal[
    "queue", "work", "spinner", "footer", "statuses", "widgets", "activities", "dialogs", "title", "components"
]


class Changes(NamedTuple):
    """The changed parts of a state.

    Attributes:
        blocks: Ids of blocks that are new or must be redrawn.
        removed: Ids of blocks that were removed.
        parts: The other parts.
        reload: The conversation was replaced: the caller has to pass the current entries to ``load_entries``.
    """

    blocks: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    parts: frozenset[Part] = frozenset()
    reload: bool = False

    @classmethod
    def of(cls, *parts: Part) -> Changes:
        """Return a change of parts."""
        return cls(parts=frozenset(parts))

    def __or__(self, other: Changes) -> Changes:
        return Changes(
            (self.blocks | other.blocks) - other.removed,
            self.removed | other.removed,
            self.parts | other.parts,
            self.reload or other.reload,
        )

    def within(self, other: Changes) -> bool:
        """Whether the other changes include these; changes that remove blocks are not compared."""
        if self.removed or self.reload or other.removed:
            return False
        return self.blocks <= other.blocks and self.parts <= other.parts

    def __bool__(self) -> bool:
        return bool(self.blocks or self.removed or self.parts or self.reload)


NOTHING = Changes()
