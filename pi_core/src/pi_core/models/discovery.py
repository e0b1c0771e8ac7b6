"""Asking servers which models they have: those of providers that need no key and list none (``ModelDiscovery``).

A server on the user's machine may run or not. All are asked at once and get a short time together; who has not
answered by then is not there.
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

_SHARE = 0.9
"""Of that time plugins are told a little less, so that they can still say what they know."""

_GRACE_SECONDS = 0.05
"""How long a question that was called off is awaited."""

_STEPS = 20
"""That time is counted in so many steps: one in which the event loop stood still counts no longer than another."""


class ModelDiscoverer:
    """Asks servers, and keeps what they answer in the tables.

    Args:
        tables: The providers, and who speaks their APIs.
        keys: Keys and headers, where the user configured some all the same.
        warn: Told what went wrong.
    """

    def __init__(self, tables: ModelTables, keys: ModelAuth, warn: Callable[[str], None]) -> None:
        self._tables = tables
        self._keys = keys
        self._warn = warn

    async def ask(self, provider_ids: Iterable[str] | None, seconds: float) -> list[ProviderInfo]:
        """Ask the servers of providers, of all when None; return the rows of those that have models."""
        questions = [(info, ask) for info in self._tables.unlisted(provider_ids) if (ask := self._way(info))]
        # From here on the time runs: that a plugin had to be imported is not the servers' fault.
        tasks = {asyncio.ensure_future(self._asked(info, ask, seconds)): info for info, ask in questions}
        if not tasks:
            return []
        late = await _late(tasks, seconds)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late, timeout=_GRACE_SECONDS)
        rows = [row for task, info in tasks.items() if task not in late and (row := self._row(info, task.result()))]
        self._tables.keep(rows)
        return [row for row in rows if row.models]

    def _way(self, info: ProviderInfo) -> Callable[..., Any] | None:
        """Return how to ask a provider's server; None where the plugin that speaks its API does not ask."""
        ask = getattr(self._tables.speaker(info.api), "discover", None)
        return ask if callable(ask) else None

    async def _asked(self, info: ProviderInfo, ask: Callable[..., Any], seconds: float) -> Any:
        """Return what the plugin answers, or its error: a plugin may raise anything."""
        milliseconds = max(int(seconds * _SHARE * 1000), 1)
        failures: list[BaseException] = []
        with Contained(failures.append):
            auth = await self._keys.for_model(info.custom_model(""), info)
            options = StreamOptions(api_key=auth.api_key, headers=auth.headers or None, timeout_ms=milliseconds)
            return await ask(evolve(info, base_url=auth.base_url), options)
        return failures[0]

    def _row(self, info: ProviderInfo, answer: Any) -> ProviderInfo | None:
        """Return the row that a plugin answered; None, and a warning, for anything else."""
        if isinstance(answer, ProviderInfo) and answer.id == info.id:
            return answer
        problem = f"its plugin answered {safe_repr(answer)}, not its row"
        if isinstance(answer, BaseException):
            problem = str(answer) if isinstance(answer, PiError) else format_exception(answer)
        self._warn(f"Provider {info.id!r} cannot be asked for its models: {problem}")
        return None


async def _late(tasks: Iterable[asyncio.Future[Any]], seconds: float) -> set[asyncio.Future[Any]]:
    """Return who does not answer in this time, in which a loop that stands still for an import does not count."""
    late = set(tasks)
    for _ in range(_STEPS):
        if late:
            _, late = await asyncio.wait(late, timeout=seconds / _STEPS)
    return late
