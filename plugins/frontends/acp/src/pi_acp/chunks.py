"""Merges the model's output into fewer updates: at most thirty a second, in order and complete."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pi_acp.client import Client

__all__ = ["Chunks"]

_INTERVAL = 1 / 30
"""Seconds between two updates with text."""


class Chunks:
    """The text of one session on its way to the editor.

    Args:
        client: The editor.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._loop = asyncio.get_running_loop()
        self._kind = ""
        self._parts: list[str] = []
        self._sent = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def add(self, kind: str, text: str) -> None:
        """Add text to a message or a thought: ``agent_message_chunk``, ``agent_thought_chunk``."""
        if not text:
            return
        if kind != self._kind:
            self.flush()
            self._kind = kind
        self._parts.append(text)
        if self._timer is None:
            self._timer = self._loop.call_at(self._sent + _INTERVAL, self.flush)

    def flush(self) -> None:
        """Send pending text before anything else is sent."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._parts:
            text = "".join(self._parts)
            self._parts.clear()
            self._sent = self._loop.time()
            self._client.update(self._kind, content={"type": "text", "text": text})
