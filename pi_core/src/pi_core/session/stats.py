"""Statistics of a session: counts of messages, tokens and cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import Factory, frozen

from pi_hookspecs.entries import MessageEntry
from pi_hookspecs.messages import AssistantMessage, ToolResultMessage, UserMessage
from pi_hookspecs.rare_entries import BranchSummaryEntry, CompactionEntry, UsageEntry

if TYPE_CHECKING:
    from pathlib import Path

    from pi_core.session.tree import SessionTree
    from pi_hookspecs import AgentMessage, ContextUsage, SessionEntry, Usage

__all__ = ["SessionStats", "StatsCounter", "TokenTotals"]

_COUNTED = frozenset({"message", "compaction", "branch_summary", "usage"})


@frozen(kw_only=True)
class TokenTotals:
    """Tokens of all requests; ``total`` is the sum of the other four fields."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    total: int = 0


@frozen(kw_only=True)
class SessionStats:
    """Statistics of a session.

    Attributes:
        total_messages: All messages of any role, including stored system messages.
        tokens: Tokens of answers, summaries, and requests of tools.
        cost: US dollars.
        cost_by_model: US dollars by ``provider/id``, in the order of use. A summary counts for the model of the answer
            before it; requests that tools made are left out.
        context_usage: Usage of the context window; set by the agent's session, which knows the model.
    """

    session_id: str
    session_file: Path | None = None
    user_messages: int = 0
    assistant_messages: int = 0
    tool_calls: int = 0
    tool_results: int = 0
    total_messages: int = 0
    tokens: TokenTotals = TokenTotals()
    cost: float = 0.0
    cost_by_model: dict[str, float] = Factory(dict)
    context_usage: ContextUsage | None = None


class StatsCounter:
    """Counts the entries of all branches, each once, since the cost of an abandoned branch remains.

    Args:
        tree: The session's entries.
    """

    def __init__(self, tree: SessionTree) -> None:
        self._tree = tree
        self._counted = 0
        self._users = self._answers = self._calls = self._results = self._messages = 0
        self._input = self._output = self._cache_read = self._cache_write = 0
        self._cost = 0.0
        self._by_model: dict[str, float] = {}
        self._model: str | None = None
        """The model of the latest answer: it also makes the summaries, whose entries name none."""

    def count(self, session_id: str, file: Path | None) -> SessionStats:
        """Count the entries appended since the last call, and return the totals."""
        for number in range(self._counted, len(self._tree)):
            if self._tree.type(number) in _COUNTED:
                self._add_entry(self._tree.entry(number))
        self._counted = len(self._tree)
        totals = (self._input, self._output, self._cache_read, self._cache_write)
        return SessionStats(
            session_file=file,
            session_id=session_id,
            user_messages=self._users,
            assistant_messages=self._answers,
            tool_calls=self._calls,
            tool_results=self._results,
            total_messages=self._messages,
            tokens=TokenTotals(
                input=totals[0], output=totals[1], cache_read=totals[2], cache_write=totals[3], total=sum(totals)
            ),
            cost=self._cost,
            cost_by_model=dict(self._by_model),
        )

    def _add_entry(self, entry: SessionEntry) -> None:
        if isinstance(entry, MessageEntry):
            self._add_message(entry.message)
        elif isinstance(entry, UsageEntry):
            self._add_usage(entry.usage, f"{entry.provider}/{entry.model}")
        elif isinstance(entry, CompactionEntry | BranchSummaryEntry):
            self._add_usage(entry.usage, self._model)

    def _add_message(self, message: AgentMessage) -> None:
        self._messages += 1
        if isinstance(message, AssistantMessage):
            self._answers += 1
            self._calls += len(message.tool_calls)
            self._model = f"{message.provider}/{message.model}"
            self._add_usage(message.usage, self._model)
        elif isinstance(message, ToolResultMessage):
            self._results += 1
            self._add_usage(message.usage)
        elif isinstance(message, UserMessage):
            self._users += 1

    def _add_usage(self, usage: Usage | None, model: str | None = None) -> None:
        if usage is not None:
            if model is not None and (usage.total_tokens or usage.cost.total):
                self._by_model[model] = self._by_model.get(model, 0.0) + usage.cost.total
            self._input += usage.input
            self._output += usage.output
            self._cache_read += usage.cache_read
            self._cache_write += usage.cache_write
            self._cost += usage.cost.total
