"""Fails a test in which a plugin breaks the provider's prompt cache; the plugin ``cache-lint`` finds the breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_core import ReadOnlySession
from pi_hookspecs import CustomEntry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_core import AgentSession

__all__ = ["CACHE_LINT", "CacheGuard"]

CACHE_LINT = "cache-lint"
"""Name of the plugin that finds breaks, and the type of its entries."""


class CacheGuard:
    """The prompt cache breaks of a session.

    Args:
        session: A session with the plugin ``cache-lint``.
    """

    def __init__(self, session: AgentSession) -> None:
        self._session = session

    @property
    def breaks(self) -> Sequence[dict[str, Any]]:
        """All breaks so far: ``request``, ``kind`` (expected, avoidable, evicted), ``link``, ``plugin``, ``hook``."""
        entries = ReadOnlySession(self._session.session_manager).entries()
        found = [each.data for each in entries if isinstance(each, CustomEntry) and each.custom_type == CACHE_LINT]
        return [each["break"] for each in found if "break" in each]

    @property
    def problem(self) -> str | None:
        """The avoidable breaks, one line each; None if there are none."""
        lines = [
            f"{each['link']}, by {each['plugin'] or 'pi'} ({each['hook'] or 'no hook found'})"
            for each in self.breaks
            if each["kind"] == "avoidable"
        ]
        return "\n".join(["The prompt cache of the provider would be lost at", *lines]) if lines else None
