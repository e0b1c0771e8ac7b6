"""The user of a notebook: dialogs are widgets or asked with ``input`` below the cell, notices are printed."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

from pi_core import DialogUI
from pi_hookspecs import mark_unanswered

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from IPython.core.interactiveshell import InteractiveShell

    from pi_core import DialogRequest
    from pi_hookspecs import NoticeLevel
    from pi_jupyter.cell_thread import CellThread

__all__ = ["NotebookUI"]

_NO_USER = object()


class NotebookUI(DialogUI):
    """Implements ``UserInterface``; an empty answer dismisses a dialog.

    Args:
        thread: Calls ``input`` and ``print`` in the thread of the cell.
        shell: The shell of the notebook.

    Attributes:
        before: Called before a question, to draw what has been said so far.
    """

    def __init__(self, thread: CellThread, shell: InteractiveShell) -> None:
        self._thread = thread
        self._shell = shell
        self.before: Callable[[], object] = bool

    async def ask_dialog(self, dialog: DialogRequest) -> Any:
        """Ask below the running cell; None if the program that executes the notebook has no user."""
        from pi_jupyter.widgets import has_user

        self.before()
        if self._thread.is_awaited and has_user(self._shell):
            return await self._ask_with_widgets(dialog)
        answer = await self._thread.in_cell(lambda: _ask(dialog))
        if answer is _NO_USER:
            mark_unanswered("there is no user to ask: a program executes the notebook")
            return None
        return answer

    async def _ask_with_widgets(self, dialog: DialogRequest) -> Any:
        from pi_jupyter.widgets import show_dialog

        loop = asyncio.get_running_loop()
        answered: asyncio.Future[Any] = loop.create_future()

        def settle(value: object) -> None:
            if not answered.done():
                answered.set_result(value)

        def answer(value: object = None) -> None:
            loop.call_soon_threadsafe(settle, value)

        close = await self._thread.in_cell(lambda: show_dialog(dialog, answer))
        forget = dialog.signal.on_abort(answer) if dialog.signal is not None else bool
        try:
            async with asyncio.timeout(dialog.timeout):
                return await answered
        except TimeoutError:
            return None
        finally:
            forget()
            self._thread.post(lambda: close("(not answered)"))

    def notify(self, message: str, level: NoticeLevel = "info") -> None:
        """Print a notice; warnings and errors where the notebook marks them."""
        stream = sys.stdout if level == "info" else sys.stderr
        self._thread.post(lambda: print(message, file=stream, flush=True))


def _ask(dialog: DialogRequest) -> Any:
    print(*filter(None, (dialog.title, dialog.text if dialog.kind != "input" else "")), sep="\n", flush=True)  # noqa: T201 - the dialog
    try:
        return _choose(dialog.options) if dialog.kind == "select" else _answer(dialog)
    except (EOFError, NotImplementedError):  # IPython's StdinNotImplementedError is one
        print("There is no user to answer, which counts as no.", flush=True)  # noqa: T201 - as above
        return _NO_USER


def _answer(dialog: DialogRequest) -> Any:
    if dialog.kind == "confirm":
        return input("Yes or no? [y/N] ").strip().lower() in ("y", "yes")
    return input(f"({dialog.text}) " if dialog.kind == "input" and dialog.text else "> ") or None


def _choose(options: Sequence[str]) -> str | None:
    print(*(f"{number}. {option}" for number, option in enumerate(options, 1)), sep="\n", flush=True)  # noqa: T201 - as above
    while answer := input(f"1 to {len(options)}, or nothing: ").strip():
        if answer.isdecimal() and 1 <= int(answer) <= len(options):
            return options[int(answer) - 1]
        print(f"{answer!r} is not one of the numbers.", flush=True)  # noqa: T201 - as above
    return None
