"""The context that the model gets from a branch of the session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs.deferred import frozen
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs.rare_messages import AgentMessage

__all__ = ["ModelChoice", "SessionContext"]


@frozen(kw_only=True, eq=False, repr=False)
class ModelChoice(Value):
    """A model, identified by its provider's id and its own."""

    provider: str
    model_id: str


@frozen(kw_only=True, eq=False, repr=False)
class SessionContext(Value):
    """The model's context of a branch.

    Attributes:
        messages: The conversation after compaction, branch summaries and context edits; stored messages are parsed
            on access.
        thinking_level: As last changed on the branch, ``off`` where it never was changed.
        model: As last changed on the branch, or of the last answer; None if there is neither.
        has_thinking_level: Whether the branch sets the level.
    """

    messages: Sequence[AgentMessage] = ()
    thinking_level: str = "off"
    model: ModelChoice | None = None
    has_thinking_level: bool = False
