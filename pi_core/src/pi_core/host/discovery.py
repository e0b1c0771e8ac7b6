"""Discovery of installed plugins, and detection of changes since the last one.

Discovery scans the metadata of every distribution; changes are detected by names and modification times alone.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

from pi_core.agent.safe_text import format_exception
from pi_core.host.records import PluginRecord, Problem

__all__ = ["find_origin", "find_plugins", "fingerprint", "source_files", "unchanged"]

ENTRY_POINT_GROUP = "pi"

SOURCE_SUFFIXES = frozenset({".py", ".json"})
"""Files of an editable plugin whose change makes its record stale: code, and tables such as those of models."""


def find_plugins() -> tuple[list[PluginRecord], list[Problem]]:
    """Return every entry point of group ``pi``, sorted by name, and problems; no plugin is imported."""
    import importlib_metadata  # rarely needed, and slow to import

    everything: list[PluginRecord] = []
    problems: list[Problem] = []
    seen: set[str] = set()
    for distribution in importlib_metadata.distributions():
        try:
            name, found = _entry_points(distribution)
        except Exception as error:  # noqa: BLE001 - metadata that was cut off or is no text at all
            where = getattr(distribution, "_path", "an installed distribution")
            problems.append(
                Problem("(unknown)", "index", f"the metadata in {where} cannot be read: {format_exception(error)}")
            )
            continue
        if name not in seen:  # else an older copy further down the path
            seen.add(name)
            everything += found
    used: dict[str, PluginRecord] = {}
    for plugin in sorted(everything, key=_claim):
        first = used.setdefault(plugin.name, plugin)
        if first is not plugin:
            message = (
                f"two distributions bring this name, {first.distribution!r} and {plugin.distribution!r};"
                f" the one of {first.distribution!r} is used. Uninstall the other"
            )
            problems.append(Problem(plugin.name, "index", message))
    return list(used.values()), problems


def _claim(plugin: PluginRecord) -> tuple[str, bool, str]:
    """Return the sort key of plugins of one name: the distribution named after it first, so that it wins."""
    return plugin.name, _canonical(plugin.distribution) != f"pluggypi-{_canonical(plugin.name)}", plugin.distribution


def _canonical(name: str) -> str:
    """Return the normalized name of a distribution, by which packaging tools compare."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _entry_points(distribution: Any) -> tuple[str, list[PluginRecord]]:
    """Return a distribution's canonical name, and its plugins."""
    name = distribution.metadata["Name"] or "(unnamed)"
    found = [
        PluginRecord(
            entry_point.name,
            name,
            distribution.version or "",
            entry_point.value.partition("[")[0].strip(),  # extras are history
            indexed=False,
        )
        for entry_point in distribution.entry_points.select(group=ENTRY_POINT_GROUP)
    ]
    return _canonical(name), found


def fingerprint() -> list[list[str | int]]:
    """Return names and modification times of all metadata on the import path."""
    marks: list[list[str | int]] = []
    for directory in dict.fromkeys(sys.path):
        try:
            with os.scandir(directory or ".") as entries:
                marks.extend(
                    [directory, entry.name, entry.stat().st_mtime_ns]
                    for entry in entries
                    if entry.name.endswith((".dist-info", ".egg-info", ".pth"))
                )
        except OSError:
            continue
    return sorted(marks)


def source_files(value: str) -> dict[str, int]:
    """Return the files of an editable plugin with their modification times; none for an installed plugin.

    An installed plugin changes only together with its ``.dist-info``; an editable one changes with any of its
    files, also with one that could not be imported so far. Folders of tables are included: a plugin may
    read any file in them. (Folders of code are not; importing it writes bytecode into them.)
    """
    origin = find_origin(value)
    if origin is None:
        return {}
    path = Path(origin)
    root = path.parent if path.name == "__init__.py" else path
    if any(root.parent.glob("*.dist-info")):
        return {}
    files = [path] if root is path else [file for file in root.rglob("*") if file.suffix in SOURCE_SUFFIXES]
    code = {file.parent for file in files if file.suffix == ".py"}
    tables = {file.parent for file in files} - code
    return {str(file): _time(str(file)) for file in (*files, *sorted(tables))}


def find_origin(value: str) -> str | None:
    """Return the file of an entry point's outermost package, without importing it; None if it is not found."""
    from importlib.util import find_spec  # only indexing needs it

    module = value.partition(":")[0]
    try:
        spec = find_spec(module.partition(".")[0])
    except (ImportError, ValueError, AttributeError):  # an invalid name, or an invalid entry in sys.modules
        return None
    if spec is not None and spec.has_location:
        return spec.origin
    return getattr(sys.modules.get(module), "__file__", None)  # below a namespace package


def unchanged(files: dict[str, int]) -> bool:
    """Return whether files still have these modification times."""
    return all(_time(file) == noted for file, noted in files.items())


def _time(file: str) -> int:
    try:
        return os.stat(file).st_mtime_ns  # noqa: PTH116 - runs at every start, before pathlib is paid for
    except OSError:
        return -1
