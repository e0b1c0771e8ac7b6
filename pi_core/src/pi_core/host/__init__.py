"""Plugins: found through entry points, indexed, loaded on their own, ordered, and asked what they register."""

from pi_core.host.plugin_host import PluginHost
from pi_core.host.records import PluginRecord, Problem
from pi_core.host.registry import Registered

__all__ = ["PluginHost", "PluginRecord", "Problem", "Registered"]
