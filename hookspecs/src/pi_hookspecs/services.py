"""Policies that a plugin provides and core calls through a protocol (``register_services``).

The later one in load order wins; without one, the session's method says which plugin to install.
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
    """Makes a long conversation short.

    It may also have ``prepare(request, ctx) -> CompactionPreparation | None``, plain or ``async``: what it would do,
    told to the hook ``session_before_compact`` before anything is asked of a model; None when there is nothing to
    compact. Without it that hook is told of the branch alone.
    """

    async def compact(self, request: CompactionRequest, ctx: PiContext) -> Compaction | None:
        """Return the compaction, or None when there is nothing to compact.

        Raises:
            PiError: It could not be made; the message says why. The session is left as it is.
        """
        ...


@runtime_checkable
class BranchSummarizer(Protocol):
    """Sums up a branch that the conversation leaves."""

    async def summarize_branch(self, request: BranchSummaryRequest, ctx: PiContext) -> BranchSummary | None:
        """Return the summary, or None when there is nothing to tell."""
        ...


@runtime_checkable
class Retrier(Protocol):
    """Decides whether a failed request is worth another try."""

    def decide(self, message: AssistantMessage, attempt: int, ctx: PiContext) -> RetryDecision | None:
        """Return when to try again, or None to give up.

        Asked at once when a request has failed, while the prompt waits.

        Args:
            message: The failed answer, with ``error_message``.
            attempt: Which retry this would be, from 1.
            ctx: The session.
        """
        ...


@runtime_checkable
class CommandRunner(Protocol):
    """Runs the user's own commands, such as ``!ls``."""

    async def run_command(self, request: CommandRequest, ctx: PiContext) -> BashExecutionMessage:
        """Run a command and return what it printed, cut as the ``bash`` tool cuts it, and how it ended.

        A command that fails or is aborted is a result, too.
        """
        ...


Service = Compactor | BranchSummarizer | Retrier | CommandRunner
"""What ``register_services`` may return."""
