"""What is known of a session in another process without asking: what was read last, and what events have changed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_client import PiClient
    from pi_client.values import JsonObject, Stats

__all__ = ["Mirror"]


class Mirror:
    """The state of a session as it was read, kept up to date by events.

    Attributes:
        branch: Its entries, from the first one of the current branch.
        models: The models that can be used.
        levels: The thinking levels of the model.
        user_messages: Id and text of each message of the user.
        last_answer: The text of the last answer.
        session_id: Its id; None before it is known.
    """

    def __init__(self) -> None:
        self.branch: list[Any] = []
        self.models: list[JsonObject] = []
        self.levels: tuple[str, ...] = ()
        self.user_messages: list[tuple[str, str]] = []
        self.last_answer: str | None = None
        self.session_id: str | None = None
        self.is_streaming = self.is_retrying = self.is_compacting = False
        self._facts: dict[str, Any] = {}
        self._stats: Stats | None = None
        self._queued: tuple[str, ...] = ()
        self._settled: asyncio.Future[None] | None = None

    # Reading

    async def read(self, client: PiClient) -> None:
        """Read everything; raises as the client."""
        from pi_core.wire.converter import entry_from_wire

        found = await client.get_entries()
        entries = [entry_from_wire(each) for each in found.entries]
        self.branch = _branch(entries, found.leaf_id)
        self.models = [*await client.get_available_models()]
        await self.read_figures(client)

    async def read_figures(self, client: PiClient) -> None:
        """Read what changes with a run; raises as the client."""
        state = await client.get_state()
        self.session_id = state.session_id
        self.is_streaming, self.is_compacting = state.is_streaming, state.is_compacting
        model = state.model or {}
        self._facts = {
            "name": state.session_name,
            "model": model.get("id"),
            "provider": model.get("provider"),
            "window": int(model.get("contextWindow", 0)),
            "level": state.thinking_level if model.get("reasoning") else None,
            "auto_compact": state.auto_compaction_enabled,
            "providers": len({each["provider"] for each in self.models}),
        }
        self._stats = await client.get_session_stats()
        self.levels = tuple(await client.get_available_thinking_levels())
        self.last_answer = await client.get_last_assistant_text()
        self.user_messages = [(each.entry_id, each.text) for each in await client.get_fork_messages()]

    # Events

    def take(self, event: Any) -> None:
        """Follow an event."""
        kind = event.type
        if kind == "agent_start":
            self.is_streaming, self.is_retrying = True, False
        elif kind == "agent_settled":
            self.is_streaming = self.is_retrying = False
            if self._settled is not None and not self._settled.done():
                self._settled.set_result(None)
        elif kind in ("auto_retry_start", "auto_retry_end"):
            self.is_retrying = kind == "auto_retry_start"
        elif kind in ("compaction_start", "compaction_end"):
            self.is_compacting = kind == "compaction_start"
        elif kind == "queue_update":
            self._queued = (*event.steering, *event.follow_up)
        elif kind == "thinking_level_changed" and self._facts.get("level") is not None:
            self._facts["level"] = event.level

    def next_settled(self) -> asyncio.Future[None]:
        """Return a future that is done when a run is over."""
        if self._settled is None or self._settled.done():
            self._settled = asyncio.get_running_loop().create_future()
        return self._settled

    def take_queued(self) -> list[str]:
        """Return the queued messages; they are not known as queued any more."""
        taken, self._queued = [*self._queued], ()
        return taken

    # As the front end asks for it

    def facts(self) -> dict[str, Any]:
        """Return the fields of the footer that no event has."""
        return dict(self._facts)

    def usage(self) -> dict[str, Any]:
        """Return the footer's totals."""
        if self._stats is None:
            return {}
        tokens = self._stats.tokens
        return {
            "input": tokens.input,
            "output": tokens.output,
            "cache_read": tokens.cache_read,
            "cache_write": tokens.cache_write,
            "cost": self._stats.cost,
        }

    def session_info(self) -> list[str]:
        """Return lines about the session's file, size and cost."""
        stats = self._stats
        if stats is None:
            return []
        answers = f"{stats.user_messages} of the user, {stats.assistant_messages} answers"
        return [
            f"File      {stats.session_file or 'in memory'}",
            f"ID        {stats.session_id}",
            f"Messages  {stats.total_messages}: {answers}",
            f"Tokens    {stats.tokens.total:,}",
            f"Cost      ${stats.cost:.4f}",
        ]


def _branch(entries: Iterable[Any], leaf: str | None) -> list[Any]:
    """Return the entries from the first one to the leaf."""
    by_id = {each.id: each for each in entries}
    found: list[Any] = []
    while leaf is not None and leaf in by_id:
        found.append(by_id.pop(leaf))
        leaf = found[-1].parent_id
    return found[::-1]
