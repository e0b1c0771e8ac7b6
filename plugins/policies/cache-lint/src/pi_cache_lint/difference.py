"""Finds where two chains first differ: from there on, nothing is read from the cache."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from attrs import frozen

from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_cache_lint.chain import Chain

__all__ = ["Area", "Difference", "first_change", "first_difference"]

Area: TypeAlias = Literal["parameter", "tools", "system", "messages", "marker"]


@frozen(kw_only=True, eq=False, repr=False)
class Difference(ReprMixin):
    """The first link that differs.

    Attributes:
        area: The kind of link.
        name: The parameter's or the tool's name; empty for others.
        number: The index of the tool or of the block.
        message: The index of the message in the payload, if the link is part of one.
        what: What happened to a tool: ``added``, ``removed``, ``reordered``, ``other schema``; ``changed`` for others.
    """

    area: Area
    name: str = ""
    number: int = 0
    message: int = 0
    what: str = "changed"


def first_difference(old: Chain, new: Chain, *, messages: bool = True) -> Difference | None:
    """Return where a request departs from the previous one; None if it only extends it.

    Args:
        old: The previous request.
        new: The request.
        messages: Whether to compare messages; the messages of two compactions are unrelated.
    """
    for name in dict.fromkeys((*old.parameters, *new.parameters)):
        if old.parameters.get(name) != new.parameters.get(name):
            return Difference(area="parameter", name=name)
    if old.tools != new.tools:
        return _tool_difference(old, new)
    if old.system != new.system:
        return Difference(area="system")
    if messages:
        number = first_change(old.messages, new.messages)
        if number < min(len(old.messages), len(new.messages)):
            return Difference(area="messages", number=number)
    if set(old.markers) - set(new.markers):
        return Difference(area="marker")
    return None


def _tool_difference(old: Chain, new: Chain) -> Difference:
    number = first_change(old.tools, new.tools)
    before, now = dict(old.tools), dict(new.tools)
    name = new.tools[number][0] if number < len(new.tools) else ""
    gone = old.tools[number][0] if number < len(old.tools) else ""
    if name and name not in before:
        return Difference(area="tools", name=name, number=number, what="added")
    if gone and gone not in now:
        return Difference(area="tools", name=gone, number=number, what="removed")
    what = "other schema" if name == gone else "reordered"
    return Difference(area="tools", name=name or gone, number=number, what=what)


def first_change(old: Sequence[object], new: Sequence[object]) -> int:
    """Return the first index at which two sequences differ, or the shorter length if one extends the other."""
    shorter = min(len(old), len(new))
    if old[:shorter] == new[:shorter]:  # compared at once: nearly always one extends the other
        return shorter
    return next((number for number in range(shorter) if old[number] != new[number]), shorter)
