"""A program as a plugin: what it implements is registered like that of any other plugin, and called over its pipes."""

from __future__ import annotations

import asyncio
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pi_core.host.grants import is_granted, not_granted
from pi_hookspecs import PiError, hookimpl
from pi_isolated.ready import Ready, command_in, parse_ready, unmet_contract
from pi_isolated.registering import Registrations

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pi_core.host.extensions.program_index import ProgramIndex
    from pi_hookspecs import PiAPI, PiContext, PluginManifest
    from pi_isolated.drawing import Drawing
    from pi_isolated.process import Process
    from pi_isolated.running import ProgramProcess

__all__ = ["Member", "ProgramPlugin"]

_FIRST_SECONDS = 0.2
"""Seconds of a run after which a process is started ahead of its first event: the request to the model goes first."""

_ENDS = ("quit", "reload")
"""Reasons for which a session ends together with a process that several plugins share."""


class ProgramPlugin:
    """A plugin that is a program, or that runs in one together with others.

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
        Member(self, pi).begin()


def granted(ready: Ready, grants: Mapping[str, Any] | None, report: Callable[[str], None]) -> Ready:
    """Return what counts of what a program implements; the rest is reported."""
    hooks = {name: each for name, each in ready.hooks.items() if is_granted(grants, "hooks", name)}
    tools = {name: each for name, each in ready.tools.items() if is_granted(grants, "tools", name)}
    for kind, names in (("hooks", ready.hooks.keys() - hooks), ("tools", ready.tools.keys() - tools)):
        for name in sorted(names):
            report(f"{name!r} {not_granted(kind, name)}")
    providers = {}
    for name, each in ready.of("providers").items():
        command = command_in(each.get("config"), "config.")
        if not is_granted(grants, "ctx", "register_provider"):
            report(f"the provider {name!r} {not_granted('ctx', 'register_provider')}")
        elif command is not None:
            report(f"the provider {name!r} is left out: {command}")
        else:
            providers[name] = each
    models = ready.of("virtualModels")
    if models and not is_granted(grants, "ctx", "register_provider"):
        report(f"virtual models: {not_granted('ctx', 'register_provider')}")
        models = {}
    registers = {**ready.registers, "tools": tools, "providers": providers, "virtualModels": models}
    return Ready(hooks=hooks, registers=registers, state=ready.state, files=ready.files)


class Member:
    """One plugin of one session, in a process of its own or in one that several share.

    Attributes:
        name: The plugin's name.
        manifest: The plugin.
        pi: Its ``pi``.
        ready: What it implements.
        broken: Why it is not asked any more, while its process runs the others; empty if it is.
        ctx: The context of the session; None before it begins.
    """

    def __init__(self, plugin: ProgramPlugin, pi: PiAPI) -> None:
        self._plugin = plugin
        self.manifest = plugin.manifest
        self.pi = pi
        self.name = pi.plugin
        self.ready = plugin.ready
        self.broken = ""
        self.running: ProgramProcess | None = None
        self.ctx: PiContext | None = None
        self._registrations = Registrations(self)
        self._prestart: asyncio.Task[object] | None = None

    @cached_property
    def drawing(self) -> Drawing:
        """What it renders and completes."""
        from pi_isolated.drawing import Drawing  # most programs draw nothing

        return Drawing(self)

    def begin(self) -> None:
        """Register everything that is known."""
        self.pi.on("session_start", self._start_session)
        self.pi.on("session_shutdown", self._shut_down)
        if self.manifest.entry is not None:
            self.pi.events.on(self._channel, lambda take: take(self))
            self.pi.on("agent_start", self._start_early)
        self._registrations.hooks.update(("session_start", "session_shutdown"))
        self._registrations.take(self.ready)

    @property
    def _channel(self) -> str:
        from binascii import crc32

        return f"shared process {crc32(' '.join(self.manifest.command).encode()):08x}"

    # Asking

    async def ask_hook(self, hook: str, event: Any, ctx: PiContext) -> Any:
        """Return the program's answer to an event; None if it is not asked."""
        if not self.is_asked(hook, event):
            return None
        return await self.process_of_session().ask_hook(self, hook, event, ctx)

    def is_asked(self, hook: str, event: Any) -> bool:
        """Whether the program is asked, by its latest first message."""
        if hook == "session_shutdown" and self.manifest.entry is not None and event.reason not in _ENDS:
            return True  # its process lives on, in which it has to begin anew
        filters = self.ready.hooks.get(hook)
        return filters is not None and ("tools" not in filters or event.tool_name in filters["tools"])

    async def ask(
        self,
        process: Process,
        message: Mapping[str, Any],
        ctx: PiContext,
        on_update: Callable[[Any], None] | None = None,
    ) -> Any:
        """Return the answer to a request; see ``ProgramProcess.ask``."""
        return await self.process_of_session().ask(self, process, message, ctx, on_update)

    async def request(self, message: Mapping[str, Any], ctx: PiContext) -> Any:
        """Return the answer to a request, as ``ask`` does, of a program that is started if it is not running."""
        return await self.ask(await self.process(ctx), message, ctx)

    async def process(self, ctx: PiContext) -> Process:
        """Return the running program, started if it is not.

        Raises:
            UnusableProgram: It cannot be started, or has died too often, or this plugin is not part of it any more.
        """
        return await self.process_of_session().running(self, ctx)

    def process_of_session(self) -> ProgramProcess:
        """Return the process of this plugin, or the one that it shares with others of its session."""
        if self.running is None:
            members = [self]
            if self.manifest.entry is not None:
                members = []
                self.pi.events.emit(self._channel, members.append)
            from pi_isolated.running import ProgramProcess

            shared = next((each.running for each in members if each.running is not None), None)
            self.running = shared or ProgramProcess(self.manifest)
            self.running.members = members
            for each in members:
                each.running = self.running
        return self.running

    # What the program reports about itself

    def adopt(self, message: Mapping[str, Any], ctx: PiContext) -> None:
        """Apply the program's first message, and cache it.

        Raises:
            PiError: It is for another contract, or something in it is wrong.
        """
        problems: list[str] = []
        unmet = unmet_contract(str(message.get("contract")))
        if unmet is not None:
            raise PiError(f"it {unmet}")
        ready = self._without_taken(parse_ready(message, problems.append), ctx, problems.append)
        if not self._plugin.is_known or self._plugin.index.read() != ready.to_plain():
            self._plugin.index.write(ready.to_plain())
            counting = granted(ready, self.manifest.grants, problems.append)
            for problem in problems:
                ctx.ui.notify(f"Plugin {self.name!r}: {problem}", "warning")
            self._plugin.ready, self._plugin.is_known = counting, True
        self.ready = self._plugin.ready
        self._registrations.take(self.ready)

    def change(self, message: Mapping[str, Any]) -> None:
        """Apply what the program registers while it runs; it is not cached.

        Raises:
            PiError: Something in it is wrong.
        """
        ready = parse_ready(message, lambda _problem: None)
        if self.ctx is not None:
            ready = self._without_taken(ready, self.ctx, lambda _problem: None)
        self.ready = granted(ready, self.manifest.grants, lambda _problem: None)
        self._registrations.take(self.ready)

    @staticmethod
    def _without_taken(ready: Ready, ctx: PiContext, report: Callable[[str], None]) -> Ready:
        """Return it without virtual models that would hide the models of a provider."""
        models = ready.of("virtualModels")
        if not models:
            return ready
        from pi_isolated.routes import of_other_providers  # few programs choose models

        kept = of_other_providers(models, ctx, report)
        registers = {**ready.registers, "virtualModels": kept}
        return Ready(hooks=ready.hooks, registers=registers, state=ready.state, files=ready.files)

    async def _start_session(self, event: Any, ctx: PiContext) -> None:
        """Start a program that is not known, so that it is asked from the session's first event on."""
        self.ctx = ctx
        if not self._plugin.is_known:
            await self.process(ctx)
        await self.ask_hook("session_start", event, ctx)

    def _start_early(self, _event: Any, ctx: PiContext) -> None:
        """Start the process while the model is asked, so that the first event for it need not wait."""
        if self._prestart is None or self._prestart.done():
            self._prestart = asyncio.create_task(self._start_ahead(ctx))

    async def _start_ahead(self, ctx: PiContext) -> None:
        await asyncio.sleep(_FIRST_SECONDS)  # to start a process takes CPU time, which the request would wait for
        running = self.process_of_session()
        if running.process is None:
            await running.start_quietly(self, ctx)

    async def _shut_down(self, event: Any, ctx: PiContext) -> None:
        if self._prestart is not None:
            self._prestart.cancel()
        running = self.process_of_session()
        try:
            if running.process is not None and running.process.failure is None and not self.broken:
                await self.ask_hook("session_shutdown", event, ctx)
        finally:
            if self.manifest.entry is None or event.reason in _ENDS:
                await running.leave(self)
                self.broken = ""
