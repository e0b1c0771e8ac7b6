"""The process of one plugin, or of several that share it: how it is started, asked, started again, and ended."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from contextvars import ContextVar, copy_context
from itertools import chain, count
from typing import TYPE_CHECKING, Any

from pi_core.hooks.acting import acting
from pi_hookspecs import PiError, PluginError
from pi_isolated.events import UnsentEvent, read_answer
from pi_isolated.log import ErrorLog
from pi_isolated.process import Output, Process, ProgramFailure
from pi_isolated.state import StateWriter
from pi_isolated.surfaces import Surfaces

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextvars import Context

    from pi_hookspecs import PiContext, PluginManifest
    from pi_isolated.plugin import Member

__all__ = ["ProgramProcess", "UnusableProgram"]

_READY_SECONDS = 30.0
_LOAD_SECONDS = 15.0
"""Seconds in which each plugin of a process that is shared has to be loaded, or the process is ended.

The process itself gives up on one that is loaded asynchronously after two thirds of them.
"""

_MOST_STARTS = 2
"""Starts in a session: the first one, and one more after the program has died."""

_starting: ContextVar[tuple[object, ...]] = ContextVar("starting", default=())
"""The processes that are being started by this task: the hooks of that start do not ask them."""


class UnusableProgram(PluginError):
    """A program cannot be asked: it cannot be started, has died, or does not answer."""

    arose_elsewhere = True


class _Died(UnusableProgram):
    """A program did not get ready; ``culprit`` is the plugin that it loaded last."""

    def __init__(self, plugin: str, message: str, culprit: Any) -> None:
        super().__init__(plugin, message)
        self.culprit = culprit


class ProgramProcess:
    """Started when it is first needed, started again once, ended with the session.

    Of several plugins that share a process, the one that has ended it is left out when it is started again.

    Args:
        manifest: One of the plugins; all have the same command.

    Attributes:
        members: The plugins, in load order.
        process: The running program; None before it is started.
        surfaces: What it draws.
    """

    def __init__(self, manifest: PluginManifest) -> None:
        self._manifest = manifest
        self.members: list[Member] = []
        self.process: Process | None = None
        self._lock = asyncio.Lock()
        self._starts = 0
        self._last_failure = ""
        self._contexts: dict[str, tuple[Member, Any]] = {}
        self._numbers = count(1)
        self._state = StateWriter()
        self._left: list[Member] = []
        self.surfaces = Surfaces(self._send, self._context, self._variables, self._report, self._send_state)
        self._emitting: list[str] = []
        name = manifest.name if manifest.entry is None else "extensions"
        self._log = ErrorLog(manifest.agent_dir, name)
        self._reports: set[asyncio.Task[None]] = set()

    @property
    def is_shared(self) -> bool:
        """Whether several plugins may run in it."""
        return self._manifest.entry is not None

    # Asking

    async def ask_hook(self, member: Member, hook: str, event: Any, ctx: PiContext) -> Any:
        """Return a plugin's answer to an event; None if it is not asked."""
        if self in _starting.get():
            return None
        if self.process is not None and hook != "message_update":
            self.process.wake()
        process = await self.running(member, ctx)
        if not member.is_asked(hook, event):
            return None
        unsent = UnsentEvent(hook, event, member.ready.hooks.get(hook, {}))
        message = {"type": "hook", "hook": hook, "event": unsent}
        return read_answer(hook, await self.ask(member, process, message, ctx), event)

    async def ask(
        self,
        member: Member,
        process: Process,
        message: Mapping[str, Any],
        ctx: PiContext,
        on_update: Callable[[Any], None] | None = None,
    ) -> Any:
        """Return the answer to a request of a plugin, which is sent together with what has changed of the state.

        Raises:
            UnusableProgram: The process did not answer.
            PiError: The answer is an error, or the message is too long.
        """
        request = {**message, "ctx": self.name_of(member, ctx)}
        if self.is_shared:
            request["plugin"] = member.name
        state = await self._changes(ctx)
        for piece in state[:-1]:
            process.send({"type": "state", "state": piece})
        if state:
            request["state"] = state[-1]
        try:
            return await process.ask(request, on_update)
        except ProgramFailure as error:
            if process.was_stopped and message["type"] == "command":
                return None  # the command has ended the session, or reloaded the plugins
            raise UnusableProgram(member.name, f"its process does not answer: {error}") from error

    async def _changes(self, ctx: PiContext) -> list[dict[str, Any]]:
        wanted = [each.ready.state for each in self.members if each.ready.state is not None]
        if not wanted:
            return []
        return await self._state.changes(ctx, self.members[0].pi, chain(*wanted), self._flags())

    async def _send_state(self, ctx: PiContext) -> None:
        """Send the program what has changed of the state, for what it draws."""
        with suppress(PiError):  # the session has ended meanwhile
            for piece in await self._changes(ctx):
                self._send({"type": "state", "state": piece})

    def _flags(self) -> list[str]:
        return [name for each in self.members for name in each.ready.of("flags")]

    def name_of(self, member: Member, ctx: Any) -> str:
        """Return the name by which the program knows a context of a plugin."""
        known = next((name for name, each in self._contexts.items() if each[0] is member and each[1] is ctx), None)
        if known is None:
            known = f"{'t' if hasattr(ctx, 'call_id') else 's'}{next(self._numbers)}"
            self._contexts[known] = (member, ctx)
        return known

    def forget(self, name: str) -> None:
        """Forget a context: calls with it fail from now on."""
        self._contexts.pop(name, None)

    async def _serve(self, call: Mapping[str, Any]) -> Any:
        """Return the result of a call of the program."""
        member, ctx = self._context(str(call.get("ctx")))
        from pi_isolated.calls import call_member

        with acting(member.name):
            return await call_member(member, call.get("method"), call.get("params"), ctx)

    # Messages that need no reply

    def _take_registers(self, message: Mapping[str, Any]) -> None:
        member = self._member(message)
        if member is not None:
            try:
                member.change(message)
            except PiError as error:
                self._report(member, str(error))

    def _take_failure(self, message: Mapping[str, Any]) -> None:
        member = self._member(message)
        if member is not None:
            self._report(member, str(message.get("message")))

    def _take_event(self, message: Mapping[str, Any]) -> None:
        member = self._member(message)
        channel = message.get("channel")
        if member is not None and isinstance(channel, str):
            self._emitting.append(channel)
            try:
                member.pi.events.emit(channel, message.get("data"))
            finally:
                self._emitting.pop()

    def forward(self, member: Member, channel: str, data: Any) -> None:
        """Send what another plugin emits on a channel to the program, once, and not what comes from itself."""
        listening = next((each for each in self.members if channel in each.ready.of("channels")), None)
        if listening is member and self.process is not None and channel not in self._emitting:
            self.process.send({"type": "event", "channel": channel, "data": data})

    def _take_surface(self, message: Mapping[str, Any]) -> None:
        if message.get("op") in ("invalidate", "completions", "terminal"):
            member = self._member(message)
            if member is not None:
                member.drawing.take(message)
        else:
            self.surfaces.take(message)

    # For surfaces

    def latest_context(self, member: Member) -> PiContext | None:
        """Return the ``ctx`` of the session that a plugin was given last; None before its first request."""
        found = (ctx for owner, ctx in reversed(self._contexts.values()) if owner is member)
        return next((ctx for ctx in found if not hasattr(ctx, "call_id")), None)

    def _send(self, message: Mapping[str, Any]) -> None:
        if self.process is not None and self.process.failure is None:
            self.process.send(message)

    def _context(self, name: str) -> tuple[Member, PiContext]:
        member, ctx = self._contexts.get(name, (None, None))
        if member is None or ctx is None:
            raise PiError(f"there is no ctx {name!r}: it belonged to a request that has ended")
        return member, ctx

    def _variables(self, name: str) -> Context:
        request = self.process.open_request(name) if self.process is not None else None
        return request.context.copy() if request is not None else copy_context()

    def _member(self, message: Mapping[str, Any]) -> Member | None:
        if not self.is_shared:
            return self.members[0]
        return next((each for each in self.members if each.name == message.get("plugin")), None)

    def note(self, text: str) -> None:
        """Write a line to ``isolated.log``."""
        self._log.write(text, lambda plain: plain)

    def _report(self, member: Member | None, text: str) -> None:
        """Report a failure that no request has answered with: of a plugin, or of the first one if that is not known."""
        from pi_hookspecs import ExtensionErrorEvent

        member = member if member is not None else self.members[0]
        event = ExtensionErrorEvent(extension_path=member.name, event="running", error=text[:2000])
        task = asyncio.get_running_loop().create_task(self._emit(member, event))
        self._reports.add(task)
        task.add_done_callback(self._reports.discard)

    async def _emit(self, member: Member, event: Any) -> None:
        with suppress(PiError):  # the session has ended meanwhile
            await member.pi.emit(event)

    # Starting and ending

    async def running(self, member: Member, ctx: PiContext) -> Process:
        """Return the program, started if it is not.

        Raises:
            UnusableProgram: It cannot be started, has died twice, or goes on without this plugin.
        """
        process = self.process
        if process is None or process.failure is not None:
            process = await self._ensure_started(member, ctx)
        if member.broken:
            raise UnusableProgram(member.name, member.broken)
        return process

    async def _ensure_started(self, member: Member, ctx: PiContext) -> Process:
        async with self._lock:
            if self.process is not None and self.process.failure is None:  # another request has started it
                return self.process
            is_again = self.is_shared and self.process is not None
            if self.process is not None:
                self._last_failure = str(self.process.failure)
                self._leave_out(self.process.culprit)
                await self._discard()
            if self._starts >= _MOST_STARTS:
                raise UnusableProgram(
                    member.name,
                    f"its process has died twice and is not restarted in this session: {self._last_failure}."
                    " Its last lines are in isolated.log in the agent directory; /reload starts it again",
                )
            self.process = await self._start(member, ctx)
            if is_again:
                await self._begin_anew(self.process)
            return self.process

    async def _begin_anew(self, process: Process) -> None:
        """Tell each plugin in a process that was started again that a session begins: its memory is empty."""
        from pi_hookspecs import SessionStartEvent

        event = UnsentEvent("session_start", SessionStartEvent(reason="reload"))
        for member in self.members:
            if member.broken or member.ctx is None or "session_start" not in member.ready.hooks:
                continue
            message = {"type": "hook", "hook": "session_start", "event": event}
            try:
                await asyncio.wait_for(self.ask(member, process, message, member.ctx), _READY_SECONDS)
            except (PiError, TimeoutError) as error:
                self._report(member, f"session_start, when its process had been started again: {error}")

    async def start_quietly(self, member: Member, ctx: PiContext) -> None:
        """Start the program ahead of its first request, which reports what is wrong."""
        with suppress(PiError):
            await self.running(member, ctx)

    def _leave_out(self, culprit: Any) -> bool:
        """Leave out the plugin that ran when the process ended, if others can go on without it."""
        member = next((each for each in self.members if each.name == culprit), None)
        if not self.is_shared or member is None or sum(not each.broken for each in self.members) <= 1:
            return False
        member.broken = (
            "it is left out until /reload, because the process of all extensions ended while it ran:"
            f" {self._last_failure}"
        )
        self._starts -= 1
        return True

    async def _start(self, member: Member, ctx: PiContext) -> Process:
        self._starts += 1
        try:
            process, missing = await self._start_once(member, ctx)
        except _Died as error:
            if not self._leave_out(error.culprit):
                raise
            return await self._start(member, ctx)
        if missing:  # what was not known before names keys that it could not read while it was loaded
            await process.stop()
            process, _ = await self._start_once(member, ctx)
        return process

    async def _start_once(self, member: Member, ctx: PiContext) -> tuple[Process, bool]:
        """Start the program; return it, and whether it lacks keys that its providers turned out to name."""
        from pi_process_kit import prepare, start_child

        token = _starting.set((*_starting.get(), self))
        name, manifest = member.name, member.manifest
        try:
            request = await prepare(ctx, manifest.command, purpose="plugin", cwd=self._folder(ctx, manifest))
        except PiError as error:
            self._last_failure = str(error)
            raise UnusableProgram(name, f"its process cannot be started: {error}") from error
        finally:
            _starting.reset(token)
        process: Process | None = None
        self._state = StateWriter()
        try:
            output = Output()
            child = await start_child(request, output=output)
            process = Process(
                child,
                output,
                self._serve,
                lambda lines: self._log.write(lines, ctx.secrets.clean),
                {
                    "registers": self._take_registers,
                    "blame": self._take_failure,
                    "event": self._take_event,
                    "surface": self._take_surface,
                },
                keeps_calls=self.is_shared,
            )
            process.on_end(self.surfaces.close_all)
            keys = self._keys(request.env)
            if self.is_shared:
                await self._begin(process, ctx, keys)
            self._adopt(await process.ready(_LOAD_SECONDS if self.is_shared else _READY_SECONDS), ctx)
            lacks_keys = self.is_shared and self._keys(request.env) != keys
        except PiError as error:
            self._last_failure = str(error)
            if process is not None:
                await process.stop()
            culprit = process.culprit if process is not None else None
            raise _Died(name, f"its process cannot be used: {error}", culprit) from error
        except BaseException:
            if process is not None:
                process.abandon("its start was cancelled")
            raise
        return process, lacks_keys

    def _keys(self, env: Mapping[str, str]) -> dict[str, str]:
        """Return the variables with keys of its providers that were left out of its environment, as by the sandbox."""
        import os

        from pi_core.base.configured_values import variables_in

        names: set[str] = set()
        for described in chain(*(each.ready.of("providers").values() for each in self.members)):
            config = described.get("config")
            given = config if isinstance(config, dict) else {}
            headers = given.get("headers")
            values = [given.get("apiKey"), *(headers.values() if isinstance(headers, dict) else ())]
            names.update(chain(*(variables_in(each) for each in values if isinstance(each, str))))
        return {name: os.environ[name] for name in sorted(names) if name in os.environ and name not in env}

    def _folder(self, ctx: PiContext, manifest: PluginManifest) -> str:
        """Return where the program runs: in its folder, and one for extensions where the session does."""
        return str(ctx.cwd if self.is_shared else manifest.folder)

    async def _begin(self, process: Process, ctx: PiContext, keys: Mapping[str, str]) -> None:
        """Send a shared process the plugins that it runs, and their keys that its environment lacks."""
        plugins = [{"name": each.name, "file": str(each.manifest.entry)} for each in self.members if not each.broken]
        (state,) = await self._state.changes(ctx, self.members[0].pi, (), self._flags())
        options = {**(self._manifest.options or {}), "agentDir": str(self._manifest.agent_dir)}
        options["loadSeconds"] = _LOAD_SECONDS * 2 / 3
        environment = {"environment": keys} if keys else {}
        process.send({**options, "type": "start", "plugins": plugins, "state": state, **environment})

    def _adopt(self, message: Mapping[str, Any], ctx: PiContext) -> None:
        """Let each plugin apply its part of the first message.

        Raises:
            PiError: It is for another contract, or something in it is wrong.
        """
        if not self.is_shared:
            self.members[0].adopt(message, ctx)
            return
        plugins = message.get("plugins")
        for member in self.members:
            mine = plugins.get(member.name) if isinstance(plugins, dict) else None
            try:
                member.adopt({**_reported(mine), "contract": message.get("contract")}, ctx)
            except PiError as error:
                member.broken = member.broken or str(error)  # reported by the first of its hooks that is called

    async def leave(self, member: Member) -> None:
        """End the process when the last of its plugins has seen the end of the session."""
        self._left.append(member)
        if all(each in self._left for each in self.members):
            await self._discard()
            self._log.close()
            self._left.clear()
            self._starts = 0
            self._contexts.clear()
            for each in self.members:
                each.running = None

    async def _discard(self) -> None:
        """End the process, if there is one."""
        process, self.process = self.process, None
        if process is not None:
            with suppress(OSError):
                await process.stop()


def _reported(mine: Any) -> Mapping[str, Any]:
    """Return what a shared process reported of one plugin.

    Raises:
        PiError: It could not load it, or did not report it.
    """
    if not isinstance(mine, dict):
        raise PiError("its process did not report it")
    if "error" in mine:
        raise PiError(f"it cannot be loaded: {mine['error'].get('message')}")
    return mine
