"""One user interface over several front ends of a session: the first answer to a dialog counts."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from attrs import define, evolve, field

from pi_core.agent.safe_text import format_exception
from pi_core.plugin_api.dialogs import DialogUI, format_seconds
from pi_hookspecs import mark_unanswered, unanswered_reason

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from pi_core.plugin_api.dialogs import DialogRequest
    from pi_hookspecs import AbortSignal, Activity, FormField, NoticeLevel, UserInterface, WidgetPlacement

    Ask = Callable[[UserInterface, AbortSignal, float | None], Coroutine[Any, Any, Any]]

__all__ = ["FanOutUI"]


class FanOutUI(DialogUI):
    """Implements ``UserInterface``, ``form`` and ``open_url`` on top of several clients.

    Every client gets every dialog; a client that is added later gets the dialogs that are still open. The first
    answer counts, even if it is a dismissal, and the dialog is aborted in all other clients. A client that leaves
    answers nothing. Notices go to all clients; a new client gets the current statuses, widgets and title.

    Args:
        report: Called with a message when a client raises an exception. The other clients are not affected.
        wait: Seconds that a dialog stays open while there is no client; then it ends unanswered. 0 ends it at once.
    """

    def __init__(self, report: Callable[[str], object] = bool, *, wait: float = 0) -> None:
        self._report = report
        self.wait = wait
        self._clients: list[UserInterface] = []
        self._dialogs: list[_OpenDialog] = []
        self._state: dict[tuple[str, str], Callable[[UserInterface], object]] = {}

    def add(self, client: UserInterface) -> Callable[[], None]:
        """Add a client; return a function that removes it. The other clients keep the dialogs it was showing."""
        self._clients.append(client)
        for show in self._state.values():
            self._call(client, show)
        for dialog in self._dialogs:
            dialog.open_at(client, dialog.left())

        def remove() -> None:
            if client in self._clients:
                self._clients.remove(client)
                for dialog in [*self._dialogs]:
                    dialog.close_at(client)
                    dialog.wait_for_client()

        return remove

    def end_dialogs(self, reason: str) -> None:
        """End all open dialogs unanswered, because the session ends; ``reason`` as of ``mark_unanswered``."""
        for dialog in [*self._dialogs]:
            dialog.end(reason)

    # Dialogs

    async def ask_dialog(self, dialog: DialogRequest) -> Any:
        """Open a dialog in every client; the first answer counts, whichever it is."""
        return await self._ask(
            lambda ui, abort, left: evolve(dialog, timeout=left).open_in(ui, abort), dialog.signal, dialog.timeout
        )

    async def form(
        self,
        fields: Sequence[FormField],
        *,
        signal: AbortSignal | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the contract's
        **how: Any,
    ) -> dict[str, Any] | None:
        """Let a user fill in a form; a client that does not support forms asks for one field at a time."""
        from pi_core.plugin_api.forms import ask_form

        answer: dict[str, Any] | None = await self._ask(
            lambda ui, abort, left: ask_form(ui, fields, signal=abort, timeout=left, **how), signal, timeout
        )
        return answer

    async def _ask(self, ask: Ask, signal: AbortSignal | None, seconds: float | None) -> Any:
        """Return the first answer; None if the signal is aborted, the time is over, or no client comes."""
        if signal is not None and signal.aborted:
            return None
        dialog = _OpenDialog(ask, self._failed, seconds, self.wait)
        self._dialogs.append(dialog)
        forget = signal.on_abort(dialog.dismiss) if signal is not None else bool
        try:
            for client in self._clients:
                dialog.open_at(client, seconds)
            dialog.wait_for_client()
            answer = await dialog.answer
            mark_unanswered(dialog.unanswered)
            return answer
        finally:
            forget()
            self._dialogs.remove(dialog)
            dialog.close()

    # Notices

    def notify(self, message: str, level: NoticeLevel = "info") -> None:
        """Show a notice."""
        self._call_all(lambda ui: ui.notify(message, level))

    def set_status(self, key: str, text: str | None = None) -> None:
        """Show a short text under a key."""
        self._keep(("status", key), lambda ui: ui.set_status(key, text), is_set=text is not None)

    def set_widget(
        self, key: str, lines: Sequence[str] | None = None, *, placement: WidgetPlacement | None = None
    ) -> None:
        """Show lines under a key."""
        show = lambda ui: ui.set_widget(key, lines, placement=placement)  # noqa: E731 - kept for later clients
        self._keep(("widget", key), show, is_set=lines is not None)

    def set_activity(self, key: str, activity: Activity | None = None) -> None:
        """Show under a key what a plugin has running."""
        from pi_core.plugin_api.activities import show_activity

        self._keep(("activity", key), lambda ui: show_activity(ui, key, activity), is_set=activity is not None)

    def set_editor_text(self, text: str) -> None:
        """Replace the text in the users' editors."""
        self._call_all(lambda ui: ui.set_editor_text(text))

    def set_title(self, title: str) -> None:
        """Set the windows' title."""
        self._keep(("title", ""), lambda ui: ui.set_title(title), is_set=True)

    def open_url(self, url: str) -> bool:
        """Open a page in the first client that can open pages."""
        return any(self._opened(client, url) for client in self._clients)

    # Internals

    def _opened(self, client: Any, url: str) -> bool:
        try:
            return hasattr(client, "open_url") and bool(client.open_url(url))
        except Exception as error:  # noqa: BLE001 - as for notices
            self._failed(error)
            return False

    def _keep(self, key: tuple[str, str], show: Callable[[UserInterface], object], *, is_set: bool) -> None:
        self._state.pop(key, None)
        if is_set:
            self._state[key] = show
        self._call_all(show)

    def _call_all(self, show: Callable[[UserInterface], object]) -> None:
        for client in [*self._clients]:
            self._call(client, show)

    def _call(self, client: UserInterface, show: Callable[[UserInterface], object]) -> None:
        try:
            show(client)
        except Exception as error:  # noqa: BLE001 - one client must not cost the others their notice
            self._failed(error)

    def _failed(self, error: BaseException) -> None:
        self._report(f"A client of the session failed: {format_exception(error)}")


@define
class _Unanswered:
    """What a client without a user answers: the dialog is left to the others."""

    reason: str


@define(eq=False)
class _OpenDialog:
    """A dialog that is open in the clients, or waits for one.

    Attributes:
        seconds: Its timeout; None for none.
        wait: Seconds that it waits for a client.
        unanswered: Why nobody answered, as of ``mark_unanswered``; None if a client answered.
    """

    ask: Ask
    failed: Callable[[BaseException], None]
    seconds: float | None
    wait: float
    unanswered: str | None = field(init=False, default=None)
    answer: asyncio.Future[Any] = field(init=False, factory=lambda: asyncio.get_running_loop().create_future())
    _asked: dict[int, tuple[UserInterface, asyncio.Task[Any], Any]] = field(init=False, factory=dict)
    """The clients by identity, as not all can be hashed, each with its task and what aborts it."""
    _begun: float = field(init=False, factory=time.monotonic)
    _timer: asyncio.TimerHandle | None = field(init=False, default=None)

    def open_at(self, client: UserInterface, seconds: float | None) -> None:
        """Open the dialog in a client, for the given seconds."""
        self.stop_waiting()
        from pi_hookspecs import AbortController

        abort = AbortController()
        task = asyncio.ensure_future(self._ask(client, abort.signal, seconds))
        self._asked[id(client)] = client, task, abort
        task.add_done_callback(lambda task: self._on_end(client, task))

    async def _ask(self, client: UserInterface, signal: AbortSignal, seconds: float | None) -> Any:
        # called here, so that what a plain function raises concerns this client only
        mark_unanswered(None)
        answer = await self.ask(client, signal, seconds)
        reason = unanswered_reason()  # of this task, which the one that asked cannot see
        return answer if answer or reason is None else _Unanswered(reason)

    def left(self) -> float | None:
        """Return the seconds until the dialog times out."""
        return None if self.seconds is None else max(self.seconds - (time.monotonic() - self._begun), 0)

    def close_at(self, client: UserInterface) -> None:
        """Close the dialog in a client without an answer."""
        asked = self._asked.pop(id(client), None)
        if asked is None:
            return
        _, task, abort = asked
        abort.abort("answered elsewhere")
        task.cancel()

    def wait_for_client(self) -> None:
        """If no client displays the dialog, end it unless one comes within ``wait`` seconds and its own timeout."""
        if self._asked:
            return
        left, seconds = self.left(), self.wait
        if left is not None and left < seconds:
            wait, reason = left, f"nobody answered within {format_seconds(self.seconds or 0)}"
        elif seconds > 0:
            wait, reason = seconds, f"nobody was there to answer within {format_seconds(seconds)}"
        else:
            self.end("nobody was there to answer")
            return
        self.stop_waiting()
        self._timer = asyncio.get_running_loop().call_later(wait, self.end, reason)

    def set_answer(self, answer: Any) -> None:
        """Take the answer of a client, which is none if the time is over."""
        if self.answer.done():
            return
        if not answer and self.left() == 0:
            self.end(f"nobody answered within {format_seconds(self.seconds or 0)}")
        else:
            self.answer.set_result(answer)

    def stop_waiting(self) -> None:
        """Stop counting the seconds without a client."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def end(self, reason: str) -> None:
        """End the dialog unanswered."""
        if not self.answer.done():
            self.unanswered = reason
            self.answer.set_result(None)

    def dismiss(self) -> None:
        """Answer the dialog as if the user had dismissed it."""
        if not self.answer.done():
            self.answer.set_result(None)

    def close(self) -> None:
        """Close the dialog in all clients."""
        self.stop_waiting()
        for client, _, _ in [*self._asked.values()]:
            self.close_at(client)

    def _on_end(self, client: UserInterface, task: asyncio.Task[Any]) -> None:
        if self._asked.get(id(client), (None, None))[1] is not task:
            if not task.cancelled():
                task.exception()  # retrieved: it was closed
            return
        error = None if task.cancelled() else task.exception()
        if error is None and not task.cancelled():
            if not isinstance(task.result(), _Unanswered):
                self.set_answer(task.result())
                return
        elif error is not None:
            self.failed(error)
        self.close_at(client)
        self.wait_for_client()
