"""Displays a list for a command, and handles its outcomes."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from pi_hookspecs import PiError
from pi_tui.dialogs.listed import Listed
from pi_tui.selectors.selector import Chosen

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pi_tui.screen.talk import Talk
    from pi_tui.selectors.selector import Outcome, Selector

__all__ = ["choose", "choose_while"]


async def choose(talk: Talk, selector: Selector[Any], *closed_by: type) -> Outcome | None:
    """Display a list and return the outcome that closed it; None if the user cancelled it.

    Args:
        talk: The conversation.
        selector: The list.
        closed_by: Outcomes that close it besides ``Chosen``.
    """
    return await talk.screen.ask(Listed(selector, talk.screen.bindings, *closed_by))


async def choose_while(
    talk: Talk,
    selector: Selector[Any],
    carry_out: Callable[[Outcome], Awaitable[Any]],
    first: Callable[[], Awaitable[Any]] | None = None,
    *,
    closed_by: type = Chosen,
) -> Outcome | None:
    """Display a list, carry out its other outcomes in order, and return the one that closed it; None if cancelled.

    Args:
        talk: The conversation.
        selector: The list.
        carry_out: Carries out an outcome that leaves the list open; it is cancelled when the list is closed.
        first: Runs before any outcome is carried out.
        closed_by: An outcome that closes it besides ``Chosen``.
    """
    asked: asyncio.Queue[Callable[[], Awaitable[Any]]] = asyncio.Queue()
    if first is not None:
        asked.put_nowait(first)

    async def work() -> None:
        while True:
            try:
                await (await asked.get())()
            except PiError as error:
                talk.notice(str(error), "error")
            except Exception as error:  # noqa: BLE001 - a bug of pi must not leave a list that does nothing
                talk.notice(f"Unexpected {type(error).__name__}: {str(error) or '(no message)'}", "error")
            talk.screen.draw_dialog()

    def ask(outcome: Outcome) -> None:
        asked.put_nowait(partial(carry_out, outcome))

    dialog = Listed(selector, talk.screen.bindings, closed_by, carry_out=ask)
    working = asyncio.ensure_future(work())
    try:
        return await talk.screen.ask(dialog)
    finally:
        working.cancel()
