"""What services are asked, and what they answer (``register_services``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from attrs import frozen

from pi_hookspecs.values import Shown, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_hookspecs.abort import AbortSignal
    from pi_hookspecs.messages import Usage
    from pi_hookspecs.rare_entries import SessionEntry

__all__ = [
    "BranchSummary",
    "BranchSummaryRequest",
    "CommandRequest",
    "Compaction",
    "CompactionPreparation",
    "CompactionReason",
    "CompactionRequest",
    "RetryDecision",
]


CompactionReason: TypeAlias = Literal["manual", "threshold", "overflow"]
"""Who wants a compaction: the user, the size of the context, or a request that did not fit the window."""


@frozen(kw_only=True, eq=False, repr=False)
class CompactionPreparation(Value):
    """What a compaction would do: what goes, what stays, and what the last one said."""

    first_kept_entry_id: str
    entries_to_summarize: tuple[SessionEntry, ...]
    turn_prefix_entries: tuple[SessionEntry, ...] = ()
    tokens_before: int = 0
    previous_summary: str | None = None
    details: Any = None


@frozen(kw_only=True, eq=False, repr=False)
class CompactionRequest(Value):
    """Asks for a compaction of the branch.

    Attributes:
        entries: The branch, from its root to its leaf; each entry is parsed when it is looked at.
        signal: Aborted when the user stops the compaction.
        will_retry: The prompt whose request overflowed goes on afterwards.
        preparation: What the compactor's own ``prepare`` answered, after plugins had their say.
    """

    reason: CompactionReason
    entries: Sequence[SessionEntry]
    custom_instructions: str | None
    signal: AbortSignal
    will_retry: bool = False
    preparation: CompactionPreparation | None = None


@frozen(kw_only=True, eq=False, repr=False)
class Compaction(Value):
    """A compaction as it goes into the session.

    Attributes:
        estimated_tokens_after: About how many tokens the next request is, with system prompt and tools; None lets pi
            estimate it.
    """

    summary: str
    first_kept_entry_id: str
    tokens_before: int
    details: Any = None
    usage: Usage | None = None
    estimated_tokens_after: int | None = None


@frozen(kw_only=True, eq=False, repr=False)
class BranchSummaryRequest(Value):
    """Asks for a summary of the entries that a change of branch leaves behind."""

    entries: tuple[SessionEntry, ...]
    custom_instructions: str | None
    replace_instructions: bool
    signal: AbortSignal


@frozen(kw_only=True, eq=False, repr=False)
class BranchSummary(Value):
    """A branch in few words."""

    summary: str
    details: Any = None
    usage: Usage | None = None


@frozen(kw_only=True, eq=False, repr=False)
class RetryDecision(Value):
    """Try again after ``delay_ms``; ``attempt`` counts from 1.

    Attributes:
        model: ``PROVIDER/ID`` of the model that answers from then on; None for the same one.
        reason: What the user is told of a change of model.
    """

    attempt: int
    max_attempts: int
    delay_ms: int
    model: str | None = None
    reason: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class CommandRequest(Shown):
    """A command that the user wants run with ``!``.

    Attributes:
        command: For the shell.
        cwd: Where it runs.
        signal: Aborted when the user stops it.
        on_output: Takes the output as it comes, as text.
        operations: What runs it, where a plugin answered ``user_bash`` with such; None for this machine.
        exclude_from_context: The model will not be told.
    """

    command: str
    cwd: str
    signal: AbortSignal
    on_output: Callable[[str], None]
    operations: Any = None
    exclude_from_context: bool = False
