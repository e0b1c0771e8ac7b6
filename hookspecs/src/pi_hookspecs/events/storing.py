"""Entries on their way to the session's store."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.events._listed import listed
from pi_hookspecs.values import ReprMixin, Value

if TYPE_CHECKING:
    from pi_hookspecs.rare_entries import SessionEntry

__all__ = ["SessionBeforeAppendEvent", "SessionBeforeAppendResult"]


@frozen(kw_only=True, eq=False, repr=False)
class SessionBeforeAppendEvent(ReprMixin):
    """Entries are about to be stored.

    Attributes:
        entries: In the order in which they are stored: messages, results of commands, custom entries, compactions,
            summaries, labels and all others.
    """

    type: ClassVar[Literal["session_before_append"]] = "session_before_append"
    entries: tuple[SessionEntry, ...]


def _entries(values: object) -> tuple[SessionEntry, ...]:
    return listed(values, "entries", "entries=[attrs.evolve(entry, label=None), ...]")  # type: ignore[arg-type]


@frozen(kw_only=True, eq=False, repr=False)
class SessionBeforeAppendResult(Value):
    """What is stored instead.

    Attributes:
        entries: One for each entry of the event, in the same order, with the same id, parent and type.
    """

    entries: tuple[SessionEntry, ...] = field(converter=_entries)

    def problem(self, event: SessionBeforeAppendEvent) -> str | None:
        """Return what would damage the session's tree."""
        if len(self.entries) != len(event.entries):
            return f"returned {len(self.entries)} entries for {len(event.entries)}; each must occur exactly once"
        for ours, theirs in zip(event.entries, self.entries, strict=True):
            if type(theirs) is not type(ours):
                return f"returned {theirs!r:.100} for an entry of type {ours.type!r}"
            for name in ("id", "parent_id", "type"):
                if getattr(theirs, name) != getattr(ours, name):
                    changed = f"{getattr(theirs, name)!r:.60} instead of {getattr(ours, name)!r}"
                    return f"changed {name} of entry {ours.id!r}: {changed}"
        return None
