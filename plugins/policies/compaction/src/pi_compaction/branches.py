"""Summary of a branch that the conversation leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_compaction import prompts
from pi_compaction.asking import Question, ask, budget
from pi_compaction.context_messages import messages_of
from pi_compaction.files import FileLists
from pi_compaction.limits import branch_reserve
from pi_compaction.serialise import serialise
from pi_core import entry_message, estimate_tokens
from pi_hookspecs import BranchSummary, CompactionEntry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import AgentMessage, BranchSummaryRequest, PiContext, SessionEntry

__all__ = ["summarize_branch"]

NOTHING = "No content to summarize"
_SHARE = 0.8


async def summarize_branch(request: BranchSummaryRequest, ctx: PiContext) -> BranchSummary | None:
    """Return the summary; a fixed text for a branch without messages for the model.

    Raises:
        Aborted: It was aborted.
        PiError: The summary failed.
    """
    model = ctx.model
    window = model.context_window if model is not None else 0
    reserve = branch_reserve(ctx, window)
    messages = _newest(request.entries, window - reserve if window else None)
    if not messages:
        return BranchSummary(summary=NOTHING)
    files = FileLists()
    for entry in request.entries:
        files.add_summary(entry)
    files.add_calls(messages)
    own = request.custom_instructions if request.replace_instructions else None
    wanted = Question(
        parts=serialise(messages),
        instructions=own or prompts.BRANCH,
        purpose="branch_summary",
        max_tokens=budget(_SHARE, reserve, ctx),
        focus=None if own else request.custom_instructions,
    )
    answer = await ask(wanted, ctx, request.signal)
    return BranchSummary(
        summary=prompts.BRANCH_PREAMBLE + answer.text + files.text(), details=files.details(), usage=answer.usage
    )


def _newest(entries: Sequence[SessionEntry], tokens: int | None) -> list[AgentMessage]:
    """Return the newest messages that fit a budget, at least one; a compaction is replaced by its summary."""
    newest: list[AgentMessage] = []
    for entry, edited in zip(reversed(entries), reversed(messages_of(entries)), strict=True):
        message = entry_message(entry) if isinstance(entry, CompactionEntry) else edited
        if message is None:
            continue
        if tokens is not None:
            tokens -= estimate_tokens(message)
            if tokens < 0 and newest:
                break
        newest.append(message)
    return newest[::-1]
