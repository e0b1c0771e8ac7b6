"""``Runtime``: the object from which every part of a conversation is created.

A part takes what it needs from the runtime and calls other parts that are passed to it; no part knows the session.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from attrs import Factory

from pi_hookspecs import NoModel
from pi_hookspecs.deferred import define, frozen
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pi_core.agent.agent import Agent
    from pi_core.agent.subscribers import Subscribers
    from pi_core.conversation.activations import SessionRegistrations
    from pi_core.conversation.hook_bridge import HookBridge
    from pi_core.conversation.plugin_scope import PluginScope
    from pi_core.conversation.prompt_gate import PromptGate
    from pi_core.conversation.system_prompts import SystemPrompts
    from pi_core.conversation.toolbox import Toolbox
    from pi_core.conversation.transcript import Transcript
    from pi_core.hooks.dispatcher import HookDispatcher
    from pi_core.host import PluginHost
    from pi_core.models.registry import ModelRegistry
    from pi_core.session import SessionManager
    from pi_core.settings import Settings
    from pi_hookspecs import AbortSignal, Model, PiContext, ResourceLoader, UserInterface

__all__ = ["FrontEnd", "Runtime", "report_plugin_error"]


@define(kw_only=True, eq=False, repr=False)
class FrontEnd(ReprMixin):
    """The program that uses a session, as plugins see it.

    Attributes:
        ui: Answers dialogs.
        has_ui: Whether a user can answer.
        mode: The front end's name.
        flags: Values of options that plugins registered.
        deps: An object of the program for its tools and plugins.
        depth: The number of sessions in which this session is nested; at least 1 for child sessions.
        command_limits: What slash commands of plugins may touch (``Command.touches``); None for no limit.
        shutdown_requested: Set when a plugin has requested that the program end.
        loop: The event loop in which the session was started; None before.
    """

    ui: UserInterface
    has_ui: bool = False
    mode: str = "print"
    flags: dict[str, bool | str | None] = Factory(dict)
    deps: Any = None
    depth: int = 0
    command_limits: frozenset[str] | None = None
    shutdown_requested: asyncio.Event = Factory(asyncio.Event)
    loop: asyncio.AbstractEventLoop | None = None

    def is_in_loop(self) -> bool:
        """Whether the caller runs in the thread of the session's event loop, or no such loop runs."""
        loop = self.loop
        current = asyncio._get_running_loop()  # noqa: SLF001 - None instead of an exception in other threads
        return loop is None or current is loop or not loop.is_running()

    def call_in_loop(self, function: Callable[[], object]) -> None:
        """Call a function soon in the thread of the session's event loop; from any thread."""
        if self.loop is not None:
            with suppress(RuntimeError):  # the loop has been closed: nobody displays anything any more
                self.loop.call_soon_threadsafe(function)


@frozen(kw_only=True, eq=False, repr=False)
class Runtime(ReprMixin):
    """The objects that all parts of a conversation share.

    Attributes:
        host: The plugins.
        settings: The user's settings.
        models: The models and their keys.
        resources: Skills, prompt templates, themes, context files.
        cwd: The working directory.
        manager: The session's tree and its store.
        registrations: The objects that plugins registered, for every session of the host or only for this session.
        hooks: Calls the plugins' hooks.
        plugins: The ``ctx`` and ``pi`` objects of plugins.
        events: The subscribers of the session's events.
        gate: The prompt that is being answered.
        agent: The loop with its state and queues.
        transcript: Passes messages to the agent, the tree and the subscribers.
        bridge: Implements the loop's callbacks by calling hooks.
        toolbox: All tools.
        prompts: Builds the system prompt.
        front_end: The program around the session.
        create_session: Creates a child session, with the options of ``create_agent_session``.
    """

    host: PluginHost
    settings: Settings
    models: ModelRegistry
    resources: ResourceLoader
    cwd: Path
    manager: SessionManager
    registrations: SessionRegistrations
    hooks: HookDispatcher
    plugins: PluginScope
    events: Subscribers
    gate: PromptGate
    agent: Agent
    transcript: Transcript
    bridge: HookBridge
    toolbox: Toolbox
    prompts: SystemPrompts
    front_end: FrontEnd
    create_session: Callable[..., Any]

    @property
    def ctx(self) -> PiContext:
        """The ``ctx`` that hooks currently get; a reload replaces it."""
        return self.plugins.ctx

    @property
    def signal(self) -> AbortSignal | None:
        """The abort signal of the current run, or, between the runs of a prompt, of the prompt; None while idle."""
        return self.agent.signal or self.gate.signal

    @property
    def is_streaming(self) -> bool:
        """Whether a prompt is being answered, including its boundaries, at which plugins may act."""
        return self.gate.signal is not None or self.agent.state.is_streaming

    @property
    def exit_code(self) -> int:
        """Exit code for a process that ends after the last prompt.

        0 if the prompt was answered, 1 if its answer failed or was aborted, or the code chosen by a plugin that refused
        a request or aborted the run.
        """
        answer = self.transcript.last_answer()
        if answer is None or answer.stop_reason not in ("error", "aborted"):
            return 0
        requests = self.bridge.requests
        return (requests.exit_code if requests.refused else None) or 1

    def required_model(self) -> Model:
        """Return the current model.

        Raises:
            NoModel: No model is selected.
        """
        model = self.agent.state.model
        if model is None:
            raise NoModel("No model selected. Choose one with --model PROVIDER/ID or the setting defaultModel.")
        return model

    async def emit(self, event: Any) -> None:
        """Call the session's subscribers with an event and wait for them."""
        await self.events.emit(event, self.signal)

    async def announce(self, kind: str, make: Callable[[], Any]) -> None:
        """Call the notify hook of this name, then the subscribers, with an event that is created only if needed.

        Args:
            kind: The hook's name, which is the event's type.
            make: Creates the event.
        """
        hooked, subscribed = self.hooks.listens(kind), self.events.listens(kind)
        if not (hooked or subscribed):
            return
        event = make()
        if hooked:
            await self.hooks.notify(event, self.ctx)
        if subscribed:
            await self.emit(event)

    def report_plugin_error(self, plugin: str, step: str, message: str, stack: str | None = None) -> None:
        """Emit ``extension_error``; see ``AgentSession.report_plugin_error``."""
        report_plugin_error(self.events, plugin, step, message, stack)


def report_plugin_error(events: Subscribers, plugin: str, step: str, message: str, stack: str | None = None) -> None:
    """Emit ``extension_error``; see ``Runtime.report_plugin_error``."""
    from pi_core.agent.safe_text import redacted
    from pi_hookspecs import ExtensionErrorEvent

    error, stack = redacted(message), stack and redacted(stack)
    events.emit_nowait(ExtensionErrorEvent(extension_path=plugin, event=step, error=error, stack=stack))
