"""The user's policy on plugins: which plugins may be loaded.

It is checked before a plugin is imported. The user's own file decides; a project's file can only deny more.
"""

from __future__ import annotations

import os
import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_core.host.overlay import current_generation, describe_generation, project_root, user_root

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pi_core.host.records import PluginRecord
    from pi_core.settings import Settings

__all__ = ["denied", "left_out", "not_allowed"]


def left_out(records: Mapping[str, PluginRecord], settings: Settings) -> dict[str, str]:
    """Return the plugins that the settings leave out, each with the reason; pi's own plugins need no permission."""
    found = not_allowed([name for name, record in records.items() if not record.is_default], settings)
    for name, record in records.items():
        distribution = re.sub(r"[-_.]+", "-", record.distribution).lower()
        reason = denied(f"pypi:{distribution}", settings)
        if reason is not None:
            found[name] = reason
    found.update((name, "packages leaves it out") for name in _filtered(settings) if name in records)
    return found


def not_allowed(names: Sequence[str], settings: Settings) -> dict[str, str]:
    """Return the given plugins that ``plugins.allow`` does not name, each with the reason."""
    return {
        name: f"plugins.allow in {origin} does not name it"
        for origin, patterns in _lists(settings, "plugins.allow")
        for name in names
        if not any(fnmatchcase(name, each) for each in patterns)
    }


def denied(identity: str, settings: Settings) -> str | None:
    """Return why a package with an identity such as ``pypi:pluggypi-tides`` is not loaded; None if it may be."""
    name = identity.partition(":")[2]
    for origin, patterns in _lists(settings, "packages.deny"):
        if any(fnmatchcase(name, each) or fnmatchcase(identity, each) for each in patterns):
            return f"packages.deny in {origin} names {name}"
    return None


def _lists(settings: Settings, key: str) -> Iterator[tuple[str, list[str]]]:
    settings.get_str_list(key)  # reports values of a wrong type
    for origin, value in settings.each(key):
        if isinstance(value, list):
            yield origin, [each for each in value if isinstance(each, str)]
        elif value is not None and key == "plugins.allow":  # an unreadable value permits nothing
            yield origin, []


def _filtered(settings: Settings) -> Iterator[str]:
    """Yield the plugins that entries of ``packages`` exclude by their filter ``plugins``."""
    for origin, entries in settings.each("packages"):
        filters = [each for each in entries if isinstance(each, dict) and isinstance(each.get("plugins"), list)]
        if not filters:
            continue
        folder = Path(origin).parent
        root = user_root(settings.agent_dir)
        if os.path.normpath(folder) != os.path.normpath(settings.agent_dir):
            root = project_root(settings.agent_dir, folder.parent)
        packages = describe_generation(root, current_generation(root)).get("packages", ())
        for entry in filters:
            yield from _not_picked(entry, packages)


def _not_picked(entry: Mapping[str, Any], packages: Any) -> Iterator[str]:
    patterns = [each for each in entry["plugins"] if isinstance(each, str)]
    for package in packages:
        if package.get("written", package["source"]) == entry.get("source"):
            yield from (
                name for name in package.get("plugins", ()) if not any(fnmatchcase(name, each) for each in patterns)
            )
