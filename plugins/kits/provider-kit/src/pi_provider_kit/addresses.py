"""Connects to whichever address of a name answers first (RFC 8305), and leaves no other connection open.

asyncio's own race between addresses may leave open a connection that is made at the moment of an abort, and it fails in
several versions of Python with tasks that start at once, which Textual makes the loop use.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    Address: TypeAlias = tuple[socket.AddressFamily, tuple[Any, ...]]
    """A family, and an address of it as sockets take them: host and port, and for IPv6 flow and scope."""

__all__ = ["addresses_of", "connected_socket", "first_connected"]

_HAPPY_EYEBALLS = 0.25
"""Seconds before the next address of a name is tried as well."""


async def connected_socket(host: str, port: int) -> socket.socket:
    """Return a socket that is connected to the first address of a host that answers.

    Raises:
        OSError: No address answers, or the name has none.
    """
    addresses = await addresses_of(host, port)
    return await first_connected([partial(_connected, *each) for each in addresses], _HAPPY_EYEBALLS)


async def addresses_of(host: str, port: int) -> Sequence[Address]:
    """Return the addresses of a host, the second of the other family than the first, if there is one (RFC 8305).

    A host that is an address is not looked up.
    """
    for family in (socket.AF_INET, socket.AF_INET6):
        with suppress(OSError):
            socket.inet_pton(family, host.partition("%")[0])
            return [(family, (host, port))]
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses: list[Address] = list(dict.fromkeys((family, address) for family, _, _, _, address in found))
    other = next((each for each in addresses if each[0] != addresses[0][0]), None)
    if other is None:
        return addresses
    rest = [each for each in addresses if each != other]
    return [rest[0], other, *rest[1:]]


async def _connected(family: socket.AddressFamily, address: tuple[Any, ...]) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        made.settimeout(0)
        await asyncio.get_running_loop().sock_connect(made, address)
    except BaseException:
        made.close()
        raise
    return made


async def first_connected(attempts: Sequence[Callable[[], Awaitable[socket.socket]]], delay: float) -> socket.socket:
    """Return the first socket that is connected; the next attempt begins when one fails, or after so many seconds.

    Sockets that other attempts still connect are closed, also after a cancellation.

    Raises:
        OSError: All attempts failed; that of the first one.
    """
    running: set[asyncio.Future[socket.socket]] = set()
    failures: list[BaseException] = []
    waiting = list(attempts)
    try:
        while waiting or running:
            if waiting:
                running.add(asyncio.ensure_future(waiting.pop(0)()))
            done, running = await asyncio.wait(
                running, timeout=delay if waiting else None, return_when=asyncio.FIRST_COMPLETED
            )
            made = [each.result() for each in done if each.exception() is None]
            failures += [failure for each in done if (failure := each.exception()) is not None]
            for late in made[1:]:
                late.close()
            if made:
                return made[0]
        raise failures[0] if failures else OSError("the name has no address")
    finally:
        # Nothing is awaited here: a cancellation would lose the socket.
        for each in running:
            each.add_done_callback(_close_late)
            each.cancel()


def _close_late(attempt: asyncio.Future[socket.socket]) -> None:
    if not attempt.cancelled() and attempt.exception() is None:
        attempt.result().close()
