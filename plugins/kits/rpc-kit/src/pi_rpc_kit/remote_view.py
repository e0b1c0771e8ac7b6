"""What is known of a session in another process: as it was last read, kept up to date by events.

It has the names of ``pi_core.Session``, so that a front end reads the same of a session in its own process.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_core import SessionStats, TokenTotals, entry_from_wire, model_from_wire
from pi_hookspecs import ContextUsage, PiError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pi_client import PiClient
    from pi_client.values import JsonObject, QueueMode, Stats
    from pi_hookspecs import AssistantMessage, Model, SessionEntry, ThinkingLevel

__all__ = ["RemoteView"]


class RemoteView:
    """The state of a session.

    Attributes:
        receives_entries: Whether the server sends entries by itself, so that they need not be requested.
    """

    def __init__(self) -> None:
        self.model: Model | None = None
        self.thinking_level: ThinkingLevel = "off"
        self.session_id = ""
        self.session_file: Path | None = None
        self.session_name: str | None = None
        self.cache_warming: str | None = None
        self.auto_compaction_enabled = True
        self.is_streaming = self.is_retrying = self.is_compacting = False
        self.receives_entries = False
        self._branch: list[SessionEntry] = []
        self._known: dict[str, SessionEntry] = {}
        self._models: list[Model] = []
        self._levels: tuple[ThinkingLevel, ...] = ()
        self._stats = SessionStats(session_id="")
        self._last_text: str | None = None
        self._user_messages: list[tuple[str, str]] = []
        self.steering_mode: QueueMode = "one-at-a-time"
        self.follow_up_mode: QueueMode = "one-at-a-time"
        self.pending_message_count = 0
        self._steering: tuple[str, ...] = ()
        self._follow_up: tuple[str, ...] = ()
        self._settled: asyncio.Future[None] | None = None
        self._answer: AssistantMessage | None = None

    def get_branch(self) -> Sequence[SessionEntry]:
        """Return the last known entries of the current branch, from the first one."""
        return self._branch

    def get_available_models(self) -> Sequence[Model]:
        """Return the models that could be used when the session was read."""
        return self._models

    def get_available_thinking_levels(self) -> Sequence[ThinkingLevel]:
        """Return the thinking levels of the model."""
        return self._levels

    def get_session_stats(self) -> SessionStats:
        """Return messages, tokens and dollars of all branches, and how full the window is."""
        return self._stats

    def get_last_assistant_text(self) -> str | None:
        """Return the text of the last answer."""
        return self._last_text

    def get_user_messages_for_forking(self) -> Sequence[tuple[str, str]]:
        """Return the id and the text of every user message on the branch."""
        return self._user_messages

    def get_steering_messages(self) -> tuple[str, ...]:
        """Return the texts that are queued for the next request."""
        return self._steering

    def get_follow_up_messages(self) -> tuple[str, ...]:
        """Return the texts that are queued for the end of the run."""
        return self._follow_up

    # Reading

    async def read(self, client: PiClient) -> None:
        """Read everything; raises the client's errors."""
        self._models = _models(await client.get_available_models())
        await self.read_figures(client)
        if not self.receives_entries:
            found = await client.get_entries()
            self._replace(found.entries, found.leaf_id)

    async def read_new_entries(self, client: PiClient) -> None:
        """Read the entries since the last one that is known; raises the client's errors."""
        found = await client.get_entries(next(reversed(self._known), None))
        self._add(found.entries)
        self._branch = _branch(self._known, found.leaf_id)

    async def read_figures(self, client: PiClient) -> None:
        """Read the values that a run changes; raises the client's errors."""
        state = await client.get_state()
        self.session_id, self.session_name = state.session_id, state.session_name
        self.session_file = None if state.session_file is None else Path(state.session_file)
        self.is_streaming, self.is_compacting = state.is_streaming, state.is_compacting
        self.auto_compaction_enabled = state.auto_compaction_enabled
        self.model = next(iter(_models([state.model])), None) if state.model is not None else None
        self.thinking_level = state.thinking_level
        self.steering_mode, self.follow_up_mode = state.steering_mode, state.follow_up_mode
        self.pending_message_count = state.pending_message_count
        stats = await client.get_session_stats()
        self._stats, self.cache_warming = _stats(stats), stats.cache_warming
        self._levels = tuple(await client.get_available_thinking_levels())
        self._last_text = await client.get_last_assistant_text()
        self._user_messages = [(each.entry_id, each.text) for each in await client.get_fork_messages()]

    # Entries

    def take_entries(self, update: JsonObject) -> bool:
        """Add entries that the server sent; return whether they replace the conversation or begin another branch."""
        self.receives_entries = True
        if update.get("reset"):
            self._replace(update["entries"], update["leaf"])
            return True
        last = self._branch[-1].id if self._branch else None
        self._add(update["entries"])
        new = _branch(self._known, update["leaf"], last)
        if new and new[0].parent_id != last:
            self._branch = new
            return True
        self._branch += new
        return False

    def _replace(self, entries: Iterable[JsonObject], leaf: str | None) -> None:
        self._known = {}
        self._add(entries)
        self._branch = _branch(self._known, leaf)

    def _add(self, entries: Iterable[JsonObject]) -> None:
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
            self._steering, self._follow_up = tuple(event.steering), tuple(event.follow_up)
            self.pending_message_count = len(self._steering) + len(self._follow_up)
        elif kind == "thinking_level_changed":
            self.thinking_level = event.level
        elif kind == "message_end" and event.message.role == "assistant":
            self._answer = event.message

    def next_settled(self) -> asyncio.Future[None]:
        """Return a future that is done when a run is over."""
        if self._settled is None or self._settled.done():
            self._settled = asyncio.get_running_loop().create_future()
        return self._settled

    def forget_queued(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return and forget the texts that are queued for the next request, and for the end of the run."""
        queued = self._steering, self._follow_up
        self._steering = self._follow_up = ()
        self.pending_message_count = 0
        return queued


def _models(received: Iterable[JsonObject]) -> list[Model]:
    """Return models of the wire, without those that a newer pi may describe in another way."""
    models = []
    for each in received:
        try:
            models.append(model_from_wire(each))
        except PiError:
            continue
    return models


def _stats(read: Stats) -> SessionStats:
    usage = read.context_usage
    return SessionStats(
        session_id=read.session_id,
        session_file=None if read.session_file is None else Path(read.session_file),
        user_messages=read.user_messages,
        assistant_messages=read.assistant_messages,
        tool_calls=read.tool_calls,
        tool_results=read.tool_results,
        total_messages=read.total_messages,
        tokens=TokenTotals(
            input=read.tokens.input,
            output=read.tokens.output,
            cache_read=read.tokens.cache_read,
            cache_write=read.tokens.cache_write,
            total=read.tokens.total,
        ),
        cost=read.cost,
        cost_by_model=read.cost_by_model,
        context_usage=None
        if usage is None
        else ContextUsage(tokens=usage.tokens, context_window=usage.context_window, percent=usage.percent),
    )


def _branch(known: Mapping[str, Any], leaf: str | None, after: str | None = None) -> list[Any]:
    """Return the entries up to the leaf, from the first one or from the successor of another entry."""
    found: dict[str, Any] = {}
    while leaf is not None and leaf != after and leaf in known and leaf not in found:
        found[leaf] = known[leaf]
        leaf = known[leaf].parent_id
    return [*found.values()][::-1]
