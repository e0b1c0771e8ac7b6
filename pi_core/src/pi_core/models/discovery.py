"""Asks servers for their models, for providers that need no key and list no models (``ModelDiscovery``).

A server on the user's machine may or may not be running. All servers are queried concurrently with one short deadline;
a server that has not answered by then counts as not running.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_core.agent.safe_text import format_exception, safe_repr
from pi_core.hooks.containment import Contained
from pi_hookspecs import PiError, ProviderInfo, StreamOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pi_core.models.auth import ModelAuth
    from pi_core.models.tables import ModelTables

__all__ = ["ModelDiscoverer"]

_PLUGIN_SHARE = 0.9
"""Share of the timeout that plugins get, so that they can return partial results before the deadline."""

_GRACE_SECONDS = 0.05
"""How long to wait for a cancelled query to finish."""

_STEPS = 20
"""The timeout is split into this many waits: if the event loop is blocked, only one of them is lost."""


class ModelDiscoverer:
    """Queries servers and stores the models in the tables.

    Args:
        tables: The providers and the plugins that implement their APIs.
        keys: Keys and headers, which the user may have configured although they are not required.
        warn: Called with each failure.
    """

    def __init__(self, tables: ModelTables, keys: ModelAuth, warn: Callable[[str], None]) -> None:
        self._tables = tables
        self._keys = keys
        self._warn = warn

    async def discover(self, provider_ids: Iterable[str] | None, seconds: float) -> list[ProviderInfo]:
        """Query the servers of the given providers, or of all if None; return the rows of providers with models."""
        queries = [
            (info, discover)
            for info in self._tables.discoverable(provider_ids)
            if (discover := self._discover_method(info))
        ]
        # The timeout starts here, so that the time to import a plugin does not count.
        tasks = {asyncio.ensure_future(self._query(info, discover, seconds)): info for info, discover in queries}
        if not tasks:
            return []
        late = await _pending_after(tasks, seconds)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late, timeout=_GRACE_SECONDS)
        rows = [row for task, info in tasks.items() if task not in late and (row := self._row(info, task.result()))]
        self._tables.store_discovered(rows)
        return [row for row in rows if row.models]

    def _discover_method(self, info: ProviderInfo) -> Callable[..., Any] | None:
        """Return the plugin's ``discover`` method for a provider's API; None if it has no such method."""
        discover = getattr(self._tables.plugin_provider(info.api), "discover", None)
        return discover if callable(discover) else None

    async def _query(self, info: ProviderInfo, discover: Callable[..., Any], seconds: float) -> Any:
        """Return the plugin's result, or the exception that it raised, which may have any type."""
        milliseconds = max(int(seconds * _PLUGIN_SHARE * 1000), 1)
        failures: list[BaseException] = []
        with Contained(failures.append):
            auth = await self._keys.for_model(info.custom_model(""), info)
            options = StreamOptions(api_key=auth.api_key, headers=auth.headers or None, timeout_ms=milliseconds)
            return await discover(evolve(info, base_url=auth.base_url), options)
        return failures[0]

    def _row(self, info: ProviderInfo, answer: Any) -> ProviderInfo | None:
        """Return a plugin's result if it is the provider's row; else warn and return None."""
        if isinstance(answer, ProviderInfo) and answer.id == info.id:
            return answer
        problem = f"its plugin returned {safe_repr(answer)}, which is not the ProviderInfo of {info.id!r}"
        if isinstance(answer, BaseException):
            problem = str(answer) if isinstance(answer, PiError) else format_exception(answer)
        self._warn(f"Provider {info.id!r} cannot be asked for its models: {problem}")
        return None


async def _pending_after(tasks: Iterable[asyncio.Future[Any]], seconds: float) -> set[asyncio.Future[Any]]:
    """Wait, and return the tasks still pending; time during which an import blocks the event loop hardly counts."""
    late = set(tasks)
    for _ in range(_STEPS):
        if late:
            _, late = await asyncio.wait(late, timeout=seconds / _STEPS)
    return late
