"""A reload: local extensions read again, every plugin activated again, with the old ones running until that works."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pi_hookspecs  # as in compaction.py
from pi_core.conversation.resources import reload_resources
from pi_core.plugin_api.context import PluginContext
from pi_core.plugin_api.handles import RELOADED
from pi_hookspecs import PiError, UserError

if TYPE_CHECKING:
    from pi_core.conversation.session import AgentSession

__all__ = ["Reloading"]

BUSY_SECONDS = 0.2
"""How often to look whether the session is idle, once a file has changed."""


class Reloading:
    """Reloads one session.

    Args:
        session: Which one.
    """

    def __init__(self, session: AgentSession) -> None:
        self._session = session
        self._one_at_a_time = asyncio.Lock()
        self._watching: asyncio.Task[None] | None = None
        self._reloading: asyncio.Task[object] | None = None

    async def reload(self) -> None:
        """See ``AgentSession.reload``."""
        self._check_idle()
        await self._session.start()
        async with self._one_at_a_time:
            self._check_idle()
            self._reloading = asyncio.current_task()
            try:
                await self._reload()
            finally:
                self._reloading = None

    def watch(self) -> None:
        """Reload whenever a file of a local extension has changed, as soon as nothing else goes on."""
        if self._watching is None:
            self._watching = asyncio.get_running_loop().create_task(self._watch())

    @property
    def is_going_on(self) -> bool:
        """Whether plugins are being loaded again."""
        return self._one_at_a_time.locked()

    async def finished(self) -> None:
        """Return when no reload is going on; at once for what is part of one."""
        if self._reloading is not asyncio.current_task():
            async with self._one_at_a_time:
                return

    def end(self) -> None:
        """Stop watching."""
        if self._watching is not None:
            self._watching.cancel()

    async def _reload(self) -> None:
        session, extensions = self._session, self._session.host.extensions
        staged = None
        if extensions is not None:
            session.settings.reload()  # they may name other extensions
            if session.settings is not session.host.settings:
                session.host.settings.reload()
            staged = await extensions.stage()
        if session.hooks.listens("session_shutdown"):
            await session.hooks.notify(pi_hookspecs.SessionShutdownEvent(reason="reload"), session.ctx)
        session.parts.activations.end(RELOADED)
        session.handles.retire(RELOADED)
        session.ctx = session.bridge.ctx = PluginContext(session)
        if staged is not None:
            for plugin, problem in staged.commit():
                session.complain(plugin, "reload", problem)
        session.hooks.compile(afresh=True)
        self._activate(staged.replaced if staged is not None else {})
        session.use_tools()
        await reload_resources(session)
        if session.hooks.listens("session_start"):
            await session.hooks.notify(pi_hookspecs.SessionStartEvent(reason="reload"), session.ctx)

    def _activate(self, replaced: dict[str, object]) -> None:
        """Activate all plugins; where a new version cannot be, the one before comes back."""
        session = self._session
        for plugin, activate in session.host.activations():
            problem = session.parts.activations.activate(plugin, activate)
            if problem is None or plugin not in replaced:
                continue
            session.parts.activations.end(RELOADED, plugin)
            session.host.replace(plugin, replaced[plugin])
            session.hooks.compile()
            before = dict(session.host.activations()).get(plugin)
            if before is not None:
                session.parts.activations.activate(plugin, before)
            session.complain(plugin, "reload", "the version before goes on")

    def _check_idle(self) -> None:
        if self._session.is_streaming:
            raise UserError("Wait for the current response to finish before reloading.")
        if self._session.is_compacting:
            raise UserError("Wait for compaction to finish before reloading.")

    async def _watch(self) -> None:
        from pi_core.host.extensions.watching import changes

        extensions = self._session.host.extensions
        if extensions is None:
            return
        async for _ in changes(extensions):
            while self._session.is_streaming or self._session.is_compacting:  # noqa: ASYNC110 - two ends, one look
                await asyncio.sleep(BUSY_SECONDS)
            try:
                await self.reload()
            except PiError as error:
                self._session.complain("(extensions)", "reload", str(error))
