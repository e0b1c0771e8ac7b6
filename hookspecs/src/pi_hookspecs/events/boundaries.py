"""Points at which plugins may act: when a message or a turn ends, and before the run settles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.events._listed import listed
from pi_hookspecs.values import ReprMixin, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_hookspecs.events.agent import MessageEndEvent, TurnEndEvent
    from pi_hookspecs.rare_entries import SessionEntry
    from pi_hookspecs.rare_messages import AgentMessage

__all__ = [
    "AgentBeforeSettleEvent",
    "AgentBeforeSettleResult",
    "MessageEndResult",
    "NewEntry",
    "TurnEndResult",
]


@frozen(kw_only=True, eq=False, repr=False)
class MessageEndResult(Value):
    """Replaces the message that has ended with one of the same role."""

    message: AgentMessage | None = None

    def problem(self, event: MessageEndEvent) -> str | None:
        """Return what is wrong with the message; None if nothing is."""
        role = getattr(self.message, "role", None)
        if self.message is None or role == event.message.role:
            return None
        return f"returned a message of role {role!r} for one of role {event.message.role!r}"


@frozen(kw_only=True, eq=False, repr=False)
class NewEntry(Value):
    """An entry for a plugin to append: outside the model's context, or with ``content`` inside it.

    Attributes:
        plugin: The plugin that appends it, set by pi; its message has the same one.
    """

    custom_type: str
    data: Any = None
    content: str | None = None
    display: bool = True
    plugin: str | None = field(default=None, eq=False, metadata={"wire": False})


def _entries(entries: Iterable[NewEntry]) -> tuple[NewEntry, ...]:
    return listed(entries, "entries", "[NewEntry(...)]")


def _no_entry(entries: tuple[Any, ...]) -> str | None:
    wrong = next((each for each in entries if not isinstance(each, NewEntry)), None)
    return None if wrong is None else f"returned {wrong!r:.60} among the entries, which is not of type NewEntry"


@frozen(kw_only=True, eq=False, repr=False)
class TurnEndResult(Value):
    """What to do before the next turn.

    ``continue_`` guarantees one more request when nothing else causes one.
    """

    entries: tuple[NewEntry, ...] = field(default=(), converter=_entries)
    continue_: bool | None = None

    def problem(self, event: TurnEndEvent) -> str | None:
        """Return what is wrong with the entries; None if nothing is."""
        del event
        return _no_entry(self.entries)


@frozen(kw_only=True, eq=False, repr=False)
class AgentBeforeSettleEvent(ReprMixin):
    """The run has ended and nothing is queued: the last place to act before the prompt resolves.

    ``outcome`` is ``completed``, ``error`` or ``aborted``; ``entries`` are the branch.
    """

    type: ClassVar[Literal["agent_before_settle"]] = "agent_before_settle"
    outcome: Literal["completed", "error", "aborted"]
    messages: Sequence[AgentMessage] = ()
    entries: Sequence[SessionEntry] = ()


@frozen(kw_only=True, eq=False, repr=False)
class AgentBeforeSettleResult(Value):
    """Entries to append, and whether to continue the run with them."""

    entries: tuple[NewEntry, ...] = field(default=(), converter=_entries)
    continue_: bool | None = None

    def problem(self, event: AgentBeforeSettleEvent) -> str | None:
        """Return what is wrong with the entries; None if nothing is."""
        del event
        return _no_entry(self.entries)
