"""How a conversation begins, is aborted, and ends, with the plugins that are activated for it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Protocol

from pi_core.base.process.forks import ForkGuard
from pi_core.conversation.resources import discover_resources
from pi_core.plugin_api.handles import ENDED
from pi_hookspecs import PiError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pi_core.conversation.offered_tools import OfferedTools
    from pi_core.conversation.runtime import Runtime
    from pi_core.plugin_api.activation import Activations

__all__ = ["Lifecycle"]


class Running(Protocol):
    """The parts that start and end with a conversation, or have to be waited for; implemented by ``Parts``."""

    @property
    def activations(self) -> Activations:
        """What plugins hold as ``pi``."""
        ...

    @property
    def tools(self) -> OfferedTools:
        """The tools that the model is offered."""
        ...

    @property
    def is_reloading(self) -> bool:
        """Whether a reload is going on."""
        ...

    async def left_stream_settled(self) -> None:
        """Return when a stream that its consumer has left is no longer being answered."""
        ...

    async def summaries_settled(self) -> None:
        """Return when no compaction and no summary of a branch is going on."""
        ...

    async def reloaded(self) -> None:
        """Return when no reload is going on."""
        ...

    def abort_summaries(self) -> None:
        """Stop a compaction, and the summary of a branch."""
        ...

    def end(self) -> None:
        """Stop what no abort of a prompt stops."""
        ...


class Lifecycle:
    """Starts and ends a conversation.

    Args:
        runtime: What the conversation is made of.
        parts: Those that are started and stopped.
    """

    def __init__(self, runtime: Runtime, parts: Running) -> None:
        self._runtime = runtime
        self._parts = parts
        self._fork_guard = ForkGuard(self._on_fork)
        self._starting = asyncio.Lock()
        self._started = self._ended = False
        self._shutdowns: set[asyncio.Task[None]] = set()

    @property
    def is_starting(self) -> bool:
        """Whether ``session_start`` is being emitted, so that no prompt can be answered yet."""
        return self._starting.locked() or self._parts.is_reloading

    async def start(self) -> None:
        """Activate the plugins and emit ``session_start``; the first prompt does it otherwise.

        Raises:
            PiError: The session has ended.
        """
        if self._ended:
            raise PiError("This session has ended; make another one with create_agent_session")
        self._fork_guard.attach()
        async with self._starting:
            if self._started:
                return
            self._started = True
            self._parts.activations.begin()
            self._parts.tools.offer()
            await self._notify("session_start", lambda events: events.SessionStartEvent())
            await discover_resources(self._runtime, "startup")
        if self._runtime.events.listens("session_start"):  # outside the lock: a listener may send the first prompt
            import pi_hookspecs

            await self._runtime.emit(pi_hookspecs.SessionStartEvent())

    async def ready(self) -> None:
        """Return when a prompt may begin: after start, compaction, change of branch and reload."""
        await self.start()
        await self._parts.left_stream_settled()
        if not self._runtime.is_streaming:
            self._runtime.hooks.forget_last_hook()
            await self._parts.summaries_settled()
            await self._parts.reloaded()

    async def end(self) -> None:
        """Stop what runs, emit ``session_shutdown``, and release everything."""
        if self._ended:
            return
        self._ended = True
        runtime = self._runtime
        runtime.hooks.keep_last_hook()
        for task in self._shutdowns - {asyncio.current_task()}:  # the handler may be what ends the session
            task.cancel()
        self._parts.end()
        await self.abort("Session ended")
        if self._started:
            await self._notify("session_shutdown", lambda events: events.SessionShutdownEvent())
        runtime.manager.close()
        self._parts.activations.end(ENDED)
        await runtime.events.settled()
        runtime.hooks.close()
        runtime.plugins.handles.retire(ENDED)
        self._fork_guard.release()

    def request_abort(self, reason: str = "Operation aborted") -> None:
        """Stop the prompt that is being answered, a compaction, a summary of a branch; what is queued stays."""
        self._runtime.gate.abort(reason)
        self._runtime.agent.abort(reason)
        self._parts.abort_summaries()

    async def abort(self, reason: str = "Operation aborted") -> None:
        """Stop what ``request_abort`` stops and wait until it has settled.

        From inside it, in a listener or a hook, there is nothing to wait for: it settles after that.
        """
        self.request_abort(reason)
        await self.wait_for_idle()
        await self._parts.summaries_settled()

    async def wait_for_idle(self) -> None:
        """Return when no prompt is being answered and ``agent_settled`` was emitted; at once inside the prompt."""
        runtime = self._runtime
        await runtime.gate.empty()
        if runtime.gate.signal is None:
            await runtime.agent.wait_for_idle()  # a program may have used the agent itself

    async def until_shutdown(self) -> None:
        """Return when a plugin has requested the end (``ctx.shutdown``) and no prompt is being answered."""
        await self._runtime.front_end.shutdown_requested.wait()
        await self.wait_for_idle()

    def call_at_shutdown(self, handler: Callable[[], Awaitable[None] | None]) -> None:
        """Call a function when a plugin has requested the end and no prompt is being answered."""

        async def call() -> None:
            await self.until_shutdown()
            waiting = handler()
            if waiting is not None and hasattr(waiting, "__await__"):
                await waiting

        self._shutdowns.add(asyncio.create_task(call()))

    def _on_fork(self) -> None:
        """Keep a process that a plugin has forked, a copy of this one, from going on with the session."""
        self._runtime.manager.stop_storing()
        self._runtime.hooks.end_in_child()

    async def _notify(self, name: str, make: Callable[[Any], Any]) -> None:
        if self._runtime.hooks.listens(name):
            import pi_hookspecs

            await self._runtime.hooks.notify(make(pi_hookspecs), self._runtime.ctx)
