"""The settings of agents, and their limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from pi_git_kit import CACHES
from pi_hookspecs import PluginSetting

if TYPE_CHECKING:
    from pi_hookspecs import SettingsView

__all__ = ["MAX_DEPTH", "MAX_RESULT", "SETTINGS", "TrashLimits", "caches", "max_parallel", "trash_limits"]

MAX_DEPTH = 2
"""The maximum nesting of agents: an agent may use agents, but these may not use further agents."""

MAX_RESULT = 8_000
"""Characters of an agent's answer that the model gets."""

_ENABLED = PluginSetting(
    "agents.enabled",
    schema={"type": "boolean"},
    description="Offer the tool `task`. If not set, it is offered if there is an [agent file](agents.md)",
    project="set",
)
_MAX_PARALLEL = PluginSetting(
    "agents.maxParallel",
    schema={"type": "integer", "minimum": 1, "default": 4},
    description="How many agents of a session work at the same time; others wait",
    project="lower",
)
_CACHES = PluginSetting(
    "agents.caches",
    schema={"type": "array", "items": {"type": "string"}, "default": []},
    description=(
        "Patterns of names of folders that tools write again, in addition to `node_modules`, `.venv`, `__pycache__`,"
        " `target` and those with a `CACHEDIR.TAG`: an agent's worktree is not kept for them"
    ),
    project="nothing",
)
_TRASH_DAYS = PluginSetting(
    "agents.trash.days",
    schema={"type": "number", "minimum": 0, "default": 14},
    description="Days that a dropped worktree can come back; 0 removes it at once",
    project="nothing",
)
_TRASH_MEGABYTES = PluginSetting(
    "agents.trash.megabytes",
    schema={"type": "number", "minimum": 0, "default": 2000},
    description="Size of a repository's dropped worktrees together; the oldest go first",
    project="nothing",
)
SETTINGS = (_ENABLED, _MAX_PARALLEL, _CACHES, _TRASH_DAYS, _TRASH_MEGABYTES)


@frozen
class TrashLimits:
    """How long dropped worktrees can come back.

    Attributes:
        days: Days after which they are removed (setting ``agents.trash.days``); 0 removes them at once.
        megabytes: Millions of bytes that those of a repository may have together (``agents.trash.megabytes``); the last
            one stays in any case.
    """

    days: float = _TRASH_DAYS.default
    megabytes: float = _TRASH_MEGABYTES.default

    @property
    def is_used(self) -> bool:
        """Whether dropped worktrees are kept at all."""
        return self.days > 0 and self.megabytes > 0


def max_parallel(settings: SettingsView) -> int:
    """Return how many agents of a session may run at a time."""
    most: int = _MAX_PARALLEL.read(settings)
    return most


def caches(settings: SettingsView) -> tuple[str, ...]:
    """Return the patterns of names of folders that tools write again: the known ones and the user's."""
    return (*CACHES, *_CACHES.read(settings))


def trash_limits(settings: SettingsView) -> TrashLimits:
    """Return how long dropped worktrees can come back."""
    return TrashLimits(_TRASH_DAYS.read(settings), _TRASH_MEGABYTES.read(settings))
