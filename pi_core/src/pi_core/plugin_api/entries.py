"""The part of ``pi`` for the session's entries and its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_core.plugin_api.arguments import check_session_name, entry_data
from pi_core.plugin_api.handles import Handle

if TYPE_CHECKING:
    from pi_core.plugin_api.port import SessionPort

__all__ = ["EntryMethods"]


class EntryMethods(Handle):
    """Adds entries to the session, and names it.

    Attributes:
        plugin: The plugin's name.
    """

    _session: SessionPort
    plugin: str

    def append_entry(self, custom_type: str, data: Any = None, /) -> str:
        """Store plain data in the session, outside the model's context; return the entry's id."""
        data = entry_data(self.plugin, custom_type, data)
        return self._session.session_manager.append_custom_entry(custom_type, data)

    def set_label(self, entry_id: str, label: str | None = None, /) -> str:
        """Label an entry of the session; None removes the label. Return the id of the new label entry."""
        return self._session.session_manager.append_label_change(entry_id, label)

    async def set_session_name(self, name: str | None, /) -> None:
        """Name the session; None removes the name."""
        check_session_name(name)
        await self._session.set_session_name(name)

    def get_session_name(self) -> str | None:
        """Return the session's name; None if it has none."""
        return self._session.session_manager.name
