"""Which calls come next: every open request is taken as far as its replies reach, those that may not wait go together.

Independent requests run in the same turn. Two that touch the same thing, one of them writing, run in the order in which
they were asked; a command may touch anything.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, TypeAlias

from attrs import frozen

from pi_provider_offline._conversation import mark_of
from pi_provider_offline._outcomes import Failed, Outcome
from pi_provider_offline._requests import (
    CountFiles,
    CountIn,
    FindFiles,
    ListFiles,
    ReadEnd,
    ReadFile,
    Replace,
    Request,
    Run,
    SearchText,
    Summarise,
    WriteFile,
)
from pi_provider_offline._steps import steps

if TYPE_CHECKING:
    from pi_provider_offline._conversation import Asked, Conversation, Made
    from pi_provider_offline._toolbox import Call, Toolbox

MAX_ROUNDS = 500
"""Answers with calls to one open conversation. Never reached while results come back under the ids of their calls."""


@frozen(eq=False, repr=False)
class Planned:
    """One open request, as far as it got.

    Attributes:
        request: What was asked.
        call: The next call; None when there is an outcome, or when another request must be done first.
        outcome: What came of it; None while it is not done.
        place: Of the last message that it took a reply to.
    """

    request: Request
    call: Call | None = None
    outcome: Outcome | None = None
    place: int = -1


def plan(conversation: Conversation, tools: Toolbox) -> list[Planned]:
    """Return every open request with its next call or its outcome, in the order asked."""
    planned: list[Planned] = []
    for number, asked in enumerate(conversation.asked, 1):
        before = [other for other in planned if _conflict(other.request, asked.request)]
        if any(other.outcome is None for other in before):
            planned.append(Planned(asked.request))
            continue
        made = [made for made in conversation.made if made.request == number]
        after = max([asked.place, *(other.place for other in before)])
        planned.append(_advance(asked, made, after, tools))
    if conversation.rounds >= MAX_ROUNDS:
        gave_up = Failed(f"I stopped after {MAX_ROUNDS} turns")
        planned = [each if each.outcome else Planned(each.request, outcome=gave_up) for each in planned]
    return planned


def _advance(asked: Asked, made: list[Made], after: int, tools: Toolbox) -> Planned:
    """Replay a request on the calls made for it; only calls later than ``after`` can be its own."""
    progress = steps(asked.request, tools)
    try:
        call = next(progress)
        while (found := next((m for m in made if m.place > after and m.mark == mark_of(call)), None)) is not None:
            after = found.place
            call = progress.send(found.reply)
    except StopIteration as end:
        return Planned(asked.request, outcome=end.value, place=after)
    return Planned(asked.request, call=call, place=after)


_Touched: TypeAlias = tuple[str | None, bool]
"""The base name of what a request touches, None for anything, and whether it changes it."""


def _touched(request: Request) -> _Touched | None:
    match request:
        case ReadFile(path) | ReadEnd(path) | CountIn(path) | Summarise(path):
            return _key(path), False
        case WriteFile(path) | Replace(path):
            return _key(path), True
        case ListFiles() | FindFiles() | CountFiles() | SearchText():
            return None, False
        case Run():
            return None, True
        case _:
            return None


def _key(path: str) -> str:
    """Return what two paths of one file have in common, whether relative, absolute, or written in another case."""
    return posixpath.basename(posixpath.normpath(path.replace("\\", "/"))).casefold()


def _conflict(earlier: Request, later: Request) -> bool:
    one, other = _touched(earlier), _touched(later)
    if one is None or other is None or not (one[1] or other[1]):
        return False
    return one[0] is None or other[0] is None or one[0] == other[0]
