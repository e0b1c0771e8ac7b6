"""pi from Python: a client of its RPC protocol, asynchronous or blocking, that drives pi in a process of its own.

``commands`` has the protocol's commands as classes, ``values`` their results, ``events`` the events.
"""

from __future__ import annotations

from pi_client import commands, errors, events, values
from pi_client._blocking import BlockingPiClient
from pi_client._client import PiClient
from pi_client.errors import CommandFailed, ConnectionLost, PiClientError, ProtocolError
from pi_client.events import Event, UiRequest
from pi_client.values import Image

__all__ = [
    "BlockingPiClient",
    "CommandFailed",
    "ConnectionLost",
    "Event",
    "Image",
    "PiClient",
    "PiClientError",
    "ProtocolError",
    "UiRequest",
    "commands",
    "errors",
    "events",
    "values",
]
