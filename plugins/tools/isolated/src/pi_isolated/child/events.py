"""Converts messages from the pipe to events for a Python plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

import pi_hookspecs
from pi_core.wire import from_wire, message_from_wire
from pi_core.wire.events import event_from_wire
from pi_hookspecs.specs import all_hookspecs
from pi_isolated.events import changed_by
from pi_isolated.ready import DELTA_HOOKS

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["EventReader"]


class EventReader:
    """Reads the events of one process, and remembers which part of the conversation it has."""

    def __init__(self) -> None:
        self._whole: dict[str, dict[str, Any]] = {}

    def read(self, hook: str, event: Mapping[str, Any]) -> Any:
        """Return an event. That of ``message_update`` has the latest delta alone, and no ``message``.

        Raises:
            PiError: It cannot be read.
        """
        data = dict(event)
        if hook == "message_update":
            return event_from_wire(data)
        if hook not in DELTA_HOOKS:
            return from_wire(data, getattr(pi_hookspecs, all_hookspecs()[hook].__annotations__["event"]))
        self._whole[hook] = whole = changed_by(self._whole.get(hook, {}), data.pop("delta"))
        if hook == "context":
            return pi_hookspecs.ContextEvent(messages=tuple(map(message_from_wire, whole["messages"])))
        read = from_wire({**data, "payload": None}, pi_hookspecs.BeforeProviderRequestEvent)
        return attrs.evolve(read, payload=whole)
