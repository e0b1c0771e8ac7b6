"""One connection: opened and closed by a separate task, because the SDK's scopes belong to a task."""

from __future__ import annotations

import asyncio
import logging
import re
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import httpx2
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import REQUEST_TIMEOUT, Implementation

from pi_mcp.sidecar.asks import Asks
from pi_mcp.sidecar.checked import Trouble
from pi_mcp.sidecar.log import REDACTED

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

__all__ = ["Connection", "Lost", "reason_of"]

_CHANGES_EVERY = 1.0
"""Minimum seconds between two notices of changed lists, after a first one that is reported at once."""
_READ_TIMEOUT = 30.0
_SETTLE_SECONDS = 0.1
"""How long a program may take to answer the ping after a call; one that does not is asked no more."""
_TAIL_LINES = 12
_ERROR = re.compile(r"error\b", re.IGNORECASE)


class Lost(Exception):
    """The connection was lost or never opened; the message says why."""


class Connection:
    """A connection to a server.

    Args:
        spec: pi's description of the server: ``name``, ``transport``, ``spawn`` or ``url`` and ``headers``, ``oauth``,
            ``roots``, ``ui``, ``sampling``, ``secrets``, ``mostTools``, ``toolsOff``.
        ask: Asks the user through pi.
        send: Sends a line to pi.
    """

    def __init__(
        self,
        spec: dict[str, Any],
        ask: Callable[[dict[str, Any]], Awaitable[Any]],
        send: Callable[[dict[str, Any]], None],
    ) -> None:
        REDACTED.add(spec.get("secrets") or [])
        self.key = spec["server"]
        self._spec = spec
        self._send = send
        self._ask = ask
        self._asks = Asks(spec, ask)
        self.trouble = Trouble()
        self._closing = False
        self._stdio: Any = None
        self._ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._run())
        self._changed, self._last_change = False, -_CHANGES_EVERY
        self._settles = spec["transport"] == "stdio"
        self._side: set[asyncio.Task[None]] = set()

    async def client(self) -> Client:
        """Return the SDK's client once it is connected.

        Raises:
            Lost: It cannot be connected, or is no longer connected.
        """
        client = await asyncio.shield(self._ready)
        if self.trouble.ended.is_set():
            raise Lost(self.trouble.reason)
        return client

    async def close(self) -> None:
        """End the connection, and the server if it is a program."""
        self._closing = True
        self.trouble.happened("it was closed")
        if not self._ready.done():
            self._task.cancel()
        await asyncio.wait({self._task}, timeout=10)

    def about(self, client: Client) -> dict[str, Any]:
        """Return the server's description."""
        info = client.server_info
        return {
            "protocol": client.protocol_version,
            "server": f"{info.name} {info.version}".strip() if info else "",
            "instructions": client.instructions or "",
            "capabilities": client.server_capabilities.model_dump(by_alias=True, mode="json", exclude_none=True),
        }

    async def settle(self, client: Client) -> None:
        """Report the change of lists that a call has caused, before the call's result.

        A server may announce it right after the result, and the next turn begins with that: what a program has
        written before it answers a ping has been read by then.
        """
        tools = client.server_capabilities.tools
        if not self._settles or tools is None or not tools.list_changed:
            return
        try:
            async with asyncio.timeout(_SETTLE_SECONDS):
                await client.session.send_ping()
        except TimeoutError:
            self._settles = False
        except Exception:  # noqa: BLE001, S110 - an unknown ping was read all the same, and the result is what counts
            pass
        if self._changed:
            self._report_change()

    def used_tools(self, tools: list[dict[str, Any]]) -> dict[str, Any]:
        """Return ``tools``, those of a server's list that pi uses, and ``left_out``, how many are beyond the limit."""
        off, most = self._spec.get("toolsOff") or (), self._spec.get("mostTools") or len(tools)
        on = [each for each in tools if each["name"] not in off]
        return {"tools": on[:most], "left_out": len(on[most:])}

    @property
    def tail(self) -> str:
        """The last lines that the server printed to standard error, and above them its error, if it came earlier."""
        raw = bytes(self._stdio.tail) if self._stdio is not None else b""
        every = raw.decode("utf-8", "replace").splitlines()
        earlier, lines = every[:-_TAIL_LINES], every[-_TAIL_LINES:]
        if not any(map(_ERROR.search, lines)):  # a trace of Node.js is longer than that
            lines = [*[line for line in earlier if _ERROR.search(line)][-1:], *lines]
        return REDACTED.clean("\n".join(line[:500] for line in lines))

    async def _run(self) -> None:
        try:
            async with AsyncExitStack() as stack:
                client = await stack.enter_async_context(self._client())
                self._ready.set_result(client)
                listening = asyncio.create_task(self._listen(client))
                self._side.add(listening)
                await self.trouble.ended.wait()
                for task in self._side:
                    task.cancel()
        except asyncio.CancelledError:
            self.trouble.happened("it was closed")
        except BaseException as error:  # noqa: BLE001 - whatever the SDK raises is the reason of the end
            self.trouble.happened(reason_of(error))
        finally:
            if not self._ready.done():
                self._ready.set_exception(Lost(self.trouble.reason))
                self._ready.exception()  # a request that is not there any more need not see it
            elif not self._closing:
                self._send({"closed": self.key, "reason": self.trouble.reason, "tail": self.tail})

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[Client]:
        async with self._transport() as streams:
            client = Client(
                _Given(streams),
                client_info=Implementation(name="pi", version=version("pluggypi-mcp")),
                message_handler=self._on_message,
                logging_callback=self._on_log,
                read_timeout_seconds=_READ_TIMEOUT,
                cache=None,
                **self._asks.callbacks(),
            )
            try:
                async with client:
                    yield client
            except Exception as error:
                first = _first(error)
                if isinstance(first, MCPError) and first.code == REQUEST_TIMEOUT:  # before the server is ended for it
                    self.trouble.happened(f"it did not answer: {reason_of(first)}")
                raise

    @asynccontextmanager
    async def _transport(self) -> AsyncIterator[Any]:
        if self._spec["transport"] == "stdio":
            from pi_mcp.sidecar.stdio import StdioServer

            self._stdio = StdioServer(self._spec["name"], self._spec["spawn"], self.trouble)
            async with self._stdio.transport() as streams:
                yield streams
            return
        from pi_mcp.sidecar.http_transport import http_transport

        async with http_transport(self._spec, self._ask, self.trouble) as streams:
            yield streams

    async def _on_log(self, params: Any) -> None:
        logging.getLogger(f"server.{self._spec['name']}").info("%s: %.2000r", params.level, params.data)

    async def _on_message(self, message: Any) -> None:
        if isinstance(message, Exception):
            logging.getLogger(f"server.{self._spec['name']}").warning("%.2000s", message)
        elif str(getattr(message, "method", "")).endswith("list_changed"):
            self._note_change()

    def _note_change(self) -> None:
        """Report a change to pi, at most once a second: a server may send such notices endlessly."""
        if not self._changed:
            self._changed = True
            loop = asyncio.get_running_loop()
            loop.call_at(max(loop.time(), self._last_change + _CHANGES_EVERY), self._report_change)

    def _report_change(self) -> None:
        if not self._changed:
            return  # a call has reported it
        self._changed, self._last_change = False, asyncio.get_running_loop().time()
        if not self.trouble.ended.is_set():
            self._send({"changed": self.key})

    async def _listen(self, client: Client) -> None:
        """Wait for changes from a server with the newer protocol, which sends them on a separate stream."""
        with suppress(Exception):  # an older server, or one that has no such stream
            async with client.listen(tools_list_changed=True, prompts_list_changed=True) as changes:
                async for _ in changes:
                    self._note_change()


class _Given:
    """A transport over streams that are already open."""

    def __init__(self, streams: Any) -> None:
        self._streams = streams

    async def __aenter__(self) -> Any:
        return self._streams

    async def __aexit__(self, *_: object) -> None:
        return None


def reason_of(error: BaseException) -> str:
    """Describe an error in a sentence without secrets; for a group, the first error."""
    error = _first(error)
    response = getattr(error, "response", None)
    if response is not None:
        return f"{_place_of(response.request)} answered {response.status_code}"
    reason = REDACTED.clean(str(error).splitlines()[0] if str(error) else type(error).__name__)[:2000]
    if isinstance(error, httpx2.ConnectError):
        return f"{_place_of(error.request)} cannot be reached: {reason}"
    return reason


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _place_of(request: httpx2.Request) -> str:
    """Return a request's target without the parts of its URL that contain passwords and tokens."""
    return REDACTED.clean(str(request.url.copy_with(userinfo=b"", query=None, fragment=None)))
