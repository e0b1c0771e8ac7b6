"""pi's end of the sidecar: starts it with the first request, restarts it once, and ends it without connections.

The sidecar is part of pi, so no ``Launcher`` is asked about it; they prepare each server that it starts.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from pi_hookspecs import PiError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pi_mcp.hub import Hub
    from pi_mcp.remote import Remote
    from pi_process_kit import Child

__all__ = ["Link", "RequestFailed", "link_of"]

IDLE = 60.0
"""Seconds without a connection after which the sidecar is ended."""
_KEPT = (
    "HOME",
    "LANG",
    "LOGNAME",
    "PATH",
    "PYTHONPATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
)
_NETWORK = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")
_CHUNK = 1 << 18


class RequestFailed(PiError):
    """The sidecar answered with an error.

    Attributes:
        lost: Whether the server is no longer connected.
        again: Whether the server has not processed the request, so that it may be sent again.
        tail: The last lines of the server's standard error.
    """

    def __init__(self, message: str, *, lost: bool = False, again: bool = False, tail: str = "") -> None:
        super().__init__(message)
        self.lost = lost
        self.again = again
        self.tail = tail


class Link:
    """The sidecar of this process.

    Args:
        agent_dir: The folder of the log and of the sign-ins.

    Attributes:
        remotes: Connections by their key, shared by the sessions of the process.
        users: Sessions that use it.
    """

    def __init__(self, agent_dir: Path) -> None:
        self.agent_dir = agent_dir
        self.remotes: dict[str, Remote] = {}
        self.users: set[Hub] = set()
        self._child: Child | None = None
        self._reader: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._waiting: dict[int, tuple[asyncio.Future[Any], Callable[[str], None] | None]] = {}
        self._asking: set[asyncio.Task[None]] = set()
        self._number = 0
        self._deaths = 0
        self._idle: asyncio.TimerHandle | None = None

    @property
    def pid(self) -> int | None:
        """The sidecar's process; None while there is none."""
        return self._child.pid if self._child is not None else None

    async def request(
        self, do: str, server: str, *, on_progress: Callable[[str], None] | None = None, **fields: Any
    ) -> Any:
        """Return the sidecar's answer; cancelling the task also cancels the request.

        Raises:
            RequestFailed: The answer is an error, or the sidecar ended.
        """
        child = await self._running()
        self._number += 1
        number = self._number
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = (future, on_progress)
        try:
            await self._send(child, {"id": number, "do": do, "server": server, **fields})
            return await future
        except asyncio.CancelledError:
            with suppress(RequestFailed):
                await self._send(child, {"cancel": number})
            raise
        finally:
            self._waiting.pop(number, None)

    async def ended(self) -> None:
        """Wait until the current sidecar has ended and its connections are marked as lost."""
        if self._reader is not None:
            await asyncio.wait({self._reader})

    def forgive(self) -> None:
        """Allow the sidecar to start again although it ended twice."""
        self._deaths = 0

    def rest(self) -> None:
        """End the sidecar after a while, unless it is needed again."""
        unclaimed = self._unclaimed()
        if self._idle is None and not any(each.is_open for each in self.remotes.values() if each not in unclaimed):
            self._idle = asyncio.get_running_loop().call_later(IDLE, self._end_idle)

    def _unclaimed(self) -> list[Remote]:
        """Return the connections that no session uses because their servers are no longer configured."""
        claimed = {remote for user in self.users for remote in user.remotes.values()}
        return [remote for remote in self.remotes.values() if remote not in claimed]

    async def close_unclaimed(self) -> None:
        """Close the connections that no session uses."""
        for remote in self._unclaimed():
            del self.remotes[remote.key]
            with suppress(PiError):
                await remote.close()

    def _end_idle(self) -> None:
        self._idle = None
        task = asyncio.get_running_loop().create_task(self._stop_unless_used())
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _stop_unless_used(self) -> None:
        await self.close_unclaimed()
        if not self._waiting and not any(each.is_open for each in self.remotes.values()):
            await self.stop()

    async def stop(self) -> None:
        """End the sidecar, and with it all servers."""
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        child, self._child = self._child, None
        if child is not None:
            await child.stop(grace=4)
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.wait({self._reader})
            self._reader = None

    async def _running(self) -> Child:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        async with self._starting:
            if self._child is None:
                if self._deaths > 1:
                    message = f"The process of the MCP connections ended twice; see {self.agent_dir / 'mcp.log'}"
                    raise RequestFailed(f"{message}. /mcp reconnect starts it again.", lost=True)
                self._child = await self._start()
                self._reader = asyncio.create_task(self._read(self._child))
            return self._child

    async def _start(self) -> Child:
        from pi_hookspecs import SpawnRequest
        from pi_process_kit import start_child

        names = {*_KEPT, *_NETWORK, *(name.lower() for name in _NETWORK)}
        self.agent_dir.mkdir(parents=True, exist_ok=True)
        argv = [sys.executable, "-m", "pi_mcp.sidecar", os.fspath(self.agent_dir / "mcp.log")]
        env = {name: value for name, value in os.environ.items() if name in names}
        return await start_child(
            SpawnRequest(argv=argv, cwd=os.fspath(self.agent_dir), env=env, purpose="mcp"), stderr="null"
        )

    async def _send(self, child: Child, message: dict[str, Any]) -> None:
        try:
            child.stdin.write(json.dumps(message).encode() + b"\n")
            await child.stdin.drain()
        except (OSError, RuntimeError) as error:
            raise RequestFailed(f"the process of the MCP connections ended: {error}", lost=True) from error

    async def _read(self, child: Child) -> None:
        pieces: list[bytes] = []
        while chunk := await child.stdout.read(_CHUNK):
            *lines, rest = chunk.split(b"\n")
            for line in lines:
                self._take(child, json.loads(b"".join([*pieces, line])))
                pieces = []
            pieces.append(rest)
        if self._child is child:
            self._child = None
            self._deaths += 1
            child.kill()
            child.close()
        for remote in self.remotes.values():
            remote.lost("the process of the MCP connections ended", "")
        for future, _ in self._waiting.values():
            if not future.done():
                future.set_exception(RequestFailed("the process of the MCP connections ended", lost=True))

    def _take(self, child: Child, message: dict[str, Any]) -> None:
        if "id" in message:
            future, _ = self._waiting.get(message["id"], (None, None))
            if future is None or future.done():
                return
            error = message.get("error")
            if error is None:
                future.set_result(message.get("ok"))
            else:
                about = {key: error[key] for key in ("lost", "again", "tail") if key in error}
                future.set_exception(RequestFailed(error["message"], **about))
        elif "progress" in message:
            _, on_progress = self._waiting.get(message["progress"], (None, None))
            if on_progress is not None:
                on_progress(message["text"])
        elif "ask" in message:
            task = asyncio.create_task(self._answer(child, message))
            self._asking.add(task)
            task.add_done_callback(self._asking.discard)
        elif "changed" in message and (remote := self.remotes.get(message["changed"])):
            remote.changed()
        elif "closed" in message and (remote := self.remotes.get(message["closed"])):
            remote.lost(message["reason"], message["tail"])
            self.rest()

    async def _answer(self, child: Child, question: dict[str, Any]) -> None:
        remote = self.remotes.get(question["server"])
        value = None
        try:
            value = await remote.ask(question) if remote is not None else None
        finally:
            with suppress(RequestFailed):
                await self._send(child, {"answer": question["ask"], "value": value})


_LINKS: WeakKeyDictionary[asyncio.AbstractEventLoop, Link] = WeakKeyDictionary()
"""The one of each event loop: connections outlive the sessions and reloads of a process, and belong to its loop."""


def link_of(agent_dir: Path) -> Link:
    """Return the sidecar of the running event loop; nothing is started."""
    loop = asyncio.get_running_loop()
    found = _LINKS.get(loop)
    if found is None or found.agent_dir != agent_dir:
        found = _LINKS[loop] = Link(agent_dir)
    return found
