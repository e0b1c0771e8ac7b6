"""The HTTP of one provider: connections per event loop, made with the first request and closed with the loop."""

from __future__ import annotations

import asyncio
import sys
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from ssl import SSLContext
    from types import ModuleType

    import httpx

    from pi_provider_kit.direct import Direct

__all__ = ["Http", "import_httpx", "tls_context", "user_agent"]

_VERSION = "1.1.0"


def import_httpx() -> ModuleType:
    """Import httpx without its optional command line, which would bring click, rich and pygments (50 to 100 ms).

    httpx itself treats the absence of that module as "not installed". The blocking entry is removed immediately,
    so that other code can still import httpx's command line.
    """
    if "httpx" in sys.modules:
        return sys.modules["httpx"]
    blocked = "httpx._main"
    sys.modules[blocked] = None  # type: ignore[assignment] # makes the import fail
    try:
        import httpx
    finally:
        if sys.modules.get(blocked, httpx) is None:
            del sys.modules[blocked]
    return httpx


def tls_context(client: ModuleType) -> SSLContext:
    """Return the TLS context for a vendor's client, the same one each time: reading the certificates takes some 30 ms.

    Args:
        client: httpx, or the fork of it that the vendor's client is built on.
    """
    from pi_provider_kit.certificates import variables

    return _tls_context(client, variables())


@cache
def _tls_context(client: ModuleType, _variables: tuple[str | None, ...]) -> SSLContext:
    from pi_provider_kit.certificates import extra_problem, trusting_context

    trusting_context()  # whose error names the variable that is wrong
    context: SSLContext = client.create_ssl_context()
    extra_problem(context)
    return context


def user_agent() -> str:
    """Return the user agent of requests: ``pi/<version> (platform; runtime; arch)``."""
    import platform

    python = ".".join(map(str, sys.version_info[:3]))
    return f"pi/{_VERSION} ({sys.platform}; python/{python}; {platform.machine()})"


class Http:
    """The HTTP client of a provider. Costs nothing until the first request.

    Connections are kept between requests. They are closed when the event loop shuts down (``asyncio.run`` does that),
    or by ``aclose``.

    Args:
        make_transport: Makes the transport of a loop; for tests (``httpx.MockTransport``) and unusual networks.
        user_agent: Instead of pi's own.
    """

    def __init__(
        self,
        make_transport: Callable[[], httpx.AsyncBaseTransport] | None = None,
        *,
        user_agent: str | None = None,
    ) -> None:
        self._make = make_transport
        self._user_agent = user_agent
        self._open: dict[asyncio.AbstractEventLoop, tuple[_Network, AsyncGenerator[None]]] = {}

    @property
    def user_agent(self) -> str:
        """The default ``user-agent`` of requests."""
        if self._user_agent is None:
            self._user_agent = user_agent()
        return self._user_agent

    async def transport(self) -> httpx.AsyncBaseTransport:
        """Return the running loop's transport; an ``httpx.AsyncClient`` takes it as ``transport=``."""
        import_httpx()
        return (await self._network()).transport()

    async def direct(self, url: str) -> Direct | None:
        """Return what makes requests without httpx; None if a request to this URL goes through ``transport``."""
        if self._make is not None:
            return None
        direct = (await self._network()).direct
        return direct if direct is not None and direct.can_reach(url) else None

    async def _network(self) -> _Network:
        loop = asyncio.get_running_loop()
        found = self._open.get(loop)
        if found is not None:
            return found[0]
        for other in [other for other in self._open if other.is_closed()]:
            del self._open[other]  # it was closed without a shutdown, which closed its sockets
        network = _Network(self._make)
        keeper = _until_the_loop_ends(network)
        self._open[loop] = (network, keeper)
        await anext(keeper)
        return network

    async def aclose(self) -> None:
        """Close the running loop's connections."""
        found = self._open.pop(asyncio.get_running_loop(), None)
        if found is not None:
            await found[1].aclose()


class _Network:
    """The connections of one event loop, and what makes requests over them."""

    def __init__(self, make: Callable[[], httpx.AsyncBaseTransport] | None) -> None:
        self._make = make
        self._transport: httpx.AsyncBaseTransport | None = None
        self.direct: Direct | None = None
        if make is None:
            from pi_provider_kit.direct import Direct
            from pi_provider_kit.pool import Pool
            from pi_provider_kit.proxies import Proxies

            self.direct = Direct(Pool(), Proxies.from_environment())

    def transport(self) -> httpx.AsyncBaseTransport:
        if self._transport is None:
            self._transport = self._make() if self._make is not None else self._own()
        return self._transport

    async def aclose(self) -> None:
        if self._transport is not None:
            await self._transport.aclose()
        if self.direct is not None:
            await self.direct.pool.aclose()

    def _own(self) -> httpx.AsyncBaseTransport:
        from pi_provider_kit.transport import Transport

        assert self.direct is not None  # noqa: S101 - where nothing else makes the transport
        return Transport(self.direct.proxies, self.direct.pool)


async def _until_the_loop_ends(network: _Network) -> AsyncGenerator[None]:
    """Close the connections when the loop shuts its asynchronous generators down; there is no other such notice."""
    try:
        yield
    finally:
        await network.aclose()
