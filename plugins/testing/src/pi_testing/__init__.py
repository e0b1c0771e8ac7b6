"""What tests of pi plugins are made of: a scripted provider, an event recorder, a fake user interface.

The fixtures are in ``pi_testing.plugin``, which pytest finds by itself. It starts with every run of pytest, so
nothing of pi is imported before a test asks for it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pi_testing.fake_ui import Dialog, FakeUI, Notice
    from pi_testing.provider_contract import ProviderCase, ProviderContract, ServerCase
    from pi_testing.recorder import EventRecorder
    from pi_testing.scripted import Request, ScriptedProvider
    from pi_testing.stand_ins import FakeTool, make_tool
    from pi_testing.steps import (
        Step,
        delay,
        error,
        no_end,
        raises,
        stall,
        stop,
        text,
        thinking,
        tool_call,
        unknown_event,
        usage,
    )

_HOMES = {
    "fake_ui": "Dialog FakeUI Notice",
    "provider_contract": "ProviderCase ProviderContract ServerCase",
    "recorder": "EventRecorder",
    "scripted": "Request ScriptedProvider",
    "stand_ins": "FakeTool make_tool",
    "steps": "Step delay error no_end raises stall stop text thinking tool_call unknown_event usage",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "Dialog",
    "EventRecorder",
    "FakeTool",
    "FakeUI",
    "Notice",
    "ProviderCase",
    "ProviderContract",
    "Request",
    "ScriptedProvider",
    "ServerCase",
    "Step",
    "delay",
    "error",
    "make_tool",
    "no_end",
    "raises",
    "stall",
    "stop",
    "text",
    "thinking",
    "tool_call",
    "unknown_event",
    "usage",
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
