"""Plugins that a host learns of, or learns to load, after it has read the index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_core.host.discovery import find_plugins, fingerprint

if TYPE_CHECKING:
    from pi_core.host import PluginHost
    from pi_core.host.index import IndexFile
    from pi_core.host.loader import Loader
    from pi_core.host.records import PluginRecord

__all__ = ["find_more", "look_again"]


def find_more(host: PluginHost) -> dict[str, PluginRecord]:
    """Return the plugins that can be imported and that a host does not have, not indexed yet."""
    return {each.name: each for each in find_plugins()[0] if not host.has(each.name)}


def look_again(host: PluginHost, record: PluginRecord, loader: Loader, index: IndexFile) -> PluginRecord:
    """Try to load a plugin that could not be loaded, and keep what was found; return its record."""
    if record.loads and record.indexed:
        return record
    host.problems = [problem for problem in host.problems if problem.plugin != record.name]
    loader.look_again(record)
    host.forget_names()
    marks = fingerprint()
    _, problems = index.read(marks) or ([], [])
    index.write(marks, list(host.records.values()), problems)
    return record
