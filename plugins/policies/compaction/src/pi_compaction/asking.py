"""Requests a summary from the model: limits, validation of the answer, a smaller request after an overflow."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pi_compaction.prompts import SYSTEM, question
from pi_compaction.serialise import fitted
from pi_core import is_context_overflow
from pi_hookspecs import Aborted, Context, PiError, SideRequest, UserMessage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from pi_hookspecs import AbortSignal, AssistantMessage, CompactionReason, PiContext, Usage

__all__ = ["Answer", "Question", "ask", "budget"]

CHARS_PER_TOKEN = 3.5
"""Safety factor on the estimated size of a request, so that it fits."""

ATTEMPTS = 4
"""Attempts when the request does not fit, each half as long as the one before."""


class Question(NamedTuple):
    """A request for a summary.

    Attributes:
        parts: The conversation as text, part by part.
        instructions: The instructions.
        purpose: Purpose of the request.
        max_tokens: Limit of the answer.
        failure: Prefix of the error message.
        previous: The previous summary.
        focus: The user's instructions for it.
    """

    parts: Sequence[str]
    instructions: str
    purpose: Literal["compaction", "branch_summary"]
    max_tokens: int
    failure: str = "Summarization failed"
    previous: str | None = None
    focus: str | None = None

    def text(self, conversation: str) -> str:
        """Return the prompt for a conversation."""
        return question(conversation, self.instructions, previous=self.previous, focus=self.focus)


class Answer(NamedTuple):
    """A summary and its usage."""

    text: str
    usage: Usage


async def ask(wanted: Question, ctx: PiContext, signal: AbortSignal, reason: CompactionReason | None = None) -> Answer:
    """Return the model's summary.

    Raises:
        Aborted: The signal, or the prompt's, was aborted.
        PiError: The request failed, or the answer is not a summary.
    """
    chars = _room(wanted, ctx)
    for _ in range(ATTEMPTS):
        conversation = fitted(wanted.parts, chars)
        message = UserMessage(content=wanted.text(conversation))
        answer = await ctx.complete(
            Context(system_prompt=SYSTEM, messages=(message,)),
            SideRequest(purpose=wanted.purpose, max_tokens=wanted.max_tokens, signal=signal, reason=reason),
        )
        if not _is_too_long(answer, ctx):
            break
        chars = len(conversation) // 2
    return Answer(_checked(answer, wanted.failure), answer.usage)


def budget(share: float, reserve: int, ctx: PiContext) -> int:
    """Return the token limit of a summary: a share of the reserve, within the model's output limit."""
    most = ctx.model.max_tokens if ctx.model is not None else 0
    wanted = int(share * reserve) or most
    return max(min(wanted, most) if most > 0 else wanted, 1)


def _room(wanted: Question, ctx: PiContext) -> int:
    """Return how many characters of the conversation fit the window with the rest of the prompt and the answer."""
    window = ctx.model.context_window if ctx.model is not None else 0
    rest = len(SYSTEM) + len(wanted.text(""))
    whole = sum(map(len, wanted.parts)) + 2 * len(wanted.parts)
    room = int((window - wanted.max_tokens) * CHARS_PER_TOKEN) - rest
    return min(whole, max(room, window)) if window > 0 else whole


def _is_too_long(answer: AssistantMessage, ctx: PiContext) -> bool:
    window = ctx.model.context_window if ctx.model is not None else None
    return answer.stop_reason in {"error", "length"} and is_context_overflow(answer, window)


def _checked(answer: AssistantMessage, failure: str) -> str:
    if answer.stop_reason == "aborted":
        raise Aborted(answer.error_message or "Compaction cancelled")
    if answer.stop_reason == "error":
        raise PiError(f"{failure}: {answer.error_message or 'Unknown error'}")
    if answer.tool_calls:
        raise PiError(f"{failure}: the model called the tool {answer.tool_calls[0].name!r} instead of summarizing")
    if not answer.text.strip():
        raise PiError(f"{failure}: the model's summary is empty")
    return answer.text.strip()
