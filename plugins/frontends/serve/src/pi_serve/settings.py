"""The settings ``serve.*``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import PluginSetting

if TYPE_CHECKING:
    from pi_hookspecs import SettingsView

__all__ = ["SETTINGS", "question_seconds"]

QUESTION_HOURS = PluginSetting(
    "serve.questionHours",
    schema={"type": "number", "minimum": 0, "default": 24},
    description="Hours that a question waits while no client is connected; 0 answers it at once with: nobody was there",
    project="nothing",
)
SETTINGS = (QUESTION_HOURS,)


def question_seconds(settings: SettingsView) -> float:
    """Return the seconds that a dialog waits for a client."""
    hours: float = QUESTION_HOURS.read(settings)
    return hours * 3600
