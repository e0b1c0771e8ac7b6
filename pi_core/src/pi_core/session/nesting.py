"""Stored sessions as a tree: forks and the sessions of agents below the session to which they belong."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import SessionInfo

__all__ = ["nested_sessions"]


def nested_sessions(found: Sequence[SessionInfo], everything: Sequence[SessionInfo]) -> list[tuple[SessionInfo, int]]:
    """Return sessions with their nesting depth, each followed by the sessions that name it as their parent.

    Args:
        found: The sessions to list, in their order.
        everything: The sessions among which children are searched; all of ``found`` are listed in any case.
    """
    by_parent: dict[str | None, list[SessionInfo]] = {}
    for info in everything:
        by_parent.setdefault(info.parent_session_path, []).append(info)
    here = {info.path for info in found}
    roots = [info for info in found if info.parent_session_path not in here]
    waiting = [(info, 0) for info in reversed([*roots, *found])]  # files that name each other as parents have no root
    placed: dict[str, tuple[SessionInfo, int]] = {}
    while waiting:
        info, depth = waiting.pop()
        if info.path not in placed:
            placed[info.path] = (info, depth)
            waiting += [(child, depth + 1) for child in reversed(by_parent.get(info.path, ()))]
    return list(placed.values())
