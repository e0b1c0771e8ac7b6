"""A to-do list for the model and the user: the tool ``todo``, ``/todo``, and a display above the editor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import PluginSetting, hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import PiAPI

__all__ = ["activate", "pi_when", "register_settings"]

pi_when = {"settings": ["todo.enabled"]}


@hookimpl
def activate(pi: PiAPI) -> None:
    """Offer the tool and the command in the session, unless ``todo.enabled`` is false."""
    from pi_todo_list.list import TodoList

    TodoList(pi).listen()


@hookimpl
def register_settings() -> Sequence[PluginSetting]:
    """Declare ``todo.enabled``."""
    return [
        PluginSetting(
            "todo.enabled",
            schema={"type": "boolean", "default": False},
            description="Offer the tool todo and the command /todo: a list of what is to be done, above the editor",
            project="set",
        )
    ]
