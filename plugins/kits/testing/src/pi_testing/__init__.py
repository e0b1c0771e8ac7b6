"""Building blocks for tests of pi plugins: a scripted provider, an event recorder, a fake user interface.

The fixtures are in ``pi_testing.plugin``, which pytest finds by itself. It starts with every run of pytest, so
nothing of pi is imported before a test asks for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs.lazy import lazy_exports

if TYPE_CHECKING:
    from pi_testing.cache_guard import CacheGuard
    from pi_testing.cassettes import Cassette
    from pi_testing.contract_images import ImageCase, ImageContract
    from pi_testing.contract_virtual import VirtualModelContract
    from pi_testing.fake_launcher import FakeLauncher
    from pi_testing.fake_processes import FakeProcess, FakeProcesses
    from pi_testing.fake_screen import FakeFullUI, RecordingScreen
    from pi_testing.fake_ui import Dialog, FakeUI, Notice
    from pi_testing.fake_workspace import FakeWorkspace
    from pi_testing.faults import failing_hook, slow_hook
    from pi_testing.mode_contract import ModeContract
    from pi_testing.provider_contract import ProviderCase, ProviderContract, ServerCase
    from pi_testing.reader_contract import ReaderContract
    from pi_testing.recorder import EventRecorder
    from pi_testing.scripted import Request, ScriptedProvider
    from pi_testing.stand_ins import FakeTool, make_tool
    from pi_testing.steps import (
        PNG,
        Step,
        delay,
        error,
        image,
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
    from pi_testing.store_contract import StoreContract
    from pi_testing.tables import for_each
    from pi_testing.tool_contract import ToolContract, arguments
    from pi_testing.waiting import until

_HOMES = {
    "cache_guard": "CacheGuard",
    "cassettes": "Cassette",
    "fake_launcher": "FakeLauncher",
    "fake_processes": "FakeProcess FakeProcesses",
    "fake_screen": "FakeFullUI RecordingScreen",
    "fake_ui": "Dialog FakeUI Notice",
    "fake_workspace": "FakeWorkspace",
    "faults": "failing_hook slow_hook",
    "contract_images": "ImageCase ImageContract",
    "contract_virtual": "VirtualModelContract",
    "mode_contract": "ModeContract",
    "provider_contract": "ProviderCase ProviderContract ServerCase",
    "reader_contract": "ReaderContract",
    "recorder": "EventRecorder",
    "scripted": "Request ScriptedProvider",
    "stand_ins": "FakeTool make_tool",
    "steps": "PNG Step delay error image no_end raises stall stop text thinking tool_call unknown_event usage",
    "store_contract": "StoreContract",
    "tables": "for_each",
    "tool_contract": "ToolContract arguments",
    "waiting": "until",
}
__all__ = [
    "PNG",
    "CacheGuard",
    "Cassette",
    "Dialog",
    "EventRecorder",
    "FakeFullUI",
    "FakeLauncher",
    "FakeProcess",
    "FakeProcesses",
    "FakeTool",
    "FakeUI",
    "FakeWorkspace",
    "ImageCase",
    "ImageContract",
    "ModeContract",
    "Notice",
    "ProviderCase",
    "ProviderContract",
    "ReaderContract",
    "RecordingScreen",
    "Request",
    "ScriptedProvider",
    "ServerCase",
    "Step",
    "StoreContract",
    "ToolContract",
    "VirtualModelContract",
    "arguments",
    "delay",
    "error",
    "failing_hook",
    "for_each",
    "image",
    "make_tool",
    "no_end",
    "raises",
    "slow_hook",
    "stall",
    "stop",
    "text",
    "thinking",
    "tool_call",
    "unknown_event",
    "until",
    "usage",
]


__getattr__ = lazy_exports(__name__, _HOMES)


def __dir__() -> list[str]:
    return [*__all__]
