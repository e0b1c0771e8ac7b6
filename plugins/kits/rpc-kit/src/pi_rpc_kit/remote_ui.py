"""Forwarding of requests from plugins in another process to this process's user interface."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pi_client import UiRequest

__all__ = ["Asker"]


class Asker:
    """Passes requests from plugins in the other process to this process's user interface.

    They wait until it can display them: a session that is served sends what is open with the connection.

    Attributes:
        ui: The user interface.
    """

    def __init__(self) -> None:
        self.ui: Any = None
        self._begun = asyncio.Event()

    def begin(self) -> None:
        """Pass on requests from now on, since the user interface is ready."""
        self._begun.set()

    async def answer(self, request: UiRequest) -> str | bool | None:
        """Ask the user, or display a plugin's output; return None for a dismissed dialog."""
        await self._begun.wait()
        ui, data = self.ui, request.data
        seconds = data["timeout"] / 1000 if "timeout" in data else None
        answer: str | bool | None = None
        approval = data.get("approval") if request.method in ("select", "confirm") else None
        if approval is not None:
            return await _approved(ui, approval, request.method, seconds)
        if request.method == "select":
            answer = await ui.select(request.title, request.options, timeout=seconds)
        elif request.method == "confirm":
            answer = await ui.confirm(request.title, data.get("message", ""), timeout=seconds)
        elif request.method == "input":
            answer = await ui.input(request.title, data.get("placeholder"), timeout=seconds)
        elif request.method == "editor":
            answer = await ui.editor(request.title, data.get("prefill", ""))
        else:
            _display(ui, request.method, data)
        return answer


async def _approved(ui: Any, data: Any, method: str, seconds: float | None) -> str | bool | None:
    """Ask for an approval, and return what answers the selection or the confirmation that it came as."""
    from pi_core import approval_from_wire, label_of

    approval = approval_from_wire(data)
    answer = await ui.approve(approval, timeout=seconds) if approval is not None else None
    if method == "confirm" or approval is None:
        return answer is not None if method == "confirm" else None
    return label_of(approval, answer) if answer is not None else None


def _display(ui: Any, method: str, data: dict[str, Any]) -> None:
    if "activity" in data:
        from pi_core import activity_from_wire

        ui.set_activity(data["statusKey"] if method == "setStatus" else data["widgetKey"], activity_from_wire(data))
    elif method == "notify":
        ui.notify(data["message"], data.get("notifyType", "info"))
    elif method == "setStatus":
        ui.set_status(data["statusKey"], data.get("statusText"))
    elif method == "setWidget":
        ui.set_widget(data["widgetKey"], data.get("widgetLines"), placement=data.get("widgetPlacement"))
    elif method == "setTitle":
        ui.set_title(data["title"])
    elif method == "set_editor_text":
        ui.set_editor_text(data["text"])
