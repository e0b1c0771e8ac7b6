"""Reloads local extensions and activates all plugins again; old versions keep running until that succeeds."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pi_hookspecs  # as in compaction.py
from pi_core.conversation.handles import RELOADED
from pi_core.conversation.resources import reload_resources
from pi_hookspecs import PiError, UserError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pi_core.conversation.activations import Activations
    from pi_core.conversation.runtime import Runtime

__all__ = ["Reloader"]

BUSY_SECONDS = 0.2
"""Seconds between checks of whether the session is idle, after a file has changed."""


class Reloader:
    """Reloads the plugins of one session.

    Args:
        runtime: The objects that all parts share.
        start: Starts the session.
        is_compacting: Whether a compaction is running.
        activations: The ``pi`` objects of plugins.
        offer_tools: Makes the next request offer the currently active tools.
    """

    def __init__(
        self,
        runtime: Runtime,
        *,
        start: Callable[[], Awaitable[None]],
        is_compacting: Callable[[], bool],
        activations: Activations,
        offer_tools: Callable[[], None],
    ) -> None:
        self._runtime = runtime
        self._start = start
        self._is_compacting = is_compacting
        self._activations = activations
        self._offer_tools = offer_tools
        self._one_at_a_time = asyncio.Lock()
        self._watching: asyncio.Task[None] | None = None
        self._reloading: asyncio.Task[object] | None = None

    async def reload(self) -> None:
        """Reload local extensions, settings and resources; see ``AgentSession.reload``."""
        self._check_idle()
        await self._start()
        async with self._one_at_a_time:
            self._check_idle()
            self._reloading = asyncio.current_task()
            try:
                await self._reload()
            finally:
                self._reloading = None

    def watch(self) -> None:
        """Reload after each change to a file of a local extension, as soon as the session is idle."""
        if self._watching is None:
            self._watching = asyncio.get_running_loop().create_task(self._watch())

    @property
    def is_going_on(self) -> bool:
        """Whether a reload is in progress."""
        return self._one_at_a_time.locked()

    async def finished(self) -> None:
        """Return when no reload is in progress; return at once if the caller is part of a reload."""
        if self._reloading is not asyncio.current_task():
            async with self._one_at_a_time:
                return

    def end(self) -> None:
        """Stop watching."""
        if self._watching is not None:
            self._watching.cancel()

    async def _reload(self) -> None:
        runtime, extensions = self._runtime, self._runtime.host.extensions
        staged = None
        if runtime.host.joins_packages:
            self._join_packages()
        if extensions is not None:
            runtime.settings.reload()  # the settings may name other extensions
            if runtime.settings is not runtime.host.settings:
                runtime.host.settings.reload()
            staged = await extensions.stage()
        if runtime.hooks.listens("session_shutdown"):
            await runtime.hooks.notify(pi_hookspecs.SessionShutdownEvent(reason="reload"), runtime.ctx)
        self._activations.end(RELOADED)
        runtime.plugins.renew(RELOADED)
        if staged is not None:
            for plugin, problem in staged.commit():
                runtime.report_plugin_error(plugin, "reload", problem)
        runtime.host.load_listeners(runtime.cwd, runtime.settings, runtime.front_end.flags)
        runtime.hooks.compile(afresh=True)
        self._activate(staged.replaced if staged is not None else {})
        self._offer_tools()
        await reload_resources(runtime)
        await runtime.announce("session_start", lambda: pi_hookspecs.SessionStartEvent(reason="reload"))

    def _join_packages(self) -> None:
        """Use plugins that were installed since the start, for example by ``pi install`` in another terminal."""
        from importlib import invalidate_caches

        from pi_core.host.overlay import join_more

        runtime = self._runtime
        invalidate_caches()
        if join_more(runtime.settings, runtime.cwd):
            known = len(runtime.host.problems)
            runtime.host.find_more()
            for problem in runtime.host.problems[known:]:
                runtime.report_plugin_error(problem.plugin, problem.step, problem.message)

    def _activate(self, replaced: dict[str, object]) -> None:
        """Activate all plugins; if a new version cannot be activated, restore the previous one."""
        runtime = self._runtime
        for plugin, activate in runtime.host.activations():
            problem = self._activations.activate(plugin, activate)
            if problem is None or plugin not in replaced:
                continue
            self._activations.end(RELOADED, plugin)
            runtime.host.replace(plugin, replaced[plugin])
            runtime.hooks.compile()
            before = dict(runtime.host.activations()).get(plugin)
            if before is not None:
                self._activations.activate(plugin, before)
            runtime.report_plugin_error(plugin, "reload", "the previous version stays in use")

    def _check_idle(self) -> None:
        if self._runtime.is_streaming:
            raise UserError("Wait for the current response to finish before reloading.")
        if self._is_compacting():
            raise UserError("Wait for compaction to finish before reloading.")

    async def _watch(self) -> None:
        from pi_core.host.extensions.watching import changes

        extensions = self._runtime.host.extensions
        if extensions is None:
            return
        async for _ in changes(extensions):
            while self._runtime.is_streaming or self._is_compacting():  # noqa: ASYNC110 - two ends, one look
                await asyncio.sleep(BUSY_SECONDS)
            try:
                await self.reload()
            except PiError as error:
                self._runtime.report_plugin_error("(extensions)", "reload", str(error))
