"""Policies that a plugin provides and core calls through a protocol (``register_services``).

The later one in load order wins; without one, the session's method raises an error that names the plugin to install.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from pi_hookspecs.context import PiContext
    from pi_hookspecs.messages import AssistantMessage
    from pi_hookspecs.rare_messages import BashExecutionMessage
    from pi_hookspecs.service_values import (
        BranchSummary,
        BranchSummaryRequest,
        CommandRequest,
        Compaction,
        CompactionRequest,
        RetryDecision,
    )

__all__ = [
    "BranchSummarizer",
    "CommandRunner",
    "Compactor",
    "Retrier",
    "Service",
]


@runtime_checkable
class Compactor(Protocol):
    """Compacts a conversation.

    It may also have ``prepare(request, ctx) -> CompactionPreparation | None``, plain or ``async``: the plan,
    passed to the hook ``session_before_compact`` before any request to a model; None when there is nothing to compact.
    Without it that hook gets the branch alone.
    """

    async def compact(self, request: CompactionRequest, ctx: PiContext) -> Compaction | None:
        """Return the compaction, or None when there is nothing to compact.

        Raises:
            PiError: It could not be made; the message says why. The session is not changed.
        """
        ...


@runtime_checkable
class BranchSummarizer(Protocol):
    """Summarises a branch that the conversation leaves."""

    async def summarize_branch(self, request: BranchSummaryRequest, ctx: PiContext) -> BranchSummary | None:
        """Return the summary, or None when there is nothing to summarise."""
        ...


@runtime_checkable
class Retrier(Protocol):
    """Decides whether to retry a failed request."""

    def decide(self, message: AssistantMessage, attempt: int, ctx: PiContext) -> RetryDecision | None:
        """Return when to retry, or None to give up.

        Called right after a request failed, while the prompt waits.

        Args:
            message: The failed answer, with ``error_message``.
            attempt: Number of this retry, from 1.
            ctx: The session.
        """
        ...


@runtime_checkable
class CommandRunner(Protocol):
    """Runs the user's own commands, such as ``!ls``."""

    async def run_command(self, request: CommandRequest, ctx: PiContext) -> BashExecutionMessage:
        """Run a command and return its output, truncated as the ``bash`` tool does, and its exit status.

        A command that fails or is aborted is a result, too.
        """
        ...


Service = Compactor | BranchSummarizer | Retrier | CommandRunner
"""Types that ``register_services`` may return."""
