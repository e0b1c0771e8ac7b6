"""What ``register_services`` gives: the policies by name. What does their work is loaded when there is some."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pi_hookspecs import (
        BranchSummary,
        BranchSummaryRequest,
        Compaction,
        CompactionPreparation,
        CompactionRequest,
        PiContext,
    )

__all__ = ["Branches", "Summaries"]


class Summaries:
    """A ``Compactor``: a summary by the session's model takes the place of everything but the newest messages."""

    def prepare(self, request: CompactionRequest, ctx: PiContext) -> CompactionPreparation | None:
        """Return what would go and what would stay; None when nothing would go."""
        from pi_compaction._compactor import prepare

        return prepare(request, ctx)

    async def compact(self, request: CompactionRequest, ctx: PiContext) -> Compaction | None:
        """Return the compaction; None when there is nothing to compact.

        Raises:
            Aborted: It was stopped.
            PiError: No summary came, or one that is no shorter than what it would replace.
        """
        from pi_compaction._compactor import compact

        return await compact(request, ctx)


class Branches:
    """A ``BranchSummarizer``: the session's model sums up what a change of branch leaves behind."""

    async def summarize_branch(self, request: BranchSummaryRequest, ctx: PiContext) -> BranchSummary | None:
        """Return the summary; of a branch that tells the model nothing, a fixed text.

        Raises:
            Aborted: It was stopped.
            PiError: No summary came.
        """
        from pi_compaction._branches import summarize_branch

        return await summarize_branch(request, ctx)
