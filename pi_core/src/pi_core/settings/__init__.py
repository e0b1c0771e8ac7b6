"""What the user has set, and where: the files, the environment and the command line as one.

``schema`` names every setting and ``described`` reads it; nothing on the way to the first request imports them.
"""

from pi_core.base.paths import agent_dir
from pi_core.settings.settings import Settings, SettingsManager
from pi_core.settings.sources import COMMAND_LINE, IN_MEMORY, FileStorage, SettingsStorage

__all__ = ["COMMAND_LINE", "IN_MEMORY", "FileStorage", "Settings", "SettingsManager", "SettingsStorage", "agent_dir"]
