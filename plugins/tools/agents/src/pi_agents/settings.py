"""The settings of agents, and their limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pi_hookspecs import SettingsView

__all__ = ["MAX_DEPTH", "MAX_PARALLEL", "MAX_RESULT", "max_parallel"]

MAX_DEPTH = 2
"""The maximum nesting of agents: an agent may use agents, but these may not use further agents."""

MAX_PARALLEL = 4
"""How many agents of a session run at a time by default (setting ``agents.maxParallel``); the others wait."""

MAX_RESULT = 8_000
"""Characters of an agent's answer that the model gets."""


def max_parallel(settings: SettingsView) -> int:
    """Return how many agents of a session may run at a time."""
    return int(settings.get_number("agents.maxParallel", MAX_PARALLEL, minimum=1))
