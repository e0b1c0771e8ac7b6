"""The setting of the plugin, and the names of what it leaves in messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import PluginSetting

if TYPE_CHECKING:
    from pi_hookspecs import SettingsView

__all__ = ["ID", "MISTAKE", "SETTINGS", "mode_of"]

ID = "written_"
"""How the ids of calls begin that were read from text."""

MISTAKE = "writtenCallMistake"
"""Key in a message's ``extra`` of a hint for the model."""

_MODE = "writtenCalls.mode"
_MODES = ("on", "ask", "off")

SETTINGS = (
    PluginSetting(
        _MODE,
        schema={"type": "string", "enum": list(_MODES), "default": "on"},
        description="Whether tool calls that a model writes as text run: on, ask (after a question), or off",
        protected=True,
        project="nothing",
    ),
)


def mode_of(settings: SettingsView) -> str:
    """Return ``on``, ``ask`` or ``off``."""
    mode = settings.get_str(_MODE, "on")
    return mode if mode in _MODES else "on"
