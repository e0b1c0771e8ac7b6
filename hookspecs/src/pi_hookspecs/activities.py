"""Activities: a plugin's running and pending work, for the strip above the editor (``ctx.ui.set_activity``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Activity", "ActivityItem"]


@frozen(eq=False, repr=False)
class ActivityItem(Value):
    """One item that is running or pending.

    Attributes:
        text: One line: its id, its state, what it costs so far.
        open: The slash command that displays it, such as ``/agents open 1f2e``; empty for none.
        stop: The slash command that ends it; empty for none.
    """

    text: str
    open: str = field(default="", kw_only=True)
    stop: str = field(default="", kw_only=True)


def _items(given: Iterable[ActivityItem]) -> tuple[ActivityItem, ...]:
    return tuple(given)


@frozen(eq=False, repr=False)
class Activity(Value):
    """A plugin's running and pending work.

    Attributes:
        label: A few words for the strip: ``2 agents working``.
        items: The items that the open strip lists.
        listed: Whether a front end without a strip displays the items as a widget; else it displays the label as a
            status.
    """

    label: str
    items: tuple[ActivityItem, ...] = field(default=(), converter=_items, kw_only=True)
    listed: bool = field(default=False, kw_only=True)
