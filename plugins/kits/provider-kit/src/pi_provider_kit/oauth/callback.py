"""The redirect target of a login: a server on 127.0.0.1 that takes one callback and stops with the login."""

from __future__ import annotations

import asyncio
import html
import os
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple, Self

from pi_provider_kit.oauth.pasted import denied, same_state

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

__all__ = ["CallbackServer"]

_REQUEST_SECONDS = 10.0
"""Seconds for a browser to send its request; some open connections that they never use."""

_PAGE = """\
<!doctype html><html lang="en"><head><meta charset="utf-8"><title>pi: {title}</title></head>
<body style="font-family: system-ui, sans-serif; margin: 4em auto; max-width: 36em">
<h1>{title}</h1><p>{text}</p></body></html>
"""


class _Page(NamedTuple):
    """The page for the browser, and the result of the login: a code, an error, or None so far."""

    status: HTTPStatus
    title: str
    text: str
    outcome: str | Exception | None = None


class CallbackServer:
    """Listens for the browser inside its ``async with``. If it cannot listen, ``problem`` has the reason.

    Args:
        provider: Provider of the login, for messages.
        port: Port to listen on; 0 is any free port.
        path: Path of the redirect URI.
        state: The ``state`` of the request; a callback without it is rejected, and waiting continues.
        on_stray: Called once with a notice for the user about such a callback: any open page may send more of them.

    Attributes:
        problem: Why it is not listening, as a line for the user; None while it is.
    """

    def __init__(
        self, provider: str, port: int, path: str, state: str, on_stray: Callable[[str], object] | None = None
    ) -> None:
        self.problem: str | None = None
        self._provider = provider
        self._port = port
        self._path = path
        self._state = state
        self._on_stray = on_stray
        self._listening: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def redirect_uri(self) -> str:
        """The redirect URI for the authorization request."""
        return f"http://localhost:{self._port}{self._path}"

    async def code(self) -> str:
        """Return the code from the callback.

        Raises:
            UserError: The user did not give consent, or the server refused.
        """
        return await asyncio.shield(self._code)

    async def __aenter__(self) -> Self:
        self._code: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        try:
            self._listening = await asyncio.start_server(self._serve, "127.0.0.1", self._port)
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else str(error)
            self.problem = (
                f"Port {self._port} on this computer cannot be used ({reason}): the browser cannot return to pi by "
                f"itself. Paste the code, or the address at which the browser ends up."
            )
        else:
            self._port = self._listening.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._listening is not None:
            self._listening.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        if self._code.done() and not self._code.cancelled():
            self._code.exception()  # it may have arrived after the code was pasted; retrieve it to avoid a warning
        self._code.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._connections.add(task)
            task.add_done_callback(self._connections.discard)
        try:
            with suppress(TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
                async with asyncio.timeout(_REQUEST_SECONDS):
                    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                    page = self._answer(head.partition("\r\n")[0].split(" "))
                    writer.write(_response(page))
                    await writer.drain()
                    _settle(self._code, page.outcome)
        finally:
            writer.close()

    def _answer(self, request: list[str]) -> _Page:
        from urllib.parse import parse_qs, urlsplit

        method, target = (*request, "", "")[:2]
        if method != "GET":
            return _Page(
                HTTPStatus.METHOD_NOT_ALLOWED,
                "Not allowed",
                "This page is only for a browser that returns from a sign-in.",
            )
        try:
            parts = urlsplit(target)
        except ValueError:
            return _Page(HTTPStatus.BAD_REQUEST, "Not understood", "This address cannot be read.")
        if parts.path != self._path:
            return _Page(
                HTTPStatus.NOT_FOUND, "Not here", "pi is waiting for a login at another address of this server."
            )
        return self._outcome({name: many[0] for name, many in parse_qs(parts.query).items()})

    def _outcome(self, values: dict[str, str]) -> _Page:
        if not same_state(values.get("state", ""), self._state):
            return self._stray()
        if "error" in values:
            failure = denied(self._provider, values["error"], values.get("error_description", ""))
            return _Page(HTTPStatus.OK, "Not signed in", f"{failure} You can close this window.", failure)
        if not values.get("code"):
            return _Page(HTTPStatus.BAD_REQUEST, "Not signed in", "There is no code in this address.")
        text = "pi has what it needs. You can close this window and go back to pi."
        return _Page(HTTPStatus.OK, "Signed in", text, values["code"])

    def _stray(self) -> _Page:
        text = "This page belongs to another login (wrong state). Use the page that pi opened last."
        tell, self._on_stray = self._on_stray, None
        if tell is not None:
            tell(
                "The browser returned with the answer to another login (wrong state): it was refused, and pi is "
                f"still waiting. Use the page shown above, or run pi auth login {self._provider} again."
            )
        return _Page(HTTPStatus.BAD_REQUEST, "Not signed in", text)


def _settle(code: asyncio.Future[str], outcome: str | Exception | None) -> None:
    """Set the result, once the browser has its page; only the first one is used."""
    if code.done() or outcome is None:
        return
    if isinstance(outcome, str):
        code.set_result(outcome)
    else:
        code.set_exception(outcome)


def _response(page: _Page) -> bytes:
    body = _PAGE.format(title=html.escape(page.title), text=html.escape(page.text)).encode()
    head = (
        f"HTTP/1.1 {page.status.value} {page.status.phrase}\r\ncontent-type: text/html; charset=utf-8\r\n"
        f"content-length: {len(body)}\r\ncache-control: no-store\r\nreferrer-policy: no-referrer\r\n"
        "content-security-policy: default-src 'none'; style-src 'unsafe-inline'\r\nconnection: close\r\n\r\n"
    )
    return head.encode("latin-1") + body
