"""The user's settings, merged from files, environment variables and the command line.

``schema`` declares every setting and ``schema_info`` describes the schema; a request imports neither.
"""

from pi_core.base.paths import agent_dir
from pi_core.settings.settings import Settings, SettingsManager
from pi_core.settings.sources import COMMAND_LINE, IN_MEMORY, FileStorage, SettingsStorage

__all__ = ["COMMAND_LINE", "IN_MEMORY", "FileStorage", "Settings", "SettingsManager", "SettingsStorage", "agent_dir"]
