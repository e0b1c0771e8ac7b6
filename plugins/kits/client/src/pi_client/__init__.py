"""pi from Python: a client of its RPC protocol, asynchronous or blocking, that drives pi in a process of its own.

``commands`` has the protocol's commands as classes, ``values`` their results, ``events`` the events. All of it is
loaded on first use: pi itself imports ``lines`` when it starts, and the classes take longer than half of a start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from pi_client import commands, errors, events, values
    from pi_client.blocking import BlockingPiClient
    from pi_client.client import PiClient
    from pi_client.errors import CommandFailed, ConnectionLost, PiClientError, ProtocolError
    from pi_client.events import UNANSWERED, Event, UiRequest
    from pi_client.served import ServedSession, find_served, served_sessions
    from pi_client.values import Image

__all__ = [
    "UNANSWERED",
    "BlockingPiClient",
    "CommandFailed",
    "ConnectionLost",
    "Event",
    "Image",
    "PiClient",
    "PiClientError",
    "ProtocolError",
    "ServedSession",
    "UiRequest",
    "commands",
    "errors",
    "events",
    "find_served",
    "served_sessions",
    "values",
]

_HOMES = {
    "BlockingPiClient": "blocking",
    "CommandFailed": "errors",
    "ConnectionLost": "errors",
    "Event": "events",
    "Image": "values",
    "PiClient": "client",
    "PiClientError": "errors",
    "ProtocolError": "errors",
    "ServedSession": "served",
    "UNANSWERED": "events",
    "UiRequest": "events",
    "find_served": "served",
    "served_sessions": "served",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _HOMES:
        found = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    elif name in __all__:
        found = import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__]
