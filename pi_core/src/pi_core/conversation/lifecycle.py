"""Starts, aborts and ends a conversation, and activates its plugins."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Protocol

from pi_core.base.process.forks import ForkGuard
from pi_core.conversation.handles import ENDED
from pi_core.conversation.resources import discover_resources
from pi_core.hooks.loop_watch import show_waiting, watch_loop
from pi_core.hooks.running_call import is_in_hook
from pi_hookspecs import PiError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from types import FrameType

    from pi_core.conversation.activations import Activations
    from pi_core.conversation.offered_tools import OfferedTools
    from pi_core.conversation.runtime import Runtime
    from pi_hookspecs import ExtensionErrorEvent, SpawnRequest, UserInterface

__all__ = ["Lifecycle"]


class Running(Protocol):
    """The parts that ``Lifecycle`` starts, ends or waits for; implemented by ``Parts``."""

    @property
    def activations(self) -> Activations:
        """The ``pi`` objects of plugins."""
        ...

    @property
    def tools(self) -> OfferedTools:
        """The active tools."""
        ...

    @property
    def is_reloading(self) -> bool:
        """Whether a reload is running."""
        ...

    async def wait_for_abandoned_stream(self) -> None:
        """Wait until the prompt of a stream that its consumer has closed has settled."""
        ...

    async def summaries_settled(self) -> None:
        """Return when no compaction and no summary of a branch is in progress."""
        ...

    async def reloaded(self) -> None:
        """Wait until no reload is running."""
        ...

    async def stop_warming(self) -> None:
        """Keep no prompt in its provider's cache any more, and wait for the request that does."""
        ...

    def abort_summaries(self) -> None:
        """Abort a compaction and the summary of a branch."""
        ...

    def end(self) -> None:
        """Stop the tasks that an abort of a prompt does not stop."""
        ...


class Lifecycle:
    """Starts and ends a conversation.

    Args:
        runtime: The objects that all parts share.
        parts: The parts that are started and stopped.

    Attributes:
        choose: Called at the end of the start, before the first prompt, to choose what only exists then; it may raise.
    """

    def __init__(self, runtime: Runtime, parts: Running) -> None:
        self.choose: Callable[[], Awaitable[None]] | None = None
        self._runtime = runtime
        self._parts = parts
        self._fork_guard = ForkGuard(self._on_fork, self._forking_plugin)
        self._starting = asyncio.Lock()
        self._started = self._ended = False
        self._shutdowns: set[asyncio.Task[None]] = set()
        self._at_end: list[Callable[[], Awaitable[None]]] = []
        self._forget_policy: Callable[[], None] = lambda: None
        self._end_watch: Callable[[], None] = lambda: None

    @property
    def is_starting(self) -> bool:
        """Whether ``session_start`` is being emitted, so that no prompt can be answered yet."""
        return self._starting.locked() or self._parts.is_reloading

    def is_inside_start(self) -> bool:
        """Whether the caller is part of a hook for which the start waits."""
        return self._starting.locked() and is_in_hook()

    async def start(self) -> None:
        """Activate the plugins and emit ``session_start``; see ``AgentSession.start``."""
        if self._ended:
            raise PiError("This session has ended; create another with create_agent_session")
        self._fork_guard.attach()
        if not self._started:
            self._runtime.front_end.loop = asyncio.get_running_loop()
            self._end_watch = watch_loop(self._runtime.hooks)
            self._runtime.hooks.on_waiting(show_waiting)
        async with self._starting:
            if self._started:
                return
            self._started = True
            self._forget_policy = self._runtime.models.auth.start_policies.add(self._prepare_key_command)
            self._parts.tools.restore()
            with self._parts.tools.held():
                self._parts.activations.begin()
            self._parts.tools.offer()
            with self._parts.tools.held():
                await self._notify("session_start", lambda events: events.SessionStartEvent())
            await discover_resources(self._runtime, "startup")
            if self.choose is not None:
                await self.choose()
        if self._runtime.events.listens("session_start"):  # outside the lock, as a listener may send the first prompt
            import pi_hookspecs

            await self._runtime.emit(pi_hookspecs.SessionStartEvent())

    async def _prepare_key_command(
        self, argv: Sequence[str], cwd: str, env: Mapping[str, str], command: str
    ) -> SpawnRequest:
        from pi_core.conversation.spawning import prepare_program

        return await prepare_program(self._runtime.ctx, argv, cwd, env, purpose="key", command=command)

    async def bind(
        self,
        *,
        ui: UserInterface | None = None,
        shutdown_handler: Callable[[], Awaitable[None] | None] | None = None,
        on_error: Callable[[ExtensionErrorEvent], Awaitable[None] | None] | None = None,
    ) -> None:
        """Give the plugins a front end and start the session; see ``AgentSession.bind_extensions``."""
        if ui is not None:
            self._runtime.front_end.ui, self._runtime.front_end.has_ui = ui, True
        if on_error is not None:
            self._runtime.events.add(on_error, frozenset({"extension_error"}))
        if shutdown_handler is not None:
            self.call_at_shutdown(shutdown_handler)
        await self.start()

    async def ready(self) -> None:
        """Return when a prompt may begin: after start-up, compaction, navigation of the tree and reload."""
        await self.start()
        await self._parts.wait_for_abandoned_stream()
        if not self._runtime.is_streaming:
            self._runtime.hooks.forget_last_hook()
            await self._parts.summaries_settled()
            await self._parts.reloaded()

    async def end(self) -> None:
        """Abort all running work and release all resources; see ``AgentSession.dispose``."""
        if self._ended:
            return
        self._ended = True
        cancelled: asyncio.CancelledError | None = None
        for step in (self._stop, self._announce_end, self._call_end_handlers, self._release):
            try:
                await step()
            except asyncio.CancelledError as error:
                cancelled = error
        if cancelled is not None:
            raise cancelled

    async def _stop(self) -> None:
        self._runtime.hooks.keep_last_hook()
        for task in self._shutdowns - {asyncio.current_task()}:  # the handler itself may end the session
            task.cancel()
        self._parts.end()
        await self.abort("Session ended")

    async def _announce_end(self) -> None:
        if self._started:
            await self._notify("session_shutdown", lambda events: events.SessionShutdownEvent())

    async def _call_end_handlers(self) -> None:
        for handler in self._at_end:
            await handler()

    async def _release(self) -> None:
        runtime = self._runtime
        runtime.manager.close()
        with self._parts.tools.held():
            self._parts.activations.end(ENDED)
        try:
            await runtime.events.settled()
        finally:
            self._forget_policy()
            self._end_watch()
            runtime.hooks.close()
            runtime.plugins.handles.retire(ENDED)
            self._fork_guard.release()

    def request_abort(self, reason: str = "Operation aborted", *, exit_code: int | None = None) -> None:
        """Abort the current prompt; see ``AgentSession.request_abort``."""
        if exit_code is not None:
            self._runtime.bridge.requests.stop(exit_code)
        self._runtime.gate.abort(reason)
        self._runtime.agent.abort(reason)
        self._parts.abort_summaries()

    async def abort(self, reason: str = "Operation aborted") -> None:
        """Call ``request_abort`` and wait until everything has settled; see ``AgentSession.abort``."""
        self.request_abort(reason)
        await self.wait_for_idle()
        await self._parts.summaries_settled()
        await self._parts.stop_warming()

    async def wait_for_idle(self) -> None:
        """Wait until no prompt is being answered and ``agent_settled`` was emitted; do not wait inside a prompt."""
        runtime = self._runtime
        await runtime.gate.empty()
        if runtime.gate.signal is None:
            await runtime.agent.wait_for_idle()  # a program may use the agent directly

    async def until_shutdown(self) -> None:
        """Wait until a plugin has requested a shutdown (``ctx.shutdown``) and no prompt is being answered."""
        await self._runtime.front_end.shutdown_requested.wait()
        await self.wait_for_idle()

    def call_at_end(self, handler: Callable[[], Awaitable[None]]) -> None:
        """Call a function when the session ends: nothing is running then, but entries can still be stored."""
        self._at_end.append(handler)

    def call_at_shutdown(self, handler: Callable[[], Awaitable[None] | None]) -> None:
        """Call a function when a plugin has requested a shutdown and no prompt is being answered."""

        async def call() -> None:
            await self.until_shutdown()
            waiting = handler()
            if waiting is not None and hasattr(waiting, "__await__"):
                await waiting

        self._shutdowns.add(asyncio.create_task(call()))

    def _on_fork(self) -> None:
        """Stop the session in a forked child of this process."""
        self._runtime.manager.stop_storing()
        self._runtime.hooks.end_in_child()

    def _forking_plugin(self, frame: FrameType) -> str | None:
        """Return the plugin that has forked this process, from the stack of the call."""
        from pi_core.base.frames import frames_outwards
        from pi_core.host.owners import CodeOwners  # only a child needs it

        found = CodeOwners(self._runtime.host).innermost(frames_outwards(frame))
        return found[0] if found is not None else None

    async def _notify(self, name: str, make: Callable[[Any], Any]) -> None:
        if self._runtime.hooks.listens(name):
            import pi_hookspecs

            await self._runtime.hooks.notify(make(pi_hookspecs), self._runtime.ctx)
