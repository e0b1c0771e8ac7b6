"""Finds where to cut a conversation: at a message that may come first, never between a call and its result.

The rules are the same as in the original pi, so that both cut a conversation at the same entry.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from pi_hookspecs import (
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryMessage,
    CustomMessage,
    ToolResultMessage,
    UserMessage,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_compaction.context_messages import ReadBranch
    from pi_hookspecs import AgentMessage, SessionEntry

__all__ = ["Cut", "find_cut", "find_helpful_cut"]

_BEGIN_A_TURN = (UserMessage, BashExecutionMessage, BranchSummaryMessage, CustomMessage)
_MAY_STAND_FIRST = (*_BEGIN_A_TURN, AssistantMessage)

_LEAST_SHARE = 0.1
"""Minimum share of a conversation that is too long to summarise."""


class Cut(NamedTuple):
    """A cut, as indexes of entries.

    Attributes:
        kept: The first entry that is kept.
        summarised: End of the complete turns that are summarised.
        prefix: End of the summarised part of a split turn; it begins at ``summarised``.
    """

    kept: int
    summarised: int
    prefix: int


def find_cut(branch: ReadBranch, keep_tokens: int) -> Cut | None:
    """Return the cut that keeps about ``keep_tokens``; None when nothing would be summarised.

    Args:
        branch: The conversation since the last compaction.
        keep_tokens: Walking back from the newest, the first valid place at or after this many tokens is taken; when
            the results at the end alone are more, the answer that they belong to.
    """
    return _cut(branch, _valid_places(branch.messages), keep_tokens)


def _cut(branch: ReadBranch, valid: Sequence[int], keep_tokens: int) -> Cut | None:
    if not valid:
        return None
    entries, messages = branch.entries, branch.messages
    place = _place(valid, _reached(branch.sizes, messages, keep_tokens))
    start = place if isinstance(messages[place], _BEGIN_A_TURN) else _start_of_turn(messages, place)
    kept = _with_what_belongs_to_it(entries, messages, place)
    if not any(message is not None for message in messages[:kept]):
        return None
    return Cut(kept, min(start, kept), kept)


def find_helpful_cut(branch: ReadBranch, keep_tokens: int) -> Cut | None:
    """Return the cut of a conversation that is too long: like ``find_cut``, but guaranteed to free enough space.

    At most half of it is kept; otherwise a low estimate or a small window would leave it as full as before.
    Less is kept if that half is a single large message. None when there is hardly anything to summarise, such as a
    question and one result that fills the window.
    """
    valid, total = _valid_places(branch.messages), sum(branch.sizes)
    keep = min(keep_tokens, total // 2)
    while True:
        cut = _cut(branch, valid, keep)
        if cut is not None and sum(branch.sizes[: cut.kept]) >= _LEAST_SHARE * total:
            return cut
        if keep <= 1:
            return None
        keep //= 2


def _valid_places(messages: Sequence[AgentMessage | None]) -> list[int]:
    """Return the indexes at which a cut is allowed: never at a result, and never between a call and its result."""
    called: dict[str, int] = {}
    opened = [0] * (len(messages) + 1)
    for place, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            called.update((call.id, place) for call in message.tool_calls)
        elif isinstance(message, ToolResultMessage) and message.tool_call_id in called:
            opened[called[message.tool_call_id] + 1] += 1
            opened[place + 1] -= 1
    is_open = accumulate(opened)
    return [
        place
        for place, (message, still_open) in enumerate(zip(messages, is_open, strict=False))
        if not still_open and isinstance(message, _MAY_STAND_FIRST)
    ]


def _reached(sizes: Sequence[int], messages: Sequence[AgentMessage | None], keep_tokens: int) -> int:
    """Return the newest index from which on there are enough tokens; 0 if there are too few."""
    tokens = 0
    for place in range(len(messages) - 1, -1, -1):
        if messages[place] is None:
            continue
        tokens += sizes[place]
        if tokens >= keep_tokens:
            return place
    return 0


def _place(valid: Sequence[int], reached: int) -> int:
    return next((place for place in valid if place >= reached), valid[-1])


def _start_of_turn(messages: Sequence[AgentMessage | None], place: int) -> int:
    """Return the index at which a turn begins; the given index if its beginning is not in the list."""
    return next((each for each in range(place - 1, -1, -1) if isinstance(messages[each], _BEGIN_A_TURN)), place)


def _with_what_belongs_to_it(
    entries: Sequence[SessionEntry], messages: Sequence[AgentMessage | None], place: int
) -> int:
    """Return the first index of the non-message entries right before an index: changes of model, labels, data."""
    while place and messages[place - 1] is None and entries[place - 1].type not in {"message", "compaction"}:
        place -= 1
    return place
