"""Tracks plugins that wait for their ``pi_when``; their event hooks are skipped until a session meets it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from pi_core.host.records import PluginRecord
    from pi_core.settings import Settings

__all__ = ["WaitingPlugins"]


class WaitingPlugins:
    """The plugins of a host whose condition no session has met yet.

    Args:
        settings: The settings of the host, for calls that do not come from a session.

    Attributes:
        names: The plugins that wait; always the same set object.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._wanted: set[str] = set()
        self.names: set[str] = set()

    def wanted(
        self,
        records: Iterable[PluginRecord],
        cwd: Path | None = None,
        settings: Settings | None = None,
        flags: Mapping[str, object] | None = None,
    ) -> list[str]:
        """Return the plugins whose condition a session meets; they stop waiting, as sessions may share the host."""
        listening = list(records)
        wanted = [record.name for record in listening if self.is_wanted(record, cwd, settings, flags)]
        self._wanted.update(wanted)
        self.names |= {record.name for record in listening}
        self.names -= self._wanted
        return wanted

    def is_wanted(
        self,
        record: PluginRecord,
        cwd: Path | None = None,
        settings: Settings | None = None,
        flags: Mapping[str, object] | None = None,
    ) -> bool:
        """Return whether a plugin has no ``pi_when``, or a condition that the session meets.

        Args:
            record: The plugin.
            cwd: The working directory; None uses the current directory.
            settings: The settings of the session; None uses the settings of the host.
            flags: The values of plugin options given to the session.
        """
        if not record.when:
            return True
        from pathlib import Path

        from pi_core.host.conditions import is_met

        return is_met(record.when, settings or self._settings, cwd or Path.cwd(), flags or {})
