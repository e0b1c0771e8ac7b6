"""An event loop that goes on after a plugin's task or callback has raised ``SystemExit`` or ``KeyboardInterrupt``.

asyncio lets these two leave the loop, whoever raises them: a ``sys.exit`` in a task that a plugin has started would end
pi in the middle of an answer. The loop itself is still usable then, as the work that it runs has not ended.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pi_core.agent.safe_text import is_interrupt

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["steady_loop", "was_reported"]


def steady_loop(plugin_of: Callable[[BaseException], str | None]) -> asyncio.AbstractEventLoop:
    """Return a new event loop, for ``asyncio.Runner``.

    What is raised by a plugin's code goes to the loop's exception handler, like every other exception of a task.

    Args:
        plugin_of: Returns the plugin whose code raised an exception; None for all other code.
    """
    loop = asyncio.new_event_loop()
    run = loop.run_until_complete

    def report(error: BaseException) -> None:
        loop.call_exception_handler({"message": "A callback ended the event loop", "exception": error})
        error.was_reported = True  # type: ignore[attr-defined]

    def run_until_complete(work: Any) -> Any:
        task = asyncio.ensure_future(work, loop=loop)
        while True:
            try:
                return run(task)
            except (SystemExit, KeyboardInterrupt) as error:
                if task.done() or is_interrupt(error) or plugin_of(error) is None:
                    raise
                loop.call_soon(report, error)  # while the loop runs: the screen shows it from there

    loop.run_until_complete = run_until_complete  # type: ignore[method-assign, assignment]
    return loop


def was_reported(error: BaseException) -> bool:
    """Whether a loop of ``steady_loop`` has reported this exception: of a task, asyncio does so once more."""
    return getattr(error, "was_reported", False) is True
