"""Requests and results of services (``register_services``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pi_hookspecs.deferred import frozen
from pi_hookspecs.values import ReprMixin, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_hookspecs.abort import AbortSignal
    from pi_hookspecs.messages import Usage
    from pi_hookspecs.models import Model, ThinkingLevel
    from pi_hookspecs.rare_entries import SessionEntry

__all__ = [
    "BranchSummary",
    "BranchSummaryRequest",
    "CacheWarmingPlan",
    "CacheWarmingState",
    "CachedPrompt",
    "CommandRequest",
    "Compaction",
    "CompactionPreparation",
    "CompactionReason",
    "CompactionRequest",
    "LeftOut",
    "RetryDecision",
]


CompactionReason: TypeAlias = Literal["manual", "threshold", "overflow"]
"""Reason of a compaction: the user, the size of the context, or a request that exceeded the window."""


@frozen(kw_only=True, eq=False, repr=False)
class CompactionPreparation(Value):
    """Plan of a compaction: what is summarised, what is kept, and the previous summary."""

    first_kept_entry_id: str
    entries_to_summarize: tuple[SessionEntry, ...]
    turn_prefix_entries: tuple[SessionEntry, ...] = ()
    tokens_before: int = 0
    previous_summary: str | None = None
    details: Any = None


@frozen(kw_only=True, eq=False, repr=False)
class CompactionRequest(Value):
    """Request for a compaction of the branch.

    Attributes:
        entries: The branch, from its root to its leaf; each entry is parsed on access.
        signal: Aborted when the user stops the compaction.
        will_retry: Whether the prompt whose request overflowed continues afterwards.
        preparation: Result of the compactor's ``prepare``, as changed by plugins.
    """

    reason: CompactionReason
    entries: Sequence[SessionEntry]
    custom_instructions: str | None
    signal: AbortSignal
    will_retry: bool = False
    preparation: CompactionPreparation | None = None


@frozen(kw_only=True, eq=False, repr=False)
class Compaction(Value):
    """A compaction to be stored in the session.

    Attributes:
        estimated_tokens_after: Estimated tokens of the next request, with system prompt and tools; None lets pi
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
    """Request for a summary of the entries that a change of branch abandons."""

    entries: tuple[SessionEntry, ...]
    custom_instructions: str | None
    replace_instructions: bool
    signal: AbortSignal


@frozen(kw_only=True, eq=False, repr=False)
class BranchSummary(Value):
    """Summary of a branch."""

    summary: str
    details: Any = None
    usage: Usage | None = None


@frozen(kw_only=True, eq=False, repr=False)
class RetryDecision(Value):
    """Retry after ``delay_ms``; ``attempt`` counts from 1.

    Attributes:
        model: ``PROVIDER/ID`` of the model to use from then on; None for the same one.
        reason: Reason of a change of model, for the user.
    """

    attempt: int
    max_attempts: int
    delay_ms: int
    model: str | None = None
    reason: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class LeftOut(Value):
    """A part of the conversation that a provider refuses and that requests leave out; the session keeps it.

    Attributes:
        kind: ``picture``, ``thinking``, ``answer`` (its calls and their results), ``tool``, or ``strict`` (tools are
            sent without strict schemas).
        ids: What it is: keys of pictures, times of answers in milliseconds, names of tools, references of models.
        what: The part, named to the user, such as ``the tool 'search'``.
    """

    kind: Literal["picture", "thinking", "answer", "tool", "strict"]
    ids: tuple[str, ...]
    what: str


@frozen(kw_only=True, eq=False, repr=False)
class CachedPrompt(Value):
    """The prompt of the conversation's last request, which its provider keeps in a cache for a known time.

    Attributes:
        model: The model that was asked.
        thinking_level: Its reasoning effort.
        has_thinking_budget: Whether it thinks with a token budget, for which an answer of one token has no room.
        usage: Usage of the last answer, or of the last refresh.
        retention: How long the request asks the provider to keep the prompt.
        lifetime: Seconds for which the provider keeps the prompt after its last use.
        phase: ``run`` while a prompt is being answered, ``idle`` while the session waits for the next one.
        phase_seconds: Seconds since the conversation's last request, or since the session began to wait.
        refreshes: How often the prompt was already refreshed since then.
    """

    model: Model
    thinking_level: ThinkingLevel
    has_thinking_budget: bool
    usage: Usage
    retention: Literal["short", "long"]
    lifetime: int
    phase: Literal["run", "idle"]
    phase_seconds: float
    refreshes: int = 0


@frozen(kw_only=True, eq=False, repr=False)
class CacheWarmingPlan(Value):
    """Whether and when to send a request again, so that its provider keeps the prompt in its cache. Costs are dollars.

    Attributes:
        warm: Whether to send it.
        after_seconds: When, in seconds since the last use of the cache; None means that no later decision is planned.
        reason: Why it is not sent, for the user; empty if it is.
        probability: Probability that there is a next request.
        miss_cost: Additional cost of the next request without the cache.
        refresh_cost: Cost of sending the request again.
        savings: Expected savings: ``miss_cost`` times ``probability``, minus ``refresh_cost``.
    """

    warm: bool
    after_seconds: float | None = None
    reason: str = ""
    probability: float = 0.0
    miss_cost: float = 0.0
    refresh_cost: float = 0.0
    savings: float = 0.0


@frozen(kw_only=True, eq=False, repr=False)
class CacheWarmingState(Value):
    """A session's next decision about its provider's cache; ``str()`` returns it as a phrase.

    Attributes:
        plan: What is planned.
        seconds: Time until then, 0 while the prompt is being refreshed; None if nothing is planned any more.
        refreshes: How often the last prompt was refreshed.
    """

    plan: CacheWarmingPlan
    seconds: float | None = None
    refreshes: int = 0

    def __str__(self) -> str:
        times = f"{self.refreshes} time{'' if self.refreshes == 1 else 's'}"
        done = f"; refreshed {times} so far" if self.refreshes else ""
        if self.seconds is None or not self.plan.warm:
            return f"not kept warm: {self.plan.reason or 'nothing is planned'}{done}"
        minutes, seconds = divmod(max(round(self.seconds), 0), 60)
        costs = f"for ${self.plan.refresh_cost:.4f}, expected to save ${self.plan.savings:.2f}"
        when = f"refreshed in {minutes}:{seconds:02}" if self.seconds else "being refreshed"
        return f"{when} {costs}{done}"


@frozen(kw_only=True, eq=False, repr=False)
class CommandRequest(ReprMixin):
    """A command that the user runs with ``!``.

    Attributes:
        command: For the shell.
        cwd: Where it runs.
        signal: Aborted when the user stops it.
        on_output: Called with each piece of output, as text.
        operations: How to run it, if a plugin returned operations from ``user_bash``; None for this machine.
        exclude_from_context: Whether it is left out of the model's context.
    """

    command: str
    cwd: str
    signal: AbortSignal
    on_output: Callable[[str], None]
    operations: Any = None
    exclude_from_context: bool = False
