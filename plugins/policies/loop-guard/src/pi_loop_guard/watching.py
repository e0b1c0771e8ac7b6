"""Counts equal calls with equal results that follow one another, and empty answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pi_hookspecs import NewEntry, TurnEndResult, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_hookspecs import PiAPI, PiContext, TurnEndEvent

__all__ = ["ENTRY", "Watch"]

ENTRY = "loop-guard"
"""The type of the session's entries for the model."""
_LAST = 3
"""The repetition that ends the run."""
_AGAIN = (
    "You have made the same call of {name} before, with the same result. Making it again changes nothing: read the"
    " result, and do something else, or give your answer."
)
_EMPTY = "Your answer was empty. Go on with the task, or say what the result is."


class Watch:
    """Watches the turns of one session.

    Args:
        pi: The session's plugin API, for the tools.
    """

    def __init__(self, pi: PiAPI) -> None:
        self._pi = pi
        self.clear()

    def clear(self) -> None:
        """Forget everything, because another run begins."""
        self._last: tuple[str, ...] = ()
        self._count = 0
        self._has_asked = False

    def look(self, event: TurnEndEvent, ctx: PiContext) -> TurnEndResult | None:
        """Look at a turn: warn the model at the second equal call, end the run at the third."""
        message = event.message
        if message.stop_reason == "stop" and not message.tool_calls and not message.text.strip():
            return self._ask_again()
        repeated = ""
        for call in self._calls(event):
            self._count = self._count + 1 if call == self._last else 1
            self._last = call
            if self._count >= _LAST:
                ctx.abort(f"The model made the same call of {call[0]} {_LAST} times, with the same result each time.")
                return None
            repeated = call[0] if self._count > 1 else ""
        if not repeated:
            return None
        return TurnEndResult(entries=[NewEntry(custom_type=ENTRY, content=_AGAIN.format(name=repeated), display=False)])

    def _ask_again(self) -> TurnEndResult | None:
        if self._has_asked:
            return None
        self._has_asked = True
        return TurnEndResult(entries=[NewEntry(custom_type=ENTRY, content=_EMPTY, display=False)], continue_=True)

    def _calls(self, event: TurnEndEvent) -> Iterator[tuple[str, ...]]:
        """Yield the calls of a turn that do not wait for something, with their arguments and results."""
        results = {each.tool_call_id: each for each in event.tool_results}
        waiting = {each.name for each in self._pi.get_all_tools() if each.annotations.waits}
        for call in event.message.tool_calls:
            result = results.get(call.id)
            if result is not None and call.name not in waiting:
                given = json.dumps(call.arguments, sort_keys=True, default=str)
                yield call.name, given, text_of(result.content)
