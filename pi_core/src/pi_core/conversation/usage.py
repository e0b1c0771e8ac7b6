"""Usage of a conversation: tokens of its context, and tokens and cost of all branches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_core.base.folds import Fold
from pi_hookspecs import AssistantMessage, Cost, Usage

if TYPE_CHECKING:
    from pi_core.conversation.runtime import Runtime
    from pi_core.models.token_estimate import ContextTokens
    from pi_core.session.stats import SessionStats
    from pi_hookspecs import AgentMessage, ContextUsage

__all__ = ["SessionUsage"]


class SessionUsage:
    """Computes the usage of a conversation.

    Args:
        runtime: The objects that all parts share.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._total: Fold[AgentMessage, Usage] = Fold(Usage, _with_usage, most=2)
        self._tokens: Fold[AgentMessage, ContextTokens] | None = None

    def total(self) -> Usage:
        """Return tokens and cost of every answer in the context."""
        return self._total.of(self._runtime.agent.state.messages)

    def spent(self) -> Usage:
        """Return tokens and cost of all entries, on all branches."""
        stats = self._runtime.manager.stats()
        tokens = stats.tokens
        return Usage(
            input=tokens.input,
            output=tokens.output,
            cache_read=tokens.cache_read,
            cache_write=tokens.cache_write,
            total_tokens=tokens.total,
            cost=Cost(total=stats.cost),
        )

    def context_tokens(self) -> int | None:
        """Return the tokens of the context: the last answer's own count plus an estimate for later messages.

        Returns:
            None before the first answer, and after a compaction until the next one.
        """
        from pi_core.models.token_estimate import ContextTokens

        if self._tokens is None:
            self._tokens = ContextTokens.of_conversation()
        return self._tokens.of(self._runtime.agent.state.messages).tokens

    def context(self) -> ContextUsage | None:
        """Return how full the window is; see ``AgentSession.get_context_usage``."""
        from pi_hookspecs import ContextUsage

        model = self._runtime.agent.state.model
        if model is None:
            return None
        tokens, window = self.context_tokens(), model.context_window
        percent = None if tokens is None or not window else 100 * tokens / window
        return ContextUsage(tokens=tokens, context_window=window, percent=percent)

    def stats(self) -> SessionStats:
        """Return messages, tokens and dollars of all branches, and how full the window is."""
        from attrs import evolve

        return evolve(self._runtime.manager.stats(), context_usage=self.context())


def _with_usage(total: Usage, message: AgentMessage) -> Usage:
    return total + message.usage if isinstance(message, AssistantMessage) else total
