"""``AgentSession``: a prompt's way from the user's text to a settled session, with every hook on the way.

It puts plugins, tools, settings and the session's tree around an ``Agent``.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal, Self

from pi_core.agent.subscribers import Subscribers
from pi_core.base.process.forks import ForkGuard
from pi_core.conversation.actions import SessionActions
from pi_core.conversation.agent_delegate import AgentDelegate
from pi_core.conversation.build_agent import make_agent
from pi_core.conversation.controls import SessionControls
from pi_core.conversation.hook_bridge import HookBridge
from pi_core.conversation.outbox import Sending
from pi_core.conversation.parts import SessionParts
from pi_core.conversation.program_calls import ProgramCalls
from pi_core.conversation.prompt_gate import PromptGate
from pi_core.conversation.prompt_record import PromptRecord
from pi_core.conversation.prompt_steps import PromptSteps
from pi_core.conversation.queries import SessionQueries
from pi_core.conversation.resources import discover_resources, tell_of_problems
from pi_core.conversation.retry import Retry
from pi_core.conversation.run_events import RunEvents
from pi_core.conversation.system_prompts import SystemPrompts
from pi_core.conversation.tool_choice import SessionTools
from pi_core.plugin_api.context import NoUserInterface, PluginContext
from pi_core.plugin_api.handles import ENDED, Handles
from pi_core.plugin_api.registrations import SessionRegistrations
from pi_core.resources import DefaultResourceLoader
from pi_core.system_prompt import SystemPromptBuilder
from pi_hookspecs import AgentBusy, PiError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from pi_core.agent.subscribers import Listener
    from pi_core.conversation.prompt_call import PromptCall
    from pi_core.conversation.toolbox import Toolbox
    from pi_core.conversation.usage_limits import UsageLimits
    from pi_core.hooks.reports import HookFailure, HookTrace
    from pi_core.host import PluginHost
    from pi_core.models.registry import ModelRegistry
    from pi_core.session import SessionManager
    from pi_core.settings import Settings
    from pi_hookspecs import (
        AbortSignal,
        AgentMessage,
        AssistantMessage,
        Compaction,
        CompactionReason,
        Context,
        ImageContent,
        Model,
        ResourceLoader,
        SessionEntry,
        SideRequest,
        ThinkingLevel,
        ToolCall,
        ToolResult,
        UserInterface,
    )

__all__ = ["AgentSession"]


class AgentSession(AgentDelegate, ProgramCalls, SessionQueries, SessionControls, SessionTools, SessionActions):
    """A conversation with its model, tools and plugins. Make one with ``create_agent_session``.

    Use it as ``async with``: entering starts it (``activate``, ``session_start``), leaving shuts it down.
    """

    def __init__(
        self,
        *,
        host: PluginHost,
        settings: Settings,
        models: ModelRegistry,
        session_manager: SessionManager,
        toolbox: Toolbox,
        cwd: Path,
        model: Model | None = None,
        thinking_level: ThinkingLevel = "medium",
        system_prompt: str | None = None,
        append_system_prompt: Sequence[str] = (),
        resources: ResourceLoader | None = None,
        ui: UserInterface | None = None,
        has_ui: bool = False,
        mode: str = "print",
        flags: Mapping[str, bool | str | None] | None = None,
        deps: Any = None,
        trace: Callable[[HookTrace], None] | None = None,
    ) -> None:
        self.host = host
        self.settings = settings
        self.models = models
        self.session_manager = session_manager
        self.toolbox = toolbox
        self.cwd = cwd
        self.mode = mode
        self.deps = deps
        self.has_ui = has_ui
        self.ui: UserInterface = ui or NoUserInterface()
        self.shutdown_requested = asyncio.Event()
        self.flags = dict(flags or {})
        self.depth = 0
        self.handles = Handles()
        self.registered = SessionRegistrations(host)
        self.listeners = Subscribers()  # first: the dispatcher may have a circle in the order to report at once
        self.hooks = host.dispatcher(self._report, trace)
        session_manager.on_problem = lambda message: self.complain("(session)", "store", message)
        session_manager.on_append = self._tell_of_entry
        self.resources = resources or DefaultResourceLoader(cwd=cwd, settings=settings, host=host)
        self.ctx = PluginContext(self)
        tell_of_problems(self)
        builder = SystemPromptBuilder(system_prompt, append_system_prompt)
        self.system_prompts = SystemPrompts(builder, self.prompt_inputs, self.hooks, lambda: self.ctx)
        self._fork_guard = ForkGuard(self._in_child)
        self._started = self._ended = False
        self._starting = asyncio.Lock()
        self._gate = PromptGate(self.hooks.abort)
        self._steps = PromptSteps(self, self._gate)
        self.bridge = HookBridge(self.hooks, self.ctx, self._steps.add_entries)
        self.summaries_made: list[tuple[AssistantMessage, SideRequest]] = []
        self.retry = Retry(self)
        self._run_events = RunEvents(self)
        self.sending = Sending(self)
        self.parts = SessionParts(self)
        self.prompt_record = PromptRecord(self)
        self.agent = make_agent(self, model, thinking_level)
        self.agent.subscribe(self._run_events.on_event)

    # Life

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.dispose()

    async def start(self) -> None:
        """Activate the plugins and tell them that the session begins; the first prompt does it otherwise.

        Raises:
            PiError: The session has ended.
        """
        if self._ended:
            raise PiError("This session has ended; make another one with create_agent_session")
        self._fork_guard.work_here()
        async with self._starting:
            if self._started:
                return
            self._started = True
            self.parts.activations.begin()
            self.use_tools()
            await self._notify_if_heard("session_start", lambda events: events.SessionStartEvent())
            await discover_resources(self, "startup")

    async def dispose(self) -> None:
        """Stop what runs, tell the plugins that the session ends, and let go of everything."""
        if self._ended:
            return
        self._ended = True
        self.hooks.keep_last_hook()
        self.parts.end()
        await self.abort("Session ended")
        if self._started:
            await self._notify_if_heard("session_shutdown", lambda events: events.SessionShutdownEvent())
        self.session_manager.close()
        self.parts.activations.end(ENDED)
        await self.listeners.settled()
        self.hooks.close()
        self.handles.retire(ENDED)
        self._fork_guard.release()

    def _in_child(self) -> None:
        """Keep a process that a plugin has forked, a copy of this one, from going on with the session."""
        self.session_manager.stop_storing()
        self.hooks.end_in_child()

    # What it is

    def is_project_trusted(self) -> bool:
        """Whether files of the project itself may be used: settings, extensions, skills, prompts."""
        return self.settings.trust_of(self.cwd).is_trusted

    @property
    def is_streaming(self) -> bool:
        """Whether a prompt is being answered; its boundaries, where plugins may act, are part of it."""
        return self._gate.signal is not None or self.agent.state.is_streaming

    @property
    def is_beginning(self) -> bool:
        """Whether plugins are being told that the session begins, so that no prompt can be answered yet."""
        return self._starting.locked() or self.parts.is_reloading

    @property
    def signal(self) -> AbortSignal | None:
        """The abort of the present run, between runs of the present prompt; None while idle."""
        return self.agent.signal or self._gate.signal

    @property
    def call(self) -> PromptCall | None:
        """What a program asked of the prompt that is being answered, beyond its text."""
        return self._gate.call

    @property
    def prompt_signal(self) -> AbortSignal | None:
        """The abort of the present prompt with all its runs; None while idle."""
        return self._gate.signal

    def subscribe(self, listener: Listener, *types: str) -> Callable[[], None]:
        """Tell a listener of every event, or of those types alone; returns the way to unsubscribe.

        A type may be an event's (``turn_end``) or a stream event's (``text_delta``). The listener may be
        ``async`` and may take the run's abort signal as a second argument; it is awaited before the next.
        """
        return self.listeners.add(listener, frozenset(types))

    # A prompt

    async def prompt(
        self,
        prompt: str | AgentMessage | Iterable[AgentMessage],
        *,
        images: Sequence[ImageContent] = (),
        streaming_behavior: Literal["steer", "followUp"] | None = None,
        source: str = "interactive",
        expand_prompt_templates: bool = True,
        on_accepted: Callable[[Literal["started", "queued", "handled"]], object] = bool,
        limits: UsageLimits | None = None,
    ) -> AssistantMessage | None:
        """Answer a text and return the last answer, once everything that follows from it is done.

        A message, or several, go to the agent as they are: neither commands nor the ``input`` hook see them.
        ``on_accepted`` is called once with what becomes of it, before the first event.

        Returns:
            The last assistant message, also one that failed or was aborted (``stop_reason``); None when a command or a
            plugin dealt with the text, or it was queued.

        Raises:
            AgentBusy: A run is going on and ``streaming_behavior`` does not say how to queue, or ``limits`` are given,
                which are those of the prompt that begins a run.
            UsageLimitExceeded: One of ``limits`` was reached.
            NoModel: No model is selected.
            MissingKey: The model's provider has no key.
        """
        call = None
        if limits is not None:
            from pi_core.conversation.prompt_call import PromptCall

            call = PromptCall(limits)
        return await self._steps.prompt(
            prompt,
            images=images,
            behavior=streaming_behavior,
            source=source,
            expand=expand_prompt_templates,
            on_accepted=on_accepted,
            call=call,
        )

    async def continue_(self) -> AssistantMessage | None:
        """Go on from the transcript, for retries and for messages that were queued while idle.

        Raises:
            AgentBusy: A run is going on.
            PiError: There is nothing to continue from.
        """
        await self.start()
        await self.left_stream_settled()
        if self.is_streaming:
            raise AgentBusy("Agent is already processing. Wait for completion before continuing.")
        self.models.check(self.required_model())
        with self._gate.prompt() as stop:
            await self._steps.resume(stop)
        return self.last_answer()

    def steer(self, text: str, images: Sequence[ImageContent] = ()) -> Awaitable[None]:
        """Say something before the next request; skills and templates are expanded.

        Returns:
            Waits until it is queued. A text that does not begin with a slash is queued already.

        Raises:
            UserError: It is a plugin's command, which cannot be queued.
        """
        return self.sending.say(text, images, "steer", self._steps.expand)

    def follow_up(self, text: str, images: Sequence[ImageContent] = ()) -> Awaitable[None]:
        """Say something when the agent would otherwise stop; otherwise as ``steer``."""
        return self.sending.say(text, images, "followUp", self._steps.expand)

    def request_abort(self, reason: str = "Operation aborted") -> None:
        """Stop the prompt that is being answered, a compaction, a summary of a branch; what is queued stays."""
        self._gate.abort(reason)
        self.agent.abort(reason)
        self.parts.abort_summaries()

    async def abort(self, reason: str = "Operation aborted") -> None:
        """Stop what ``request_abort`` stops and wait until it has settled.

        From inside it, in a listener or a hook, there is nothing to wait for: it settles after that.
        """
        self.request_abort(reason)
        await self.wait_for_idle()
        await self.parts.compacted()

    async def wait_for_idle(self) -> None:
        """Return when no prompt is being answered and ``agent_settled`` was told; at once from inside the prompt."""
        await self._gate.empty()
        if self._gate.signal is None:
            await self.agent.wait_for_idle()  # somebody may have used the agent past the session

    def is_inside_prompt(self) -> bool:
        """Whether it is the prompt's own task that asks: a hook, a listener."""
        return self._gate.signal is not None and self._gate.is_inside()

    async def compact_for(
        self, custom_instructions: str | None, reason: CompactionReason, *, will_retry: bool
    ) -> Compaction | None:
        """Compact, see ``PiContext.compact``: by hand a run is aborted first, unless it is the run that asks."""
        await self.start()
        if reason == "manual" and self.is_streaming and not self._gate.is_inside():
            await self.abort("Compacting")
        return await self.parts.compacting.compact(custom_instructions, reason, will_retry=will_retry)

    async def complete(self, context: Context, request: SideRequest) -> AssistantMessage:
        """Ask the model something beside the conversation, see ``PiContext.complete``."""
        from pi_core.conversation.side_requests import SideRequests

        return await SideRequests(self).complete(context, request)

    def create_helper(self, options: Mapping[str, Any], signal: AbortSignal | None) -> AgentSession:
        """Return a session for a plugin's helper, see ``SessionPort.create_helper``."""
        from pi_core.conversation.helper_session import create_helper

        return create_helper(self, signal, options)

    async def execute_tool(
        self, call: ToolCall, signal: AbortSignal, on_update: Callable[[ToolResult], None]
    ) -> ToolResult:
        """Run a tool that another tool calls, see ``SessionPort.execute_tool``."""
        from pi_core.conversation.nested_calls import execute_tool

        return await execute_tool(self, call, signal, on_update)

    async def emit(self, event: Any) -> None:
        """Call the session's subscribers with an event and wait for them."""
        await self.listeners.emit(event, self.signal)

    def report_plugin_error(self, plugin: str, step: str, message: str, stack: str | None = None) -> None:
        """Emit ``extension_error`` without waiting for the subscribers; may be called from anywhere."""
        from pi_hookspecs import ExtensionErrorEvent

        self.listeners.emit_nowait(ExtensionErrorEvent(extension_path=plugin, event=step, error=message, stack=stack))

    tell, complain = emit, report_plugin_error

    # The conversation, for the steps of a session

    def take_context(self) -> None:
        """Tell the model, from its next request on, what the session's tree holds on its branch now."""
        self.agent.replace_messages(self.session_manager.conversation())

    def drop_failed_answer(self) -> None:
        """Take the failed, or truncated, answer out of the model's context; the session keeps it."""
        entry_id, answer = self._run_events.last_answer_id, self.last_answer()
        if entry_id is not None and answer is not None and answer.stop_reason in ("error", "aborted", "length"):
            self.session_manager.append_context_edit(entry_id, None)
            self.take_context()

    def free(self) -> None:
        """Let the next prompt begin: the present one has only to be told as settled."""
        self._gate.free()
        self.parts.take_deferred()

    def _tell_of_entry(self, entry: SessionEntry) -> None:
        """Emit ``entry_appended`` for entries that no message event tells of."""
        if entry.type != "message":
            from pi_hookspecs import EntryAppendedEvent

            self.listeners.emit_nowait(EntryAppendedEvent(entry=entry))

    async def _notify_if_heard(self, name: str, make: Callable[[Any], Any]) -> None:
        if self.hooks.listens(name):
            import pi_hookspecs

            await self.hooks.notify(make(pi_hookspecs), self.ctx)

    def _report(self, failure: HookFailure) -> None:
        self.complain(failure.plugin, failure.hook, str(failure), failure.stack)
