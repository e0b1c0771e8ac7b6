"""The settings of the tools that run commands."""

from __future__ import annotations

from pi_hookspecs import PluginSetting
from pi_tools.commands.output import DEFAULT_FILE_CAP

__all__ = ["SETTINGS"]

SETTINGS = (
    PluginSetting(
        "shellPath",
        schema={"type": "string"},
        description="The shell that the tool `bash` uses, instead of the system's",
        project="nothing",
    ),
    PluginSetting(
        "shellCommandPrefix",
        schema={"type": "string"},
        description="Text to insert before every shell command, on a separate line",
        project="nothing",
    ),
    PluginSetting(
        "bash.maxOutputFileBytes",
        schema={"type": "integer", "minimum": 0, "default": DEFAULT_FILE_CAP},
        description="Maximum size, in bytes, of the file with a command's full output",
        project="lower",
    ),
    PluginSetting(
        "bash.keepBackground",
        schema={"type": "boolean", "default": False},
        description="Keep background processes of a command running when it ends",
        project="set",
    ),
)
