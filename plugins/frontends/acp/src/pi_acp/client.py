"""The editor's capabilities, and a session's requests to it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from attrs import define, frozen

from pi_acp.peer import RpcError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_acp.peer import Peer
    from pi_hookspecs import AbortSignal

__all__ = ["Abilities", "Client"]


@frozen
class Abilities:
    """Capabilities of the editor."""

    reads_files: bool = False
    writes_files: bool = False
    has_terminals: bool = False
    has_forms: bool = False
    opens_urls: bool = False
    has_switches: bool = False

    @classmethod
    def of(cls, given: Any) -> Abilities:
        """Return the client's capabilities; one that is not understood counts as missing."""
        files, session = _dict(given, "fs"), _dict(_dict(given, "session"), "configOptions")
        asks = _dict(given, "elicitation")
        return cls(
            reads_files=files.get("readTextFile") is True,
            writes_files=files.get("writeTextFile") is True,
            has_terminals=_dict(given).get("terminal") is True,
            has_forms=isinstance(asks.get("form"), dict),
            opens_urls=isinstance(asks.get("url"), dict),
            has_switches=isinstance(session.get("boolean"), dict),
        )


@define
class Client:
    """The editor from the view of one session.

    Attributes:
        session_id: The session's id for the editor.
    """

    peer: Peer
    can: Abilities
    session_id: str = ""

    def update(self, kind: str, /, **fields: Any) -> None:
        """Send an update of the session."""
        update = {"sessionUpdate": kind, **fields}
        self.peer.notify("session/update", {"sessionId": self.session_id, "update": update})

    def post(self, method: str, **params: Any) -> None:
        """Send a request of the session and ignore its result."""
        self.peer.post(method, {"sessionId": self.session_id, **params})

    async def request(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request of the session and return its result.

        Raises:
            RpcError: The client answered with an error, or the connection ends.
        """
        return _dict(await self.peer.request(method, {"sessionId": self.session_id, **params}))

    async def ask(
        self,
        method: str,
        params: Mapping[str, Any],
        *,
        signal: AbortSignal | None = None,
        seconds: float | None = None,
    ) -> dict[str, Any] | None:
        """Send a request of the session and return its result; None if it is aborted, times out or fails.

        Args:
            method: Its name.
            params: Its parameters, without the session's id.
            signal: Aborts the wait.
            seconds: Timeout of the wait.
        """
        if signal is not None and signal.aborted:
            return None
        asked = asyncio.create_task(self.request(method, **params))
        forget = signal.on_abort(asked.cancel) if signal is not None else None
        try:
            await asyncio.wait([asked], timeout=seconds)
            if not asked.done() or asked.cancelled():
                return None
            return asked.result()
        except RpcError:
            return None
        finally:
            asked.cancel()
            if forget is not None:
                forget()


def _dict(given: Any, name: str | None = None) -> dict[str, Any]:
    value = given.get(name) if name is not None and isinstance(given, dict) else given if name is None else None
    return value if isinstance(value, dict) else {}
