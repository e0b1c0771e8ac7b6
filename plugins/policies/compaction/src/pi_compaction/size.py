"""Estimates a conversation's tokens where no answer has counted them, at constant cost per turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_compaction.context_messages import messages_of, since_compaction
from pi_core import context_tokens, entry_message, estimate_tokens
from pi_hookspecs import AssistantMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import PiContext, SessionEntry

__all__ = ["ContextSize", "branch_tokens", "text_tokens"]


def text_tokens(text: str) -> int:
    """Return the estimated tokens of a text."""
    return -(-len(text) // 4)


def branch_tokens(branch: Sequence[SessionEntry]) -> int:
    """Return the estimated tokens of a branch in the model's context: its last summary, and the kept messages."""
    entries, previous = since_compaction(branch)
    tokens = sum(estimate_tokens(message) for message in messages_of(entries) if message is not None)
    return tokens + (text_tokens(previous.summary) if previous is not None else 0)


class ContextSize:
    """Measures a session's context: as the last answer counted it, else by an estimate that grows with the branch."""

    def __init__(self) -> None:
        self._leaf: str | None = None
        self._tokens = 0

    def of(self, ctx: PiContext) -> int:
        """Return the estimated tokens of the next request."""
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
        """Return the size from the newest answer that counted it, or the last estimate; None if there is neither."""
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
