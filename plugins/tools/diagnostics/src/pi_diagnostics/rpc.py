"""JSON-RPC over the pipes of a language server: limits of its messages, and the handling of its failures.

The framing is here because the libraries that have it (pygls, lsprotocol) start the program themselves, past the
``Launcher``, and take half a second of the event loop to import.
"""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pi_hookspecs import PiError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_process_kit import Child

__all__ = ["CheckFailure", "Connection"]

MESSAGE_LIMIT = 8 << 20
"""Bytes of one message."""
MESSAGES_LIMIT = 10_000
BYTES_LIMIT = 64 << 20
"""What a server may send, in messages and in bytes, before it is asked the next time."""
_LENGTH = re.compile(rb"^content-length:[ \t]*(\d{1,12})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_METHOD_NOT_FOUND = -32601


class CheckFailure(PiError):
    """A program that looks for errors does not work; the message says why, as the end of a sentence."""


class Connection:
    """Requests and notifications, both ways; use it in one event loop.

    Args:
        child: The server; its standard error must not be a pipe.
        receive: Called with the method and the parameters of each notification.
        answer: Returns the result of a request of the server; raises ``LookupError`` for an unknown method.
    """

    def __init__(self, child: Child, receive: Callable[[str, Any], None], answer: Callable[[str, Any], Any]) -> None:
        self._child = child
        self._receive = receive
        self._answer = answer
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._number = 0
        self._messages = self._bytes = 0
        self.failed: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """Done with the reason when the server has ended or does not speak the protocol."""
        self._reader = asyncio.create_task(self._read())

    async def request(self, method: str, params: Any) -> Any:
        """Return the result of a request.

        Raises:
            CheckFailure: The answer is an error, or the server has failed.
        """
        self._number += 1
        number = self._number
        answered = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            self._send({"id": number, "method": method, "params": params})
            await asyncio.wait({answered, self.failed}, return_when=asyncio.FIRST_COMPLETED)
            if not answered.done():
                raise CheckFailure(self.failed.result())
            return answered.result()
        finally:
            self._waiting.pop(number).cancel()

    def notify(self, method: str, params: Any) -> None:
        """Send a notification, without waiting until the server reads it: one that does not read is ended soon.

        Raises:
            CheckFailure: The server has failed.
        """
        self._send({"method": method, "params": params})

    def allow(self) -> None:
        """Let the server send as much as it may before a pass."""
        self._messages = self._bytes = 0

    async def close(self) -> None:
        """Stop reading; the program is not ended."""
        self._reader.cancel()
        await asyncio.wait({self._reader})

    def _send(self, message: dict[str, Any]) -> None:
        if self.failed.done():
            raise CheckFailure(self.failed.result())
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        try:
            self._child.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        except (OSError, RuntimeError) as error:
            raise CheckFailure("it ended") from error

    async def _read(self) -> None:
        try:
            while True:
                self._take(await self._message())
                await asyncio.sleep(0)  # a server may be faster than pi: other tasks must run, and the deadline
        except CheckFailure as failure:
            reason = str(failure)
        except (asyncio.IncompleteReadError, OSError):
            reason = "it ended"
        except (asyncio.LimitOverrunError, ValueError, TypeError, AttributeError, RecursionError):
            reason = "it wrote something other than messages of the Language Server Protocol"
        if not self.failed.done():
            self.failed.set_result(reason)
        self._child.kill()

    async def _message(self) -> dict[str, Any]:
        """Read a message; other lines before its header, which some servers print, are skipped."""
        header = await self._child.stdout.readuntil(b"\r\n\r\n")
        length = _LENGTH.search(header)
        if length is None:
            raise ValueError("no length")
        size = int(length[1])
        self._messages += 1
        self._bytes += size
        if size > MESSAGE_LIMIT or self._messages > MESSAGES_LIMIT or self._bytes > BYTES_LIMIT:
            raise CheckFailure("it sent more than the limit")
        message = json.loads(await self._child.stdout.readexactly(size))
        if not isinstance(message, dict):
            raise TypeError("no object")
        return message

    def _take(self, message: dict[str, Any]) -> None:
        method, number = message.get("method"), message.get("id")
        if method is None:
            self._settle(number, message)
        elif number is None:
            self._receive(method, message.get("params"))
        else:
            reply: dict[str, Any] = {"id": number}
            try:
                reply["result"] = self._answer(method, message.get("params"))
            except LookupError:
                reply["error"] = {"code": _METHOD_NOT_FOUND, "message": f"pi does not know {method}"}
            with suppress(CheckFailure):  # it ended: the next read reports that
                self._send(reply)

    def _settle(self, number: Any, message: dict[str, Any]) -> None:
        future = self._waiting.get(number) if isinstance(number, int) else None
        if future is None or future.done():
            return
        error = message.get("error")
        if error is None:
            future.set_result(message.get("result"))
        else:
            future.set_exception(CheckFailure(f"it answered with the error {str(error.get('message'))[:200]!r}"))
