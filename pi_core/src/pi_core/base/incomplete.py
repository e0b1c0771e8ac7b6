"""Says why a successful answer is no whole answer, and what the user can do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pi_hookspecs import AssistantMessage

__all__ = ["incomplete_answer"]

_CUT = "Response was truncated: the model reached its output token limit."
_CUT_IN_THOUGHT = "Response was truncated: the model reached its output token limit while it was thinking."
_GO_ON = "Ask it to continue (pi -c -p Continue) or for less at once, or raise the model's maxTokens in models.json."
_THINK_LESS = "Choose a lower thinking level (--thinking low), or raise the model's maxTokens in models.json."
_ONLY_THOUGHT = "The model thought, but gave no answer. Ask again, or choose another model with --model."
_EMPTY = "The model returned an empty answer. Try again, or choose another model with --model."


def incomplete_answer(answer: AssistantMessage | None) -> str | None:
    """Return why an answer is not a whole one, in sentences for the user; None if it is, or if it failed.

    An answer that was cut at the output limit is a failure of a program's run; an empty one only deserves a warning,
    because models that have finished their work with tools may have nothing to add.
    """
    if answer is None or answer.stop_reason in ("error", "aborted"):
        return None
    says_something = bool(answer.text.strip() or answer.tool_calls)
    if answer.stop_reason == "length":
        return f"{_CUT} {_GO_ON}" if says_something else f"{_CUT_IN_THOUGHT} {_THINK_LESS}"
    if says_something:
        return None
    has_thought = any(block.type == "thinking" for block in answer.content)
    return _ONLY_THOUGHT if has_thought else _EMPTY
