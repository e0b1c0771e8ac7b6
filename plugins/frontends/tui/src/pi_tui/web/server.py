"""A server of textual-serve's page, which runs a program in a terminal for each open page, for the user only.

It listens on 127.0.0.1, requires a token, and rejects requests of other sites. textual-serve and aiohttp are an extra.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pi_core import LocalGate
from pi_hookspecs import UserError
from pi_tui.web.page_terminal import page_terminal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from pi_tui.web.page_terminal import PageTerminal

__all__ = ["serve_screen"]

_HOST = "127.0.0.1"

_REFUSED_SECONDS = 1.0
"""Seconds before a request with a wrong token is answered."""

_HEARTBEAT_SECONDS = 15.0
"""Seconds between pings, which detect pages that are gone, so that their programs end."""

_POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; font-src 'self';"
    " img-src 'self' data:; connect-src 'self' ws://{host}; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'"
)
"""textual-serve's page contains inline scripts and styles; nothing is fetched from elsewhere."""


async def serve_screen(command: Sequence[str], port: int, token: str) -> int:
    """Serve until SIGINT or SIGTERM; return the exit code.

    Args:
        command: The program of each page, and its arguments.
        port: The port on 127.0.0.1; 0 for any free port.
        token: The token that a browser has to present.

    Raises:
        UserError: The port cannot be used, or textual-serve is not installed.
    """
    try:
        web, textual_serve = import_module("aiohttp.web"), import_module("textual_serve.server")
    except ImportError as error:
        message = f"pi web needs textual-serve, which is not installed ({error}): pip install 'pluggypi-tui[web]'"
        raise UserError(message) from error
    try:
        listener = socket.create_server((_HOST, port))
    except OSError as error:
        raise UserError(f"Port {port} cannot be used: {error.strerror or error}. Give another one: --port N") from error
    port = listener.getsockname()[1]
    page = textual_serve.Server("pi", host=_HOST, port=port)
    runner = web.AppRunner(_application(web, page, command, LocalGate(token)), access_log=None)
    await runner.setup()
    try:
        await web.SockSite(runner, listener).start()
        sys.stdout.write(f"http://{_HOST}:{port}/?token={token}\n")
        sys.stdout.flush()
        return await _ended()
    finally:
        await runner.cleanup()


async def _ended() -> int:
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[int] = loop.create_future()

    def end(exit_code: int) -> None:
        if not ended.done():
            ended.set_result(exit_code)

    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, end, 128 + each)
    return await ended


def _application(web: Any, page: Any, command: Sequence[str], gate: LocalGate) -> Any:
    """Return the application, which serves the page and its files, and runs a program for each open page.

    Args:
        web: aiohttp's module.
        page: textual-serve's server, which provides the page and its files.
        command: The program.
        gate: Decides which requests are accepted.
    """

    async def run_program(request: Any) -> Any:
        connection = web.WebSocketResponse(heartbeat=_HEARTBEAT_SECONDS)
        await connection.prepare(request)
        size = [_number(request.query.get(name), default) for name, default in (("width", 80), ("height", 24))]
        async with page_terminal(command, *size) as terminal:
            typing = asyncio.create_task(_pass_on(connection, terminal))
            showing = asyncio.create_task(_show(terminal, connection))
            await asyncio.wait((typing, showing), return_when=asyncio.FIRST_COMPLETED)
            for each in (typing, showing):
                each.cancel()
        await connection.close()
        return connection

    application = web.Application(middlewares=[web.middleware(_guard(web, gate))])
    templates = import_module("jinja2").FileSystemLoader(page.templates_path)
    import_module("aiohttp_jinja2").setup(application, loader=templates)
    application.add_routes(
        [
            web.get("/", page.handle_index, name="index"),
            web.get("/ws", run_program, name="websocket"),
            web.static("/static", page.statics_path, name="static"),
        ]
    )
    return application


def _guard(web: Any, gate: LocalGate) -> Callable[[Any, Callable[[Any], Awaitable[Any]]], Awaitable[Any]]:
    async def guarded(request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        foreign = gate.foreign(request.headers)
        if foreign is not None:
            raise web.HTTPForbidden(text=foreign)
        given = request.query.get("token", "")
        if not gate.knows(request.headers, given):
            await asyncio.sleep(_REFUSED_SECONDS)
            raise web.HTTPUnauthorized(text="The token is missing or wrong. Open the address that pi web printed\n")
        if given:
            raise web.HTTPSeeOther("/", headers={"Set-Cookie": gate.cookie(request.headers)})
        response = await handler(request)
        if not response.prepared:
            response.headers["Content-Security-Policy"] = _POLICY.format(host=request.host)
            response.headers["Referrer-Policy"] = "no-referrer"
        return response

    return guarded


async def _show(terminal: PageTerminal, connection: Any) -> None:
    with suppress(ConnectionError):
        async for data in terminal.output():
            await connection.send_bytes(data)


async def _pass_on(connection: Any, terminal: PageTerminal) -> None:
    """Handle the messages of the page until it is closed."""
    async for message in connection:
        with suppress(ValueError, TypeError, LookupError):  # a message that textual-serve's page does not send
            kind, data = message.json()
            if kind == "stdin":
                await terminal.type(str(data))
            elif kind == "resize":
                terminal.resize(data["width"], data["height"])
            elif kind == "ping":
                await connection.send_json(["pong", data])


def _number(text: str | None, default: int) -> int:
    return int(text) if text is not None and text.isdecimal() else default
