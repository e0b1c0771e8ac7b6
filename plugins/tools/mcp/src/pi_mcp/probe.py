"""A session for the subcommand: asks the plugins before starting a server, and makes no model request."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from pi_mcp.hub import Hub

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pi_hookspecs import PiAPI, PiContext

__all__ = ["probe"]


@asynccontextmanager
async def probe(host: Any) -> AsyncIterator[Hub]:
    """Open a hub that connects servers only on request."""
    from pi_core import SessionManager, create_agent_session
    from pi_hookspecs import Model

    hubs: list[Hub] = []

    def factory(pi: PiAPI) -> None:
        async def start(_event: object, ctx: PiContext) -> None:
            hubs.append(Hub(pi, ctx))
            await hubs[0].start(connect=False)

        async def shutdown(_event: object) -> None:
            await hubs[0].end(for_good=True)

        pi.on("session_start", start)
        pi.on("session_shutdown", shutdown)

    session = create_agent_session(
        host=host,
        settings=host.settings,
        model=Model(id="none", name="none", api="none", provider="none", base_url=""),
        session_manager=SessionManager.in_memory(),
        extension_factories=[factory],
        flags={"no-mcp": True},  # the plugin's own hub is not needed
    )
    async with session:
        yield hubs[0]
