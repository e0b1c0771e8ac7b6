"""Stored sessions as a tree: forks, and the sessions of agents, under the session that they belong to."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import SessionInfo

__all__ = ["nested"]


def nested(found: Sequence[SessionInfo], everything: Sequence[SessionInfo]) -> list[tuple[SessionInfo, int]]:
    """Return sessions, each followed by those that name it as their parent, with how deep each is nested.

    Args:
        found: Those to list, in their order.
        everything: Those among which children are looked for; of ``found`` none is left out.
    """
    by_parent: dict[str | None, list[SessionInfo]] = {}
    for info in everything:
        by_parent.setdefault(info.parent_session_path, []).append(info)
    here = {info.path for info in found}
    roots = [info for info in found if info.parent_session_path not in here]
    waiting = [(info, 0) for info in reversed([*roots, *found])]  # of files that name each other none is a root
    placed: dict[str, tuple[SessionInfo, int]] = {}
    while waiting:
        info, depth = waiting.pop()
        if info.path not in placed:
            placed[info.path] = (info, depth)
            waiting += [(child, depth + 1) for child in reversed(by_parent.get(info.path, ()))]
    return list(placed.values())
