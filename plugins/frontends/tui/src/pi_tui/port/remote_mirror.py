"""The locally known state of a session in another process: the last state read, updated by events."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pi_client import PiClient
    from pi_client.values import JsonObject, Stats

__all__ = ["Mirror"]


class Mirror:
    """The state of a session as it was last read, kept up to date by events.

    Attributes:
        branch: The entries of the current branch, from the first one.
        models: The available models.
        levels: The thinking levels of the model.
        user_messages: The id and the text of each message of the user.
        last_answer: The text of the last answer.
        session_id: Its id; None before it is known.
        receives_entries: Whether the server sends entries by itself, so that they need not be requested.
    """

    def __init__(self) -> None:
        self.branch: list[Any] = []
        self.models: list[JsonObject] = []
        self.levels: tuple[str, ...] = ()
        self.user_messages: list[tuple[str, str]] = []
        self.last_answer: str | None = None
        self.session_id: str | None = None
        self.is_streaming = self.is_retrying = self.is_compacting = False
        self.receives_entries = False
        self._known: dict[str, Any] = {}
        self._facts: dict[str, Any] = {}
        self._is_virtual = False
        self._stats: Stats | None = None
        self._queued: tuple[str, ...] = ()
        self._settled: asyncio.Future[None] | None = None

    # Reading

    async def read(self, client: PiClient) -> None:
        """Read everything; raises the client's errors."""
        self.models = [*await client.get_available_models()]
        await self.read_figures(client)
        if not self.receives_entries:
            found = await client.get_entries()
            self._replace(found.entries, found.leaf_id)

    async def read_figures(self, client: PiClient) -> None:
        """Read the values that a run changes; raises the client's errors."""
        state = await client.get_state()
        self.session_id = state.session_id
        self.is_streaming, self.is_compacting = state.is_streaming, state.is_compacting
        model = state.model or {}
        self._is_virtual = model.get("api") == "virtual"
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

    # Entries

    def take_entries(self, update: JsonObject) -> bool:
        """Add entries that the server sent; return whether they replace the conversation or begin another branch."""
        self.receives_entries = True
        if update.get("reset"):
            self._replace(update["entries"], update["leaf"])
            return True
        last = self.branch[-1].id if self.branch else None
        self._add(update["entries"])
        new = _branch(self._known, update["leaf"], last)
        if new and new[0].parent_id != last:
            self.branch = new
            return True
        self.branch += new
        return False

    def _replace(self, entries: Iterable[Any], leaf: str | None) -> None:
        self._known = {}
        self._add(entries)
        self.branch = _branch(self._known, leaf)

    def _add(self, entries: Iterable[Any]) -> None:
        from pi_core.wire.converter import entry_from_wire

        self._known |= {each.id: each for each in map(entry_from_wire, entries)}

    # Events

    def take(self, event: Any) -> None:
        """Update the state by an event."""
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
        """Return and forget the queued messages."""
        taken, self._queued = [*self._queued], ()
        return taken

    # State in the form that the front end needs

    def facts(self) -> dict[str, Any]:
        """Return the fields of the footer that no event contains."""
        from pi_terminal_kit.figures import dispatch_facts

        return {**self._facts, **dispatch_facts(self._last_answer() if self._is_virtual else None)}

    def _last_answer(self) -> Any:
        messages = (getattr(entry, "message", None) for entry in reversed(self.branch))
        return next((each for each in messages if getattr(each, "role", None) == "assistant"), None)

    def usage(self) -> dict[str, Any]:
        """Return the footer's totals."""
        from pi_terminal_kit.figures import usage_facts

        return usage_facts(self._stats) if self._stats is not None else {}

    def session_info(self) -> list[str]:
        """Return lines about the session's file, size and cost."""
        from pi_terminal_kit.figures import session_rows

        stats = self._stats
        return session_rows(stats, file=stats.session_file, cache=stats.cache_warming) if stats is not None else []


def _branch(known: Mapping[str, Any], leaf: str | None, after: str | None = None) -> list[Any]:
    """Return the entries up to the leaf, from the first one or from the successor of another entry."""
    found: dict[str, Any] = {}
    while leaf is not None and leaf != after and leaf in known and leaf not in found:
        found[leaf] = known[leaf]
        leaf = known[leaf].parent_id
    return [*found.values()][::-1]
