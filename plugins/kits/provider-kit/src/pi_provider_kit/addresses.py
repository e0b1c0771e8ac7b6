"""Connects to whichever address of a name answers first (RFC 8305), with any kind of tasks."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from pi_provider_kit.connection import Connection

__all__ = ["addresses_of", "first_connected"]


async def addresses_of(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a host, the second of the other family than the first, if there is one (RFC 8305)."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = {str(address[0]): family for family, _, _, _, address in found}
    first = next(iter(addresses.values()), None)
    other = next((each for each, family in addresses.items() if family != first), None)
    if other is None:
        return [*addresses]
    rest = [each for each in addresses if each != other]
    return [rest[0], other, *rest[1:]]


async def first_connected(attempts: Sequence[Callable[[], Awaitable[Connection]]], delay: float) -> Connection:
    """Return the first connection that is made; the next attempt begins when one fails, or after so many seconds.

    Raises:
        OSError: All attempts failed; that of the first one.
    """
    running: set[asyncio.Future[Connection]] = set()
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
            for connection in made[1:]:
                connection.abort()
            if made:
                return made[0]
        raise failures[0] if failures else OSError("the name has no address")
    finally:
        for each in running:
            each.cancel()
        for late in await asyncio.gather(*running, return_exceptions=True):
            if not isinstance(late, BaseException):
                late.abort()
