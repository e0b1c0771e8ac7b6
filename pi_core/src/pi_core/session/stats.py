"""Statistics of a session: counts of messages, tokens and cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import Factory, define, evolve, frozen

from pi_core.base.folds import Fold
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
        self._sums: Fold[SessionEntry, _Sums] = Fold(_Sums, _Sums.after, copy=_Sums.copied, types=_COUNTED)

    def count(self, session_id: str, file: Path | None) -> SessionStats:
        """Return the totals; only entries that were appended since the last call are read."""
        sums = self._sums.of(self._tree.entries())
        totals = (sums.input, sums.output, sums.cache_read, sums.cache_write)
        return SessionStats(
            session_file=file,
            session_id=session_id,
            user_messages=sums.users,
            assistant_messages=sums.answers,
            tool_calls=sums.calls,
            tool_results=sums.results,
            total_messages=sums.messages,
            tokens=TokenTotals(
                input=totals[0], output=totals[1], cache_read=totals[2], cache_write=totals[3], total=sum(totals)
            ),
            cost=sums.cost,
            cost_by_model=dict(sums.by_model),
        )


@define(eq=False)
class _Sums:
    """What is counted.

    Attributes:
        model: The model of the latest answer: it also makes the summaries, whose entries name none.
    """

    users: int = 0
    answers: int = 0
    calls: int = 0
    results: int = 0
    messages: int = 0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost: float = 0.0
    by_model: dict[str, float] = Factory(dict)
    model: str | None = None

    def copied(self) -> _Sums:
        return evolve(self, by_model=dict(self.by_model))

    def after(self, entry: SessionEntry) -> _Sums:
        """Count one more entry."""
        if isinstance(entry, MessageEntry):
            self._add_message(entry.message)
        elif isinstance(entry, UsageEntry):
            self._add_usage(entry.usage, f"{entry.provider}/{entry.model}")
        elif isinstance(entry, CompactionEntry | BranchSummaryEntry):
            self._add_usage(entry.usage, self.model)
        return self

    def _add_message(self, message: AgentMessage) -> None:
        self.messages += 1
        if isinstance(message, AssistantMessage):
            self.answers += 1
            self.calls += len(message.tool_calls)
            self.model = f"{message.provider}/{message.model}"
            self._add_usage(message.usage, self.model)
        elif isinstance(message, ToolResultMessage):
            self.results += 1
            self._add_usage(message.usage)
        elif isinstance(message, UserMessage):
            self.users += 1

    def _add_usage(self, usage: Usage | None, model: str | None = None) -> None:
        if usage is not None:
            if model is not None and (usage.total_tokens or usage.cost.total):
                self.by_model[model] = self.by_model.get(model, 0.0) + usage.cost.total
            self.input += usage.input
            self.output += usage.output
            self.cache_read += usage.cache_read
            self.cache_write += usage.cache_write
            self.cost += usage.cost.total
