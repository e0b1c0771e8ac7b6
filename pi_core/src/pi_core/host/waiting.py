"""Which plugins wait for their ``pi_when``: their event hooks are left out until a session meets the condition."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from pi_core.host.records import PluginRecord
    from pi_core.settings import Settings

__all__ = ["WaitingPlugins"]


class WaitingPlugins:
    """The plugins of a host that no session has wanted yet.

    Args:
        settings: Those of the host, for questions that come from no session.

    Attributes:
        names: The plugins that wait; the same set for as long as the host lives.
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
        """Return the plugins that a session wants; they stay wanted, since sessions may share the host."""
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
        """Return whether a plugin has no ``pi_when``, or one that is met where a session starts.

        Args:
            record: The plugin.
            cwd: The working directory; the current one when None.
            settings: The settings of the session; those of the host when None.
            flags: The options of plugins that the session was given.
        """
        if not record.when:
            return True
        from pathlib import Path

        from pi_core.host.conditions import is_met

        return is_met(record.when, settings or self._settings, cwd or Path.cwd(), flags or {})
