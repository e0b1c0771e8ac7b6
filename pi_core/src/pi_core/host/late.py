"""Plugins that a host finds, or becomes able to load, after it has read the index."""

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
    """Return the importable plugins that a host does not have yet, without indexing them."""
    return {each.name: each for each in find_plugins()[0] if not host.has(each.name)}


def look_again(host: PluginHost, record: PluginRecord, loader: Loader, index: IndexFile) -> PluginRecord:
    """Try again to load a plugin that could not be loaded, update the index, and return its record."""
    if record.loads and record.indexed:
        return record
    host.problems = [problem for problem in host.problems if problem.plugin != record.name]
    loader.look_again(record)
    host.forget_names()
    marks = fingerprint()
    _, problems = index.read(marks) or ([], [])
    index.write(marks, list(host.records.values()), problems)
    return record
