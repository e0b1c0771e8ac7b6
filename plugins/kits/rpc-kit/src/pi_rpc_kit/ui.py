"""The user interface of an RPC client: dialogs are sent as requests and answered by replies.

Timeouts are handled here, not by the client, so that a client that ignores a dialog does not block forever.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol

from pi_core import DialogUI, dumps
from pi_hookspecs import UserError, mark_unanswered

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from pi_core import DialogRequest
    from pi_hookspecs import AbortSignal, Activity, NoticeLevel

__all__ = ["RpcUI", "Sender"]

_GONE = "nobody was there to answer, because the program that asks the user has disconnected"
_NO_USER = "nobody was there to answer, because the connected program has no user"


class Sender(Protocol):
    """Sends lines to the client."""

    def send_line(self, line: bytes, key: Hashable = None, *, droppable: bool = False) -> None:
        """Send a line.

        Args:
            line: The line without its newline.
            key: A key that identifies outdated lines: a queued line with the same key need not be sent any more.
            droppable: Whether the line may be dropped if the client reads slowly.
        """


class RpcUI(DialogUI):
    """Implements ``UserInterface`` over RPC; members that only make sense in a terminal do nothing.

    Args:
        sender: Sends the requests.
        clean: Redacts the texts of a request; replies are matched with what was sent.
        tells_end: Whether to send ``extension_ui_closed`` when a dialog is over, because another client may answer it.
    """

    def __init__(
        self, sender: Sender, *, tells_end: bool = False, clean: Callable[[Any], Any] = lambda value: value
    ) -> None:
        self._clean = clean
        self._tells_end = tells_end
        self._sender = sender
        self._ids = count(1)
        self._open: dict[str, asyncio.Future[Mapping[str, Any]]] = {}
        self._over = False

    # Dialogs

    async def ask_dialog(self, dialog: DialogRequest) -> Any:
        """Send a dialog as a request; an answer that does not fit it counts as a dismissal.

        Options may have the form ``{"label", "value"}``; the client then gets the labels. The reply to a confirmation
        may have either ``confirmed`` or ``value``. An approval is a selection or a confirmation with the field
        ``approval``, for clients that draw it themselves; the reply is the same.
        """
        choices = {_label(each): _value(each) for each in dialog.options}
        fields: dict[str, dict[str, Any]] = {
            "select": {"options": [*choices]},
            "confirm": {"message": dialog.text},
            "input": {"placeholder": dialog.text or None},
            "editor": {"prefill": dialog.text or None},
        }
        how = fields[dialog.kind]
        if dialog.approval is not None:
            from pi_core import approval_to_wire

            how["approval"] = approval_to_wire(dialog.approval)
        reply = await self._ask(dialog.kind, dialog.signal, dialog.timeout, title=dialog.title, **how)
        value = reply.get("value")
        if dialog.kind == "confirm":
            return reply.get("confirmed", value) is True
        if dialog.kind == "select" and isinstance(value, Mapping):
            value = value.get("value", value.get("label"))
        if not isinstance(value, str):
            return None
        if dialog.kind == "editor" and value == self._clean(dialog.text):
            return dialog.text  # unchanged: a redacted text is not what the user wrote
        if dialog.kind == "select" and value not in choices:
            sent = [label for label in choices if self._clean(label) == value]
            value = sent[0] if len(sent) == 1 else value  # two that look the same cannot be told apart
        return value if dialog.kind != "select" else choices.get(value, value if value in choices.values() else None)

    def answer(self, request_id: str, reply: Mapping[str, Any]) -> None:
        """Answer a dialog with a client's reply; a reply to a dialog that is no longer open is ignored."""
        waiting = self._open.get(request_id)
        if waiting is not None and not waiting.done():
            waiting.set_result(reply)

    def dismiss_all(self) -> None:
        """Dismiss all open and future dialogs, because the client is gone."""
        self._over = True
        for each in self._open.values():
            if not each.done():
                each.set_result({})

    async def _ask(
        self, method: str, signal: AbortSignal | None, seconds: float | None, **fields: Any
    ) -> Mapping[str, Any]:
        if self._over or (signal is not None and signal.aborted):
            mark_unanswered(_GONE if self._over else None)
            return {}
        request_id = f"ui-{next(self._ids)}"
        waiting = self._open[request_id] = asyncio.get_running_loop().create_future()
        forget = signal.on_abort(lambda: self.answer(request_id, {})) if signal is not None else None
        try:
            limit = None if seconds is None else round(seconds * 1000)
            self._notify_client(method, request_id, **fields, timeout=limit)
            await asyncio.wait([waiting], timeout=seconds)
            reply: Mapping[str, Any] = waiting.result() if waiting.done() else {}
            mark_unanswered(self._why_unanswered(reply))
            return {} if reply.get("cancelled") is True else reply
        finally:
            del self._open[request_id]
            if forget is not None:
                forget()
            if self._tells_end and not self._over:
                self._sender.send_line(dumps({"type": "extension_ui_closed", "id": request_id}))

    def _why_unanswered(self, reply: Mapping[str, Any]) -> str | None:
        """Return why nobody answered, as of ``mark_unanswered``."""
        if self._over:
            return _GONE
        return _NO_USER if reply.get("unanswered") is True else None

    # Notices

    def notify(self, message: str, level: NoticeLevel = "info") -> None:
        """Show a notice."""
        self._notify_client("notify", message=message, notifyType=level)

    def set_status(self, key: str, text: str | None = None) -> None:
        """Show a short text under a key."""
        self._notify_client("setStatus", key=("setStatus", key), statusKey=key, statusText=text)

    def set_widget(self, key: str, lines: Sequence[str] | None = None, *, placement: str | None = None) -> None:
        """Show lines under a key; ``placement`` is ``aboveEditor`` or ``belowEditor``."""
        text_lines = None if lines is None else [*map(str, lines)]
        name = ("setWidget", key)
        self._notify_client("setWidget", key=name, widgetKey=key, widgetLines=text_lines, widgetPlacement=placement)

    def set_activity(self, key: str, activity: Activity | None = None) -> None:
        """Show what a plugin has running: a status or a widget, with the field ``activity`` for clients that draw it.

        An empty ``activity`` removes it.
        """
        from pi_core import activity_to_wire

        wire = activity_to_wire(activity)
        listed = activity is not None and activity.listed
        if activity is None or listed:
            lines = None if activity is None else [activity.label, *(each.text for each in activity.items)]
            self._notify_client("setWidget", key=("setWidget", key), widgetKey=key, widgetLines=lines, activity=wire)
        if activity is None or not listed:
            text = None if activity is None else activity.label
            self._notify_client("setStatus", key=("setStatus", key), statusKey=key, statusText=text, activity=wire)

    def set_title(self, title: str) -> None:
        """Set the window's title."""
        self._notify_client("setTitle", key="setTitle", title=title)

    def set_editor_text(self, text: str) -> None:
        """Set the text in the client's editor."""
        self._notify_client("set_editor_text", key="set_editor_text", text=text)

    def paste_to_editor(self, text: str) -> None:
        """Replace the text in the client's editor; its current text is not known here."""
        self.set_editor_text(text)

    def set_theme(self, theme: object) -> None:
        """Raise an error: switching themes is not supported in RPC mode.

        Raises:
            UserError: Always.
        """
        raise UserError("Theme switching not supported in RPC mode")

    def _notify_client(self, method: str, request_id: str | None = None, key: Hashable = None, **fields: Any) -> None:
        given = {name: self._clean(value) for name, value in fields.items() if value is not None}
        request = {
            "type": "extension_ui_request",
            "id": request_id or f"ui-{next(self._ids)}",
            "method": method,
            **given,
        }
        self._sender.send_line(dumps(request), key, droppable=request_id is None)


def _label(option: Any) -> str:
    return str(option.get("label", option.get("value")) if isinstance(option, Mapping) else option)


def _value(option: Any) -> str:
    return str(option.get("value", option.get("label")) if isinstance(option, Mapping) else option)
