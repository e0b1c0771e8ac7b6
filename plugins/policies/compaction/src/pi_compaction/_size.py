"""How many tokens a conversation is about where no answer has counted it; flat in its length from turn to turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_compaction._told import messages_of, since_compaction
from pi_core import context_tokens, entry_message, estimate_tokens
from pi_hookspecs import AssistantMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import PiContext, SessionEntry

__all__ = ["ContextSize", "branch_tokens", "text_tokens"]


def text_tokens(text: str) -> int:
    """Return about how many tokens a text is."""
    return -(-len(text) // 4)


def branch_tokens(branch: Sequence[SessionEntry]) -> int:
    """Return about how many tokens a branch tells the model: its last summary, and what is kept word for word."""
    entries, previous = since_compaction(branch)
    told = sum(estimate_tokens(message) for message in messages_of(entries) if message is not None)
    return told + (text_tokens(previous.summary) if previous is not None else 0)


class ContextSize:
    """Measures a session's context: as the last answer counted it, else by an estimate that grows with the branch."""

    def __init__(self) -> None:
        self._leaf: str | None = None
        self._tokens = 0

    def of(self, ctx: PiContext) -> int:
        """Return how many tokens the next request is about."""
        branch = ctx.session.branch()
        tokens = self._grown(branch)
        if tokens is None:
            usage = ctx.context_usage()
            tokens = usage.tokens if usage is not None else None
        if tokens is None:
            tokens = branch_tokens(branch) + text_tokens(ctx.system_prompt)
        self._leaf, self._tokens = ctx.session.leaf_id, tokens
        return tokens

    def _grown(self, branch: Sequence[SessionEntry]) -> int | None:
        """Return the size by the newest answer that counted it, or by the last time; None where there is neither."""
        later = 0
        for entry in reversed(branch):
            if entry.id == self._leaf:
                return self._tokens + later
            if entry.type in ("compaction", "context_edit"):
                return None
            message = entry_message(entry)
            if isinstance(message, AssistantMessage) and (counted := context_tokens((message,))) is not None:
                return counted + later
            later += estimate_tokens(message) if message is not None else 0
        return None
