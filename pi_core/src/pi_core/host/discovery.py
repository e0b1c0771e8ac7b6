"""Discovers installed plugins, and detects changes since the previous discovery.

Discovery scans the metadata of every distribution; changes are detected by names and modification times alone.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_core.agent.safe_text import format_exception
from pi_core.host.records import PluginRecord, Problem

if TYPE_CHECKING:
    from collections.abc import Callable
    from email.message import Message

__all__ = ["default_plugins", "find_origin", "find_plugins", "fingerprint", "source_files", "unchanged"]

ENTRY_POINT_GROUP = "pi"
DISTRIBUTION = "pluggypi"
"""What users install; its requirements are the default plugins."""

_UNNAMED = "(unnamed)"

SOURCE_SUFFIXES = frozenset({".py", ".json"})
"""Suffixes of an editable plugin's files whose changes make its record stale: code, and tables such as models."""


def find_plugins() -> tuple[list[PluginRecord], list[Problem]]:
    """Return all entry points of group ``pi``, sorted by name, and problems, without importing plugins."""
    import importlib_metadata  # rarely needed, and slow to import

    problems: list[Problem] = []
    try:  # reads only the metadata of plugins
        entry_points = importlib_metadata.entry_points(group=ENTRY_POINT_GROUP)
        everything = [_record(each, _metadata(each.dist)) for each in entry_points]
    except Exception:  # noqa: BLE001 - metadata that was cut off or is not text at all
        everything = _find_in_readable(problems)
    used: dict[str, PluginRecord] = {}
    for plugin in sorted(everything, key=_claim):
        first = used.setdefault(plugin.name, plugin)
        if first is not plugin:
            message = (
                f"two distributions provide this name, {first.distribution!r} and {plugin.distribution!r};"
                f" the one from {first.distribution!r} is used. Uninstall the other"
            )
            problems.append(Problem(plugin.name, "index", message))
    own = _own_distributions()
    for plugin in used.values():
        plugin.is_default = own(plugin)
    return list(used.values()), problems


def default_plugins() -> frozenset[str]:
    """Return the names of the installed plugins that belong to what ``pluggypi`` installs. Reads all metadata."""
    return frozenset(each.name for each in find_plugins()[0] if each.is_default)


def _own_distributions() -> Callable[[PluginRecord], bool]:
    """Return whether a plugin belongs to what ``pluggypi`` installs.

    These are the plugins of the distributions that ``pluggypi`` requires, extras aside. Where it is not installed, as
    in an environment with single plugins of it, these are the plugins of the engine's own release.
    """
    import importlib_metadata

    try:
        required = importlib_metadata.requires(DISTRIBUTION) or []
    except Exception:  # noqa: BLE001 - it is not installed, or its metadata is damaged
        with suppress(Exception):
            release = importlib_metadata.version(f"{DISTRIBUTION}-core")
            return lambda plugin: _is_of_release(plugin, release)
        return lambda _plugin: False
    names = {_canonical(re.split(r"[^\w.-]", each, maxsplit=1)[0]) for each in required if "extra ==" not in each}
    return lambda plugin: _canonical(plugin.distribution) in names


def _is_of_release(plugin: PluginRecord, release: str) -> bool:
    return _is_named_after(plugin) and plugin.version == release


def _claim(plugin: PluginRecord) -> tuple[str, bool, str]:
    """Return the sort key of plugins with the same name; a distribution of this name comes first and wins."""
    return plugin.name, not _is_named_after(plugin), plugin.distribution


def _is_named_after(plugin: PluginRecord) -> bool:
    return _canonical(plugin.distribution) == f"{DISTRIBUTION}-{_canonical(plugin.name)}"


def _canonical(name: str) -> str:
    """Return a distribution's normalized name, which packaging tools compare."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _find_in_readable(problems: list[Problem]) -> list[PluginRecord]:
    """Return the entry points of the distributions whose metadata can be read; add the others to the problems."""
    import importlib_metadata

    everything: list[PluginRecord] = []
    seen: set[str] = set()
    for distribution in importlib_metadata.distributions():
        try:
            metadata = _metadata(distribution)
            name = _canonical(metadata["Name"] or _UNNAMED)
            entry_points = distribution.entry_points.select(group=ENTRY_POINT_GROUP)
            found = [_record(each, metadata) for each in entry_points]
        except Exception as error:  # noqa: BLE001 - as above
            where = getattr(distribution, "_path", "an installed distribution")
            problems.append(
                Problem("(unknown)", "index", f"the metadata in {where} cannot be read: {format_exception(error)}")
            )
            continue
        if name not in seen:  # otherwise it is an older copy further down the path
            seen.add(name)
            everything += found
    return everything


def _record(entry_point: Any, metadata: Message) -> PluginRecord:
    return PluginRecord(
        entry_point.name,
        metadata["Name"] or _UNNAMED,
        metadata["Version"] or "",
        entry_point.value.partition("[")[0].strip(),  # extras of entry points are deprecated
        indexed=False,
    )


def _metadata(distribution: Any) -> Message:
    """Return a distribution's metadata without its description, whose parsing would take most of the time."""
    from email import message_from_string

    text = distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or ""
    return message_from_string(text.partition("\n\n")[0])


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
    """Return the files of an editable plugin with their modification times; empty for an installed plugin.

    An installed plugin changes only together with its ``.dist-info``; an editable plugin changes with any of its files,
    including files that could not be imported so far. Folders of tables are included, because a plugin may read any
    file in them. Folders of code are not, because imports write bytecode into them.
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
    """Return the file of an entry point's outermost package without importing it; None if it is not found."""
    from importlib.util import find_spec  # only needed for indexing

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
