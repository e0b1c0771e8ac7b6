"""The settings of agents, and their limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from pi_git_kit import CACHES

if TYPE_CHECKING:
    from pi_hookspecs import SettingsView

__all__ = ["MAX_DEPTH", "MAX_PARALLEL", "MAX_RESULT", "TrashLimits", "caches", "max_parallel", "trash_limits"]

MAX_DEPTH = 2
"""The maximum nesting of agents: an agent may use agents, but these may not use further agents."""

MAX_PARALLEL = 4
"""How many agents of a session run at a time by default (setting ``agents.maxParallel``); the others wait."""

MAX_RESULT = 8_000
"""Characters of an agent's answer that the model gets."""


@frozen
class TrashLimits:
    """How long dropped worktrees can come back.

    Attributes:
        days: Days after which they are removed (setting ``agents.trash.days``); 0 removes them at once.
        megabytes: Millions of bytes that those of a repository may have together (``agents.trash.megabytes``); the last
            one stays in any case.
    """

    days: float = 14
    megabytes: float = 2000

    @property
    def is_used(self) -> bool:
        """Whether dropped worktrees are kept at all."""
        return self.days > 0 and self.megabytes > 0


def max_parallel(settings: SettingsView) -> int:
    """Return how many agents of a session may run at a time."""
    return int(settings.get_number("agents.maxParallel", MAX_PARALLEL, minimum=1))


def caches(settings: SettingsView) -> tuple[str, ...]:
    """Return the patterns of names of folders that tools write again: the known ones and the user's."""
    return (*CACHES, *settings.get_str_list("agents.caches"))


def trash_limits(settings: SettingsView) -> TrashLimits:
    """Return how long dropped worktrees can come back."""
    default = TrashLimits()
    return TrashLimits(
        settings.get_number("agents.trash.days", default.days, minimum=0),
        settings.get_number("agents.trash.megabytes", default.megabytes, minimum=0),
    )
