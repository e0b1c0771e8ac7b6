"""The registered services; their implementations are imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pi_compaction.context_messages import ReadBranch
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
    """A ``Compactor``: replaces everything but the newest messages by a summary that the session's model writes."""

    def __init__(self) -> None:
        self._branch: ReadBranch | None = None

    def prepare(self, request: CompactionRequest, ctx: PiContext) -> CompactionPreparation | None:
        """Return the plan of a compaction; None when there is nothing to summarise."""
        from pi_compaction.compactor import prepare

        self._branch = self._read(request)
        return prepare(request, ctx, self._branch)

    async def compact(self, request: CompactionRequest, ctx: PiContext) -> Compaction | None:
        """Return the compaction; None when there is nothing to compact.

        Raises:
            Aborted: It was aborted.
            PiError: The summary failed, or is not shorter than the text it replaces.
        """
        from pi_compaction.compactor import compact

        branch, self._branch = self._read(request), None
        return await compact(request, ctx, branch)

    def _read(self, request: CompactionRequest) -> ReadBranch:
        """Return what is needed of a branch; what was read of it to plan its compaction is not read again."""
        from pi_compaction.context_messages import ReadBranch

        if self._branch is not None and self._branch.is_of(request.entries):
            return self._branch
        return ReadBranch(request.entries)


class Branches:
    """A ``BranchSummarizer``: the session's model summarises the branch that navigation abandons."""

    async def summarize_branch(self, request: BranchSummaryRequest, ctx: PiContext) -> BranchSummary | None:
        """Return the summary; a fixed text for a branch without messages for the model.

        Raises:
            Aborted: It was aborted.
            PiError: The summary failed.
        """
        from pi_compaction.branches import summarize_branch

        return await summarize_branch(request, ctx)
