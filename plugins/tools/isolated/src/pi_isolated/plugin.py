"""A program as a plugin: what it implements is registered like that of any other plugin, and called over its pipes."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from contextvars import ContextVar
from itertools import count
from typing import TYPE_CHECKING, Any

from pi_core.hooks.acting import acting
from pi_core.host.grants import is_granted, not_granted
from pi_hookspecs import PiError, PluginError, Tool, ToolResult, hookimpl
from pi_isolated.log import ErrorLog
from pi_isolated.ready import Ready, parse_ready, unmet_contract

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from pi_core.host.extensions.program_index import ProgramIndex
    from pi_hookspecs import AbortSignal, PiAPI, PiContext, PluginManifest, ToolContext, ToolUpdate
    from pi_isolated.process import Process

__all__ = ["ProgramPlugin"]

_READY_SECONDS = 30.0
_MOST_STARTS = 2
"""Starts in a session: the first one, and one more after the program has died."""

_starting: ContextVar[tuple[object, ...]] = ContextVar("starting", default=())
"""The sessions whose programs are being started by this task: the hooks of that start do not ask them."""


class ProgramPlugin:
    """A plugin that is a program.

    Args:
        manifest: The plugin.
        index: Caches the program's first message.
        ready: What is known of it; for a program that was never started the hooks that it states to use.
        is_known: Whether that is what its present files say; else it is started with the session.
        report: Called with each hook and tool that is left out.
    """

    def __init__(
        self,
        manifest: PluginManifest,
        index: ProgramIndex,
        ready: Ready,
        *,
        is_known: bool,
        report: Callable[[str], None] = lambda _problem: None,
    ) -> None:
        self.manifest = manifest
        self.index = index
        self.is_known = is_known
        self.ready = granted(ready, manifest.grants, report)

    @hookimpl
    def activate(self, pi: PiAPI) -> None:
        """Register what the program implements; it is not started."""
        _ProgramSession(self, pi).begin()


def granted(ready: Ready, grants: Mapping[str, Any] | None, report: Callable[[str], None]) -> Ready:
    """Return what counts of what a program implements; the rest is reported."""
    hooks = {name: each for name, each in ready.hooks.items() if is_granted(grants, "hooks", name)}
    tools = {name: each for name, each in ready.tools.items() if is_granted(grants, "tools", name)}
    for kind, names in (("hooks", ready.hooks.keys() - hooks), ("tools", ready.tools.keys() - tools)):
        for name in sorted(names):
            report(f"{name!r} {not_granted(kind, name)}")
    return Ready(hooks=hooks, tools=tools, commands=ready.commands)


class _ProgramSession:
    """The program of one session: started when it is first needed, started again once, ended with the session."""

    def __init__(self, plugin: ProgramPlugin, pi: PiAPI) -> None:
        self._plugin = plugin
        self._manifest = plugin.manifest
        self._pi = pi
        self._name = pi.plugin
        self._ready = plugin.ready
        self._registered: set[tuple[str, str]] = set()
        self._process: Process | None = None
        self._lock = asyncio.Lock()
        self._starts = 0
        self._last_failure = ""
        self._contexts: dict[str, Any] = {}
        self._numbers = count(1)
        self._log = ErrorLog(plugin.manifest.agent_dir, pi.plugin)

    def begin(self) -> None:
        """Register everything that is known."""
        if not self._plugin.is_known:
            self._registered.add(("hook", "session_start"))
            self._pi.on("session_start", self._start_session)
        self._registered.add(("hook", "session_shutdown"))
        self._pi.on("session_shutdown", self._shut_down)
        self._register(self._ready)

    def _register(self, ready: Ready) -> None:
        """Register what is not registered yet."""
        new: list[tuple[str, str, Callable[[str], object]]] = [
            *(("hook", name, self._add_hook) for name in ready.hooks),
            *(("tool", name, self._add_tool) for name in ready.tools),
            *(("command", name, self._add_command) for name in ready.commands),
        ]
        self._ready = ready
        for kind, name, add in new:
            if (kind, name) not in self._registered:
                self._registered.add((kind, name))
                add(name)

    def _add_hook(self, hook: str) -> None:
        async def handle(event: Any, ctx: PiContext) -> Any:
            return await self._ask_hook(hook, event, ctx)

        self._pi.on(hook, handle)

    def _add_tool(self, name: str) -> None:
        described = self._ready.tools[name]

        async def execute(
            call_id: str, params: dict[str, Any], signal: AbortSignal, on_update: ToolUpdate, ctx: ToolContext
        ) -> ToolResult:
            process = await self._running(ctx)
            if name not in self._ready.tools:
                raise PluginError(self._name, f"it has no tool {name!r} any more")
            message = {"type": "tool", "tool": name, "callId": call_id, "params": params}
            key = self._name_of(ctx)
            forget = signal.on_abort(lambda: process.cancel_all(key))
            try:
                from pi_isolated.events import read_result

                answer = await self._ask(process, message, ctx, lambda update: on_update(read_result(update)))
                return read_result(answer)
            finally:
                forget()
                self._contexts.pop(key, None)

        self._pi.register_tool(
            Tool(
                name=name,
                description=described.get("description", ""),
                parameters=described["parameters"],
                execute=execute,
            )
        )

    def _add_command(self, name: str) -> None:
        async def run(args: str, ctx: PiContext) -> None:
            process = await self._running(ctx)
            await self._ask(process, {"type": "command", "command": name, "args": args}, ctx)

        self._pi.register_command(name, run, description=self._ready.commands[name].get("description", ""))

    # Asking

    async def _ask_hook(self, hook: str, event: Any, ctx: PiContext) -> Any:
        if not self._is_asked(hook, event) or self in _starting.get():
            return None
        process = await self._running(ctx)
        if not self._is_asked(hook, event):  # by its latest first message
            return None
        if hook == "message_update" and not process.events.is_due():
            return None
        from pi_isolated.events import read_answer

        message = {"type": "hook", "hook": hook, "event": process.events.write(hook, event)}
        return read_answer(hook, await self._ask(process, message, ctx), event)

    def _is_asked(self, hook: str, event: Any) -> bool:
        filters = self._ready.hooks.get(hook)
        return filters is not None and ("tools" not in filters or event.tool_name in filters["tools"])

    async def _ask(
        self,
        process: Process,
        message: dict[str, Any],
        ctx: PiContext,
        on_update: Callable[[Any], None] | None = None,
    ) -> Any:
        from pi_isolated.process import ProgramFailure

        try:
            return await process.ask({**message, "ctx": self._name_of(ctx)}, on_update)
        except ProgramFailure as error:
            raise PluginError(self._name, f"its process does not answer: {error}") from error

    def _name_of(self, ctx: Any) -> str:
        """Return the name by which the program knows a context."""
        known = next((name for name, each in self._contexts.items() if each is ctx), None)
        if known is None:
            known = f"{'t' if hasattr(ctx, 'call_id') else 's'}{next(self._numbers)}"
            self._contexts[known] = ctx
        return known

    async def _serve(self, call: Mapping[str, Any]) -> Any:
        """Return the result of a call of the program."""
        ctx = self._contexts.get(str(call.get("ctx")))
        if ctx is None:
            raise PiError(f"there is no ctx {call.get('ctx')!r}: it is that of a request that is over")
        from pi_isolated.calls import call_member

        with acting(self._name):
            return await call_member(self._name, call.get("method"), call.get("params"), ctx, self._manifest.grants)

    # Starting and ending

    async def _running(self, ctx: PiContext) -> Process:
        """Return the program, started if it is not.

        Raises:
            PluginError: It cannot be started, or it has died twice.
        """
        if self._process is not None and self._process.failure is None:
            return self._process
        async with self._lock:
            if self._process is not None and self._process.failure is not None:
                self._last_failure = str(self._process.failure)
                await self._discard()
            if self._process is None:
                if self._starts >= _MOST_STARTS:
                    raise PluginError(
                        self._name,
                        f"its process has died twice and is not started again in this session: {self._last_failure}."
                        " Its last lines are in isolated.log in the agent directory; /reload starts it again",
                    )
                self._process = await self._start(ctx)
            return self._process

    async def _start(self, ctx: PiContext) -> Process:
        from pi_isolated.process import Process
        from pi_process_kit import prepare, start_child

        self._starts += 1
        token = _starting.set((*_starting.get(), self))
        name, manifest = self._name, self._manifest
        try:
            request = await prepare(ctx, manifest.command, purpose="plugin", cwd=str(manifest.folder))
        except PiError as error:
            self._last_failure = str(error)
            raise PluginError(name, f"its process cannot be started: {error}") from error
        finally:
            _starting.reset(token)
        process: Process | None = None
        try:
            child = await start_child(request)
            process = Process(child, self._serve, lambda line: self._log.write(line, ctx.secrets.clean))
            self._adopt(await process.ready(_READY_SECONDS), ctx)
        except PiError as error:
            self._last_failure = str(error)
            if process is not None:
                await process.stop()
            raise PluginError(name, f"its process cannot be used: {error}") from error
        except BaseException:
            if process is not None:
                process.abandon("its start was cancelled")
            raise
        return process

    def _adopt(self, message: Mapping[str, Any], ctx: PiContext) -> None:
        """Apply the program's first message, and cache it.

        Raises:
            PiError: It is for another contract, or something in it is wrong.
        """
        problems: list[str] = []
        unmet = unmet_contract(str(message.get("contract")))
        if unmet is not None:
            raise PiError(f"it {unmet}")
        ready = parse_ready(message, problems.append)
        if not self._plugin.is_known or self._plugin.index.read() != ready.to_plain():
            self._plugin.index.write(ready.to_plain())
            counting = granted(ready, self._manifest.grants, problems.append)
            for problem in problems:
                ctx.ui.notify(f"Plugin {self._name!r}: {problem}", "warning")
            self._plugin.ready, self._plugin.is_known = counting, True
        self._register(self._plugin.ready)

    async def _start_session(self, event: Any, ctx: PiContext) -> None:
        """Start a program that is not known, so that it is asked from the session's first event on."""
        await self._running(ctx)
        await self._ask_hook("session_start", event, ctx)

    async def _shut_down(self, event: Any, ctx: PiContext) -> None:
        try:
            if self._process is not None and self._process.failure is None:
                await self._ask_hook("session_shutdown", event, ctx)
        finally:
            await self._discard()
            self._starts = 0
            self._contexts.clear()
            self._log.close()

    async def _discard(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        if process is None:
            return
        stopping: Awaitable[None] = process.stop()
        with suppress(OSError):
            await stopping
