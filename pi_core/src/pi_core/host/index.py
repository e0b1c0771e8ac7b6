"""The index: what every installed plugin implements and registers, cached on disk, so that a start imports no plugin.

The file belongs to one Python environment. It is only used if the names and times of all metadata are unchanged, which
is checked at every start. If the file cannot be written, plugins are indexed at each start.
"""

from __future__ import annotations

import json  # the settings have already imported it; importing orjson takes longer than reading this file
import sys
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pi_core.base.paths import make_cache
from pi_core.base.replacing import replace_file
from pi_core.host.gates import guarded_hooks
from pi_core.host.overlay import stable_path
from pi_core.host.records import PluginRecord, Problem

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["IndexFile"]

FORMAT = 10


class IndexFile:
    """The index of one environment, in the agent directory's ``cache``."""

    def __init__(self, agent_dir: Path) -> None:
        self._agent_dir = agent_dir

    @cached_property
    def path(self) -> Path:
        """The file, named after the import path on first use, because an overlay may join the path until then."""
        from binascii import crc32

        # One file for all generations of an overlay: the guards of the previous generation must not be forgotten.
        environment = "\0".join([sys.version, sys.prefix, *map(stable_path, sys.path)])
        return self._agent_dir / "cache" / f"plugins-{crc32(environment.encode()):08x}.json"

    def read(self, marks: list[list[str | int]]) -> tuple[list[PluginRecord], list[Problem]] | None:
        """Return the records if the file was written for exactly these marks; None otherwise."""
        try:
            stored = json.loads(self.path.read_bytes())
            if stored["format"] != FORMAT or stored["marks"] != marks:
                return None
            records = [PluginRecord.from_plain(plain) for plain in stored["plugins"]]
            return records, [Problem(*problem) for problem in stored["problems"]]
        except (OSError, ValueError, KeyError, TypeError):  # missing, truncated, or overwritten
            return None

    def guards(self) -> dict[tuple[str, str], list[str]]:
        """Return the hooks that plugins guarded when the file was written, by plugin and distribution.

        A stale file is also used, because it may be stale because a guard can no longer be loaded.
        """
        with suppress(OSError, ValueError, KeyError, TypeError):
            records = [PluginRecord.from_plain(plain) for plain in json.loads(self.path.read_bytes())["plugins"]]
            return {
                (record.name, record.distribution): record.guards or guarded_hooks(record.hooks) for record in records
            }
        return {}

    def write(self, marks: list[list[str | int]], records: list[PluginRecord], problems: list[Problem]) -> None:
        """Replace the file atomically; an unwritable folder is not an error."""
        content: dict[str, Any] = {
            "format": FORMAT,
            "marks": marks,
            "plugins": [record.to_plain() for record in records],
            "problems": [[problem.plugin, problem.step, problem.message] for problem in problems],
        }
        with suppress(OSError, TypeError):  # TypeError: a plugin's description is not JSON
            make_cache(self.path.parent)
            replace_file(self.path, json.dumps(content, separators=(",", ":")).encode(), durable=False)
