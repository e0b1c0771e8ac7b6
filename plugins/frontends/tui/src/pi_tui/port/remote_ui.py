"""Forwarding of requests from plugins in another process to this process's user interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pi_client import UiRequest

__all__ = ["Asker"]


class Asker:
    """Passes requests from plugins in the other process to this process's user interface, once there is one."""

    def __init__(self) -> None:
        self.ui: Any = None

    async def answer(self, request: UiRequest) -> str | bool | None:
        """Ask the user, or display a plugin's output; return None for a dismissed dialog."""
        ui, data = self.ui, request.data
        if ui is None:
            return None
        seconds = data["timeout"] / 1000 if "timeout" in data else None
        answer: str | bool | None = None
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


def _display(ui: Any, method: str, data: dict[str, Any]) -> None:
    if method == "notify":
        ui.notify(data["message"], data.get("notifyType", "info"))
    elif method == "setStatus":
        ui.set_status(data["statusKey"], data.get("statusText"))
    elif method == "setWidget":
        ui.set_widget(data["widgetKey"], data.get("widgetLines"), placement=data.get("widgetPlacement"))
    elif method == "setTitle":
        ui.set_title(data["title"])
    elif method == "set_editor_text":
        ui.set_editor_text(data["text"])
