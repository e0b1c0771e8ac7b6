"""The plugin host: discovery by entry points, index, loading, load order and registrations of plugins."""

from pi_core.host.plugin_host import PluginHost
from pi_core.host.records import PluginRecord, Problem
from pi_core.host.registry import Registered

__all__ = ["PluginHost", "PluginRecord", "Problem", "Registered"]
