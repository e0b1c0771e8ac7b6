"""Which calls come next: every open request is taken as far as its replies reach, those that may not wait go together.

Independent requests run in the same turn. Two that touch the same thing, one of them writing, run in the order in which
they were asked; a command may touch anything.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
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
    earlier = _Earlier()
    calls: defaultdict[int, list[Made]] = defaultdict(list)
    for made in conversation.made:
        calls[made.request].append(made)
    for number, asked in enumerate(conversation.asked, 1):
        touched = _touched(asked.request)
        done, place = earlier.conflicting(touched)
        if done:
            planned.append(_advance(asked, calls[number], max(asked.place, place), tools))
        else:
            planned.append(Planned(asked.request))
        earlier.add(touched, planned[-1])
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


class _Earlier:
    """The requests before one, by what they touch: thousands of them are looked through in a few looks."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str | None, bool], tuple[bool, int]] = {}

    def add(self, touched: _Touched | None, planned: Planned) -> None:
        if touched is None:
            return
        key, changes = touched
        for name in (key, _EVERY):
            done, place = self._seen.get((name, changes), (True, -1))
            self._seen[name, changes] = done and planned.outcome is not None, max(place, planned.place)

    def conflicting(self, touched: _Touched | None) -> tuple[bool, int]:
        """Return whether all is done that must come before, and the place of the last message that it took."""
        if touched is None:
            return True, -1
        key, changes = touched
        names = (_EVERY,) if key is None else (key, None)
        found = [self._seen.get((name, kind), (True, -1)) for name in names for kind in {True, not changes}]
        return all(done for done, _ in found), max(place for _, place in found)


_EVERY = "/"
"""Stands for all names; no file has it."""
