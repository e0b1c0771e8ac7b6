"""Which plugins are installed, and whether that has changed since the last look.

Looking costs a scan of every distribution's metadata; whether anything changed is seen from names and
times alone.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pi_core.host.records import FoundPlugin, Problem

__all__ = ["find_origin", "find_plugins", "fingerprint", "source_files", "unchanged"]

ENTRY_POINT_GROUP = "pi"


def find_plugins() -> tuple[list[FoundPlugin], list[Problem]]:
    """Return every entry point of group ``pi``, by name; of two with one name the first distribution counts."""
    import importlib_metadata  # the scan is rare, its import is not cheap

    found: dict[str, FoundPlugin] = {}
    problems: list[Problem] = []
    seen: set[str] = set()
    for distribution in importlib_metadata.distributions():
        name = distribution.metadata["Name"] or "(unnamed)"
        if name in seen:  # an older copy further down the path
            continue
        seen.add(name)
        for entry_point in distribution.entry_points.select(group=ENTRY_POINT_GROUP):
            plugin = FoundPlugin(
                name=entry_point.name, distribution=name, version=distribution.version, value=entry_point.value
            )
            other = found.setdefault(plugin.name, plugin)
            if other is not plugin:
                problems.append(
                    Problem(
                        plugin.name,
                        "index",
                        f"two distributions bring this name, {other.distribution!r} and {name!r}; the first is used."
                        f" Uninstall one of them",
                    )
                )
    return sorted(found.values(), key=lambda plugin: plugin.name), problems


def fingerprint() -> list[list[str | int]]:
    """Return names and times of everything on the path that says what is installed."""
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
    return sorted(marks, key=repr)


def source_files(value: str) -> dict[str, int]:
    """Return the files of an editable plugin with their times; nothing for one that sits beside its metadata.

    An installed plugin changes only together with its ``.dist-info``; an editable one changes whenever
    somebody saves a file. The plugin need not have been importable.
    """
    origin = find_origin(value)
    if origin is None:
        return {}
    path = Path(origin)
    root = path.parent if path.name == "__init__.py" else path
    if any(root.parent.glob("*.dist-info")):
        return {}
    files = [path] if root is path else [root, *root.rglob("*.py")]
    return {str(file): _time(str(file)) for file in files}


def find_origin(value: str) -> str | None:
    """Return the file of an entry point's outermost module, without importing it; None where there is none."""
    from importlib.util import find_spec

    spec = find_spec(value.partition(":")[0].partition(".")[0])
    return spec.origin if spec is not None else None


def unchanged(files: dict[str, int]) -> bool:
    """Return whether files still have the times that were noted."""
    return all(_time(file) == noted for file, noted in files.items())


def _time(file: str) -> int:
    try:
        return os.stat(file).st_mtime_ns  # noqa: PTH116 - runs at every start, before pathlib is paid for
    except OSError:
        return -1
