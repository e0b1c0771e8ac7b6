"""The settings of skills; where they are found, and which are left out, the engine decides for all resources."""

from __future__ import annotations

from pi_hookspecs import PluginSetting

__all__ = ["COMMANDS", "CREATION", "SETTINGS"]

COMMANDS = PluginSetting(
    "enableSkillCommands",
    schema={"type": "boolean", "default": True},
    description="Offer each skill as `/skill:name`",
    project="set",
)
CREATION = PluginSetting(
    "enableSkillCreation",
    schema={"type": "boolean", "default": False},
    description="Let the model write skills with the tool `create_skill`",
    project="disable",
)
SETTINGS = (COMMANDS, CREATION)
