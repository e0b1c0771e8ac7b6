"""What a server's word for the end of an answer means, whoever invented the word.

APIs name the same five ends in dozens of words, and gateways pass on those of the server behind them. A codec looks
into its own table first; this is for every other word. A word that nobody knows is no failure: the answer has ended.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

__all__ = ["Ending", "ending_of", "status_of_ending"]

Ending: TypeAlias = Literal["", "stop", "length", "toolUse", "filtered", "failed", "unknown"]
"""``""`` is no reason at all: some servers write "null". ``failed`` is an error of the server."""

_WORDS: dict[str, Ending] = {
    **dict.fromkeys(("", "null", "none", "undefined", "nil", "finish_reason_unspecified", "unspecified"), ""),
    **dict.fromkeys(
        (
            "stop",
            "stopped",
            "end",
            "ended",
            "end_turn",
            "eos",
            "eos_token",
            "eos_id",
            "eot",
            "eot_id",
            "eog",
            "endoftext",
        ),
        "stop",
    ),
    **dict.fromkeys(
        (
            "end_of_text",
            "end_of_turn",
            "end_of_sequence",
            "end_of_stream",
            "stop_sequence",
            "stop_token",
            "stop_string",
        ),
        "stop",
    ),
    **dict.fromkeys(
        ("stop_str", "stop_word", "stop_words", "stop_criteria", "complete", "completed", "done", "finish", "finished"),
        "stop",
    ),
    **dict.fromkeys(("success", "ok", "normal", "pause_turn"), "stop"),
    **dict.fromkeys(
        ("tool_use", "tool_uses", "tool_call", "tool_calls", "tooluse", "toolcalls", "tool", "tools"), "toolUse"
    ),
    **dict.fromkeys(("function_call", "function_calls", "functioncall", "requires_action"), "toolUse"),
}

_PARTS: tuple[tuple[str, Ending], ...] = (
    (
        r"filter|safety|block|prohibit|refus|sensitiv|moderat|guardrail|recitation|violat|censor|policy|armor|spii",
        "filtered",
    ),
    (
        r"error|fail|abort|cancel|insufficient|time_?out|overload|unavailable|interrupt|exception|malformed|invalid",
        "failed",
    ),
    (r"length|limit|max_|maximum|truncat|context|window|token", "length"),
    (r"tool|function", "toolUse"),
)
"""Parts of a longer word, the first that is found."""


def ending_of(word: str) -> Ending:
    """Return how an answer ended, for a server's word in any spelling (``MAX_TOKENS``, ``maxTokens``, ``end-turn``)."""
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", word.strip())
    plain = re.sub(r"[\s./-]+", "_", plain).lower()
    known = _WORDS.get(plain)
    if known is not None:
        return known
    return next((ending for pattern, ending in _PARTS if re.search(pattern, plain)), "unknown")


def status_of_ending(word: str) -> int:
    """Return the HTTP status of a server's failure that came as the end of an answer, so that it is tried again."""
    return 503 if re.search(r"insufficient|overload|unavailable|busy", word, re.IGNORECASE) else 500
