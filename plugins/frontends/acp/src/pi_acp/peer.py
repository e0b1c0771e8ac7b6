"""JSON-RPC 2.0 over lines, in both directions: answers the client's requests, and sends requests.

Requests run concurrently and start in order of arrival.
"""

from __future__ import annotations

import asyncio
import json
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

from pi_client.framing import MAX_LINE
from pi_core import dumps, error_sentence

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from pi_client.lines import LineWriter

__all__ = ["AUTH_REQUIRED", "INVALID_PARAMS", "NOT_FOUND", "Handlers", "Peer", "RpcError"]

_PARSE_ERROR = -32700
_INVALID_REQUEST = -32600
_METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
_INTERNAL_ERROR = -32603
AUTH_REQUIRED = -32000
NOT_FOUND = -32002
_CANCELLED = -32800

_CANCEL = "$/cancel_request"

Handlers: TypeAlias = "Mapping[str, Callable[[dict[str, Any]], Awaitable[Any]]]"
"""Handlers by method: each gets the parameters and returns the result."""


class RpcError(Exception):
    """A JSON-RPC error, sent to or received from the client."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Peer:
    """The other end of a connection.

    Args:
        writer: The output for messages.
    """

    def __init__(self, writer: LineWriter) -> None:
        self.writer = writer
        self._requests: Handlers = {}
        self._notifications: Handlers = {}
        self._ids = count(1)
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._at_work: dict[asyncio.Task[None], Any] = {}
        self._stopped = False

    def serve(self, requests: Handlers, notifications: Handlers) -> None:
        """Set the handlers."""
        self._requests, self._notifications = requests, notifications

    # Out

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    def post(self, method: str, params: dict[str, Any]) -> None:
        """Send a request and ignore its result."""
        self._send({"id": next(self._ids), "method": method, "params": params})

    async def request(self, method: str, params: dict[str, Any]) -> Any:
        """Send a request and return its result; cancelling the waiting task cancels the request, too.

        Raises:
            RpcError: The client answered with an error, or the connection ended.
        """
        if self._stopped:
            raise RpcError(_INTERNAL_ERROR, "The connection has ended")
        request_id = next(self._ids)
        answer = self._asked[request_id] = asyncio.get_running_loop().create_future()
        self._send({"id": request_id, "method": method, "params": params})
        try:
            return await answer
        except asyncio.CancelledError:
            if not self._stopped:
                self.notify(_CANCEL, {"requestId": request_id})
            raise
        finally:
            del self._asked[request_id]

    async def stop(self) -> None:
        """Stop answering: pending requests of both sides fail."""
        self._stopped = True
        for answer in self._asked.values():
            if not answer.done():
                answer.set_exception(RpcError(_INTERNAL_ERROR, "The connection has ended"))
        for task in self._at_work:
            task.cancel()
        if self._at_work:
            await asyncio.wait(self._at_work, timeout=0.5)

    def _send(self, message: dict[str, Any]) -> None:
        self.writer.write(dumps({"jsonrpc": "2.0", **message}))

    def _refuse(self, request_id: Any, code: int, message: str) -> None:
        self._send({"id": request_id, "error": {"code": code, "message": message}})

    # In

    def on_lines(self, lines: Sequence[bytes | None]) -> None:
        """Handle lines from the client; None stands for one that was too long."""
        for line in lines:
            if line is None:
                self._refuse(
                    None, _PARSE_ERROR, f"Parse error: the line is longer than {MAX_LINE} bytes, or no memory is left"
                )
            elif line.strip():
                self._on_line(line)

    def _on_line(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError) as error:
            self._refuse(None, _PARSE_ERROR, f"Parse error: {error}")
            return
        if not isinstance(message, dict):
            self._refuse(None, _INVALID_REQUEST, "Invalid request: a message is an object; there are no batches")
        elif isinstance(message.get("method"), str):
            self._on_call(message)
        elif "id" in message and ("result" in message or "error" in message):
            self._on_answer(message)
        else:
            self._refuse(message.get("id"), _INVALID_REQUEST, "Invalid request: there is no method")

    def _on_call(self, message: dict[str, Any]) -> None:
        params = message.get("params")
        params = {} if params is None else params
        is_request, method = "id" in message, message["method"]
        if method == _CANCEL and isinstance(params, dict):
            for task, request_id in self._at_work.items():
                if request_id is not None and request_id == params.get("requestId"):
                    task.cancel()
            return
        handler = (self._requests if is_request else self._notifications).get(method)
        if handler is None:
            if is_request:
                self._refuse(message["id"], _METHOD_NOT_FOUND, f"Method not found: {method}")
            return
        if not isinstance(params, dict):
            if is_request:
                self._refuse(message["id"], INVALID_PARAMS, "Invalid params: they must be an object")
            return
        work = self._answer(message["id"], handler, params) if is_request else self._carry_out(handler, params)
        task = asyncio.create_task(work)
        self._at_work[task] = message.get("id")
        task.add_done_callback(self._at_work.pop)

    async def _answer(
        self, request_id: Any, handler: Callable[[dict[str, Any]], Awaitable[Any]], params: dict[str, Any]
    ) -> None:
        try:
            result = await handler(params)
        except RpcError as error:
            self._refuse(request_id, error.code, str(error))
        except asyncio.CancelledError:
            self._refuse(request_id, _CANCELLED, "Request cancelled")
            raise
        except Exception as error:  # noqa: BLE001 - a request that fails is answered, and the next ones are served
            self._refuse(request_id, _INTERNAL_ERROR, error_sentence(error))
        else:
            self._send({"id": request_id, "result": result})

    async def _carry_out(self, handler: Callable[[dict[str, Any]], Awaitable[Any]], params: dict[str, Any]) -> None:
        try:
            await handler(params)
        except RpcError:
            return  # a notification has no answer

    def _on_answer(self, message: dict[str, Any]) -> None:
        answer = self._asked.get(message["id"]) if isinstance(message["id"], int) else None
        if answer is None or answer.done():
            return
        error = message.get("error")
        if error is None:
            answer.set_result(message.get("result"))
        else:
            given = error if isinstance(error, dict) else {}
            code = given.get("code")
            text = str(given.get("message", error))
            answer.set_exception(RpcError(code if isinstance(code, int) else _INTERNAL_ERROR, text))
