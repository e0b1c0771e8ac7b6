"""``AgentSession``: the public interface of a conversation; its members delegate to the parts."""

# ruff: noqa: TC004 - type checkers read the names in the lambdas, which are never called
from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, overload

from pi_core.base.forwarding import Method, attribute
from pi_core.conversation.parts import Parts
from pi_core.conversation.port import PluginPort

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from pi_core.agent.agent import Agent
    from pi_core.agent.queue import QueueMode
    from pi_core.agent.subscribers import Listener
    from pi_core.conversation.answer import Answer
    from pi_core.conversation.commands import PluginCommands
    from pi_core.conversation.compaction import CompactionRunner
    from pi_core.conversation.completing import PluginCompletions
    from pi_core.conversation.exporter import Exporter
    from pi_core.conversation.lifecycle import Lifecycle
    from pi_core.conversation.message_queue import MessageQueue
    from pi_core.conversation.model_selection import ModelSelection, ScopedModel
    from pi_core.conversation.offered_tools import OfferedTools
    from pi_core.conversation.outbox import Outbox
    from pi_core.conversation.prompt_gate import PromptGate
    from pi_core.conversation.reload import Reloader
    from pi_core.conversation.rendering import Renderings
    from pi_core.conversation.retry import Retry
    from pi_core.conversation.runtime import Runtime
    from pi_core.conversation.side_requests import SideRequests
    from pi_core.conversation.streaming import PromptStream
    from pi_core.conversation.switching import SessionSwitcher
    from pi_core.conversation.themes import Themes
    from pi_core.conversation.transcript import Transcript
    from pi_core.conversation.tree import TreeNavigator
    from pi_core.conversation.turn import PromptTurns
    from pi_core.conversation.usage import SessionUsage
    from pi_core.conversation.usage_limits import UsageLimits
    from pi_core.conversation.user_bash import UserBash
    from pi_core.plugin_api.context import PluginContext
    from pi_core.plugin_api.event_bus import Bus
    from pi_core.plugin_api.mcp_servers import McpServers
    from pi_core.session import SessionManager
    from pi_hookspecs import (
        AbortSignal,
        AgentMessage,
        AssistantMessage,
        ChildSession,
        ImageContent,
        Model,
        Resource,
        ThinkingLevel,
        Usage,
        UserInterface,
    )

__all__ = ["AgentSession"]

T = TypeVar("T")


class AgentSession:
    """A conversation with its model, tools and plugins. Create one with ``create_agent_session``.

    Use it with ``async with``: entering starts the session (``activate``, ``session_start``), leaving shuts it down.

    Args:
        runtime: The objects that all parts of the session share.
    """

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.parts = Parts(runtime)
        runtime.plugins.open(PluginPort(self.parts))
        self.host = runtime.host
        self.settings = self.settings_manager = runtime.settings
        self.models = self.model_registry = runtime.models
        self.resources = self.resource_loader = runtime.resources
        self.session_manager = runtime.manager
        self.agent = runtime.agent
        self.state = runtime.agent.state
        self.hooks = runtime.hooks
        self.registered = runtime.registrations
        self.toolbox = runtime.toolbox
        self.cwd = runtime.cwd
        self.system_prompts = runtime.prompts
        self.shutdown_requested = runtime.front_end.shutdown_requested

    ctx: PluginContext = attribute("runtime.ctx", "The ``ctx`` passed to hooks; a reload replaces it.")
    signal: AbortSignal | None = attribute("runtime.signal", "Abort signal of the current run or prompt.")
    prompt_signal: AbortSignal | None = attribute("runtime.gate.signal", "Abort signal of the current prompt.")
    is_streaming: bool = attribute("runtime.is_streaming", "Whether a prompt is being answered.")
    mode: str = attribute("runtime.front_end.mode", "The front end's name.", writable=True)
    flags: dict[str, bool | str | None] = attribute("runtime.front_end.flags", "Values of the plugins' options.")
    bus: Bus = attribute("parts.bus", "The event bus between plugins.")
    ui: UserInterface = attribute("runtime.front_end.ui", "Answers dialogs.", writable=True)
    has_ui: bool = attribute("runtime.front_end.has_ui", "Whether a user can answer dialogs.", writable=True)
    deps: Any = attribute("runtime.front_end.deps", "The program's object for its tools and plugins.", writable=True)
    model: Model | None = attribute("state.model", "The current model.")
    thinking_level: ThinkingLevel = attribute("state.thinking_level", "The current reasoning effort.")
    system_prompt: str = attribute("state.system_prompt", "The system prompt as the next request would send it.")
    messages: list[Any] = attribute("state.messages", "The conversation as the next request would send it.")
    session_id: str = attribute("session_manager.id", "The session's id.")
    session_file: Path | None = attribute("session_manager.file", "The session's file; None if it is kept in memory.")
    session_name: str | None = attribute("session_manager.name", "The name that the user gave the session.")
    exit_code: int = attribute("runtime.exit_code", "Exit code if the process ends now; 0 after an answer.")
    is_compacting: bool = attribute("parts.is_compacting", "Whether a compaction is running.")
    auto_compaction_enabled: bool = attribute("parts.compaction.enabled", "Whether plugins may compact automatically.")
    is_retrying: bool = attribute("parts.retry.is_waiting", "Whether the delay before a retry is running.")
    retry_attempt: int = attribute("parts.retry.attempt", "The number of the current retry; 0 if there is none.")
    auto_retry_enabled: bool = attribute("parts.retry.enabled", "Whether failed requests are repeated.")
    is_bash_running: bool = attribute("parts.bash.is_running", "Whether a command of the user is running.")
    scoped_models: tuple[ScopedModel, ...] = attribute("parts.models.scoped", "The models to cycle through.")

    children: tuple[ChildSession, ...] = attribute("parts.child_sessions", "The child sessions that plugins created.")

    # Lifecycle

    async def __aenter__(self) -> Self:
        await self.start()
        if not self.runtime.front_end.depth:  # a child session shares the user of its parent
            for problem in (*self.models.warnings, *self.toolbox.warnings):
                warnings.warn(problem, stacklevel=2)  # for programs: front ends call start() and print them
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.dispose()

    start = Method("parts.lifecycle.start", lambda: Lifecycle.start)
    dispose = Method("parts.lifecycle.end", lambda: Lifecycle.end)
    until_shutdown = Method("parts.lifecycle.until_shutdown", lambda: Lifecycle.until_shutdown)
    reload = Method("parts.reloader.reload", lambda: Reloader.reload)
    watch_extensions = Method("parts.reloader.watch", lambda: Reloader.watch)

    bind_extensions = Method("parts.lifecycle.bind", lambda: Lifecycle.bind)

    def is_project_trusted(self) -> bool:
        """Return whether the project's own settings, extensions, skills and prompts may be used."""
        return self.settings.trust_of(self.cwd).is_trusted

    # Events

    def subscribe(self, listener: Listener, *types: str) -> Callable[[], None]:
        """Call a listener with every event, or with events of the given types; return a function that unsubscribes.

        A type is the type of an event (``turn_end``) or of a stream event (``text_delta``). The listener may be
        ``async`` and may take the run's abort signal as a second argument. Each listener is awaited before the next
        one is called.
        """
        return self.runtime.events.add(listener, frozenset(types))

    tell = emit = Method("runtime.emit", lambda: Runtime.emit)
    complain = report_plugin_error = Method("runtime.report_plugin_error", lambda: Runtime.report_plugin_error)

    # Prompts

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
        trace_context: Mapping[str, str] | None = None,
    ) -> AssistantMessage | None:
        """Send a prompt and return the last answer once the run has settled.

        Message objects go to the agent unchanged; neither commands nor the ``input`` hook process them.
        ``on_accepted`` is called once, before the first event, with the disposition of the prompt. ``trace_context``
        contains the ``traceparent`` and ``tracestate`` of the caller's span; tracing plugins and the programs that
        tools start receive it.

        Returns:
            The last assistant message, even if it failed or was aborted (see its ``stop_reason``). None if a command
            or a plugin handled the text, or if the prompt was queued.

        Raises:
            AgentBusy: A run is in progress, and ``streaming_behavior`` is not given or ``limits`` are given. Only a
                prompt that starts a run accepts ``limits``.
            UsageLimitExceeded: One of ``limits`` was reached.
            NoModel: No model is selected.
            MissingKey: The model's provider has no key.
        """
        call = None
        if limits is not None:
            from pi_core.conversation.prompt_call import PromptCall

            call = PromptCall(limits)
        return await self.parts.turns.prompt(
            prompt,
            images=images,
            behavior=streaming_behavior,
            source=source,
            expand=expand_prompt_templates,
            on_accepted=on_accepted,
            call=call,
            trace_context=trace_context,
        )

    @overload
    async def ask(
        self,
        prompt: str,
        *,
        output_type: None = None,
        images: Sequence[ImageContent] = (),
        limits: UsageLimits | None = None,
    ) -> Answer[str]: ...
    @overload
    async def ask(
        self,
        prompt: str,
        *,
        output_type: type[T],
        images: Sequence[ImageContent] = (),
        limits: UsageLimits | None = None,
    ) -> Answer[T]: ...
    @overload
    async def ask(
        self, prompt: str, *, output_type: Any, images: Sequence[ImageContent] = (), limits: UsageLimits | None = None
    ) -> Answer[Any]: ...
    async def ask(
        self,
        prompt: str,
        *,
        output_type: Any = None,
        images: Sequence[ImageContent] = (),
        limits: UsageLimits | None = None,
    ) -> Answer[Any]:
        """Send a prompt and return the answer as a value; unlike ``prompt``, raise an error if there is no answer.

        Args:
            prompt: The text. Commands, skills and templates work as in ``prompt``.
            output_type: The type of the answer: a JSON schema as a dict, an attrs class, a dataclass, a
                ``TypedDict``, a pydantic model, a primitive, a list, or a union of these. The system prompt requests
                this type, and the API enforces it if it can. An answer that does not match is sent back once.
            images: Images to send with the text.
            limits: Usage limits of the prompt, including the correction of an answer that does not match.

        Returns:
            The answer. Its ``output`` is the data, or the text if no ``output_type`` is given.

        Raises:
            RequestFailed: The request to the model failed, even after the retries of the installed retry policy.
            Aborted: The prompt was aborted.
            InvalidOutput: The answer does not match ``output_type``, even after it was sent back.
            UsageLimitExceeded: A limit was reached; the conversation can continue.
            AgentBusy: Another prompt is being answered.
            PiError: A command or a plugin handled the prompt, so there is no data. Without ``output_type``, the
                answer is the empty text and no error is raised.
        """
        return await self.parts.calls.ask(prompt, output_type, images, limits)

    def stream(
        self, prompt: str, *, images: Sequence[ImageContent] = (), limits: UsageLimits | None = None
    ) -> PromptStream:
        """Send a prompt and yield the session's events; ``agent_settled`` is the last one.

        Use it as ``async for event in session.stream("..."):``; ``session.stream("...").text()`` yields only the text.
        The prompt starts with the first iteration. Leaving the loop early, by ``break``, an exception or a cancelled
        task, aborts the prompt, and the session can be used again at once. If you keep the stream in a variable, close
        it with ``await stream.aclose()``, or use ``async with contextlib.aclosing(...)``.

        A slow consumer slows the run down: the run waits while a thousand events are queued. Code inside the loop must
        therefore not wait for the run to end (``wait_for_idle``), but it may await ``abort``.

        Args:
            prompt: The prompt; see ``prompt``.
            images: Images to send with the text.
            limits: Usage limits of the prompt.

        Raises:
            AgentBusy: Another prompt is being answered; raised by the first iteration.
            UsageLimitExceeded: A limit was reached; raised after the last event.
            NoModel: No model is selected.
            MissingKey: The model's provider has no key.
        """
        return self.parts.calls.stream(prompt, images, limits)

    complete = Method("parts.requests.complete", lambda: SideRequests.complete)
    continue_ = Method("parts.turns.resume", lambda: PromptTurns.resume)
    steer = Method("parts.outbox.steer", lambda: Outbox.steer)
    follow_up = Method("parts.outbox.follow_up", lambda: Outbox.follow_up)
    send_user_message = Method("parts.outbox.send_user_message", lambda: Outbox.send_user_message)
    send_message = send_custom_message = Method("parts.outbox.send_message", lambda: Outbox.send_message)
    request_abort = Method("parts.lifecycle.request_abort", lambda: Lifecycle.request_abort)
    abort = Method("parts.lifecycle.abort", lambda: Lifecycle.abort)
    is_inside_prompt = Method("runtime.gate.is_inside_prompt", lambda: PromptGate.is_inside_prompt)
    wait_for_idle = Method("parts.lifecycle.wait_for_idle", lambda: Lifecycle.wait_for_idle)

    # Queues

    steering_mode: QueueMode = attribute("agent.steering_mode", "Steering messages per delivery.", writable=True)
    follow_up_mode: QueueMode = attribute("agent.follow_up_mode", "Follow-ups per delivery.", writable=True)
    pending_message_count: int = attribute("parts.queue.count", "How many messages are queued.")
    set_steering_mode = Method("parts.queue.set_steering_mode", lambda: MessageQueue.set_steering_mode)
    set_follow_up_mode = Method("parts.queue.set_follow_up_mode", lambda: MessageQueue.set_follow_up_mode)
    get_steering_messages = Method("parts.queue.steering_texts", lambda: MessageQueue.steering_texts)
    get_follow_up_messages = Method("parts.queue.follow_up_texts", lambda: MessageQueue.follow_up_texts)
    clear_queue = Method("parts.queue.clear", lambda: MessageQueue.clear)
    has_queued_messages = Method("agent.has_queued_messages", lambda: Agent.has_queued_messages)
    peek_queued_messages = Method("agent.peek_queued_messages", lambda: Agent.peek_queued_messages)
    clear_steering_queue = Method("parts.queue.clear_steering", lambda: MessageQueue.clear_steering)
    clear_follow_up_queue = Method("parts.queue.clear_follow_up", lambda: MessageQueue.clear_follow_up)
    clear_all_queues = Method("parts.queue.clear_all", lambda: MessageQueue.clear_all)

    # The conversation

    reset = Method("agent.reset", lambda: Agent.reset)
    last_answer = Method("runtime.transcript.last_answer", lambda: Transcript.last_answer)
    get_last_assistant_text = Method("runtime.transcript.last_text", lambda: Transcript.last_text)
    take_context = Method("runtime.transcript.take_branch", lambda: Transcript.take_branch)
    append_entry = Method("session_manager.append_custom_entry", lambda: SessionManager.append_custom_entry)
    set_label = Method("session_manager.append_label_change", lambda: SessionManager.append_label_change)
    set_session_name = Method("parts.switcher.set_name", lambda: SessionSwitcher.set_name)
    get_session_stats = Method("parts.usage.stats", lambda: SessionUsage.stats)
    get_context_usage = Method("parts.usage.context", lambda: SessionUsage.context)
    context_tokens = Method("parts.usage.context_tokens", lambda: SessionUsage.context_tokens)
    export = Method("parts.exporter.export", lambda: Exporter.export)
    export_html = export_to_html = Method("parts.exporter.export_html", lambda: Exporter.export_html)
    export_jsonl = export_to_jsonl = Method("parts.exporter.export_jsonl", lambda: Exporter.export_jsonl)

    @property
    def usage(self) -> Usage:
        """Tokens and cost of every answer so far."""
        return self.parts.usage.total()

    # Switching and forking sessions, navigating the tree, compaction

    new_session = Method("parts.switcher.new", lambda: SessionSwitcher.new)
    switch_session = Method("parts.switcher.switch", lambda: SessionSwitcher.switch)
    import_from_jsonl = Method("parts.switcher.import_file", lambda: SessionSwitcher.import_file)
    fork = Method("parts.switcher.fork", lambda: SessionSwitcher.fork)
    clone = Method("parts.switcher.clone", lambda: SessionSwitcher.clone)
    get_user_messages_for_forking = Method("parts.switcher.user_messages", lambda: SessionSwitcher.user_messages)
    navigate_tree = Method("parts.tree.navigate", lambda: TreeNavigator.navigate)
    abort_branch_summary = Method("parts.tree.abort", lambda: TreeNavigator.abort)
    compact = Method("parts.compaction.compact_now", lambda: CompactionRunner.compact_now)
    abort_compaction = Method("parts.compaction.abort", lambda: CompactionRunner.abort)
    set_auto_compaction_enabled = Method("parts.compaction.set_enabled", lambda: CompactionRunner.set_enabled)
    abort_retry = Method("parts.retry.abort", lambda: Retry.abort)
    set_auto_retry_enabled = Method("parts.retry.set_enabled", lambda: Retry.set_enabled)

    # Model and tools

    required_model = Method("runtime.required_model", lambda: Runtime.required_model)
    set_model = Method("parts.models.set_model", lambda: ModelSelection.set_model)
    set_thinking_level = Method("parts.models.set_level", lambda: ModelSelection.set_level)
    cycle_model = Method("parts.models.cycle_model", lambda: ModelSelection.cycle_model)
    cycle_thinking_level = Method("parts.models.cycle_level", lambda: ModelSelection.cycle_level)
    set_scoped_models = Method("parts.models.set_scope", lambda: ModelSelection.set_scope)
    get_available_thinking_levels = Method("parts.models.levels", lambda: ModelSelection.levels)
    supports_thinking = Method("parts.models.supports_thinking", lambda: ModelSelection.supports_thinking)
    supports_xhigh_thinking = Method("parts.models.supports_xhigh", lambda: ModelSelection.supports_xhigh)
    get_active_tools = get_active_tool_names = Method("parts.tools.names", lambda: OfferedTools.names)
    set_active_tools = set_active_tools_by_name = Method("parts.tools.select", lambda: OfferedTools.select)
    get_all_tools = Method("parts.tools.infos", lambda: OfferedTools.infos)
    use_tools = Method("parts.tools.offer", lambda: OfferedTools.offer)
    add_tool = Method("parts.tools.add", lambda: OfferedTools.add)
    get_mcp_servers = Method("parts.mcp_servers.all", lambda: McpServers.all)

    # Shell commands of the user, commands and renderers of plugins

    execute_bash = Method("parts.bash.execute", lambda: UserBash.execute)
    record_bash_result = Method("parts.bash.record", lambda: UserBash.record)
    abort_bash = Method("parts.bash.abort", lambda: UserBash.abort)
    run_program = Method("ctx.exec", lambda: PluginContext.exec)
    get_flag = Method("parts.commands.flag", lambda: PluginCommands.flag)
    get_commands = Method("parts.commands.infos", lambda: PluginCommands.infos)
    complete_arguments = Method("parts.completions.arguments", lambda: PluginCompletions.arguments)
    complete_command = Method("parts.completions.words", lambda: PluginCompletions.words)
    complete_mention = Method("parts.completions.mentions", lambda: PluginCompletions.mentions)
    get_shortcuts = Method("parts.commands.shortcuts", lambda: PluginCommands.shortcuts)
    press_key = Method("parts.commands.press_key", lambda: PluginCommands.press_key)
    render_custom = Method("parts.renderings.custom", lambda: Renderings.custom)
    render_custom_lines = Method("parts.renderings.custom_lines", lambda: Renderings.custom_lines)
    render_tool_call = Method("parts.renderings.tool_call", lambda: Renderings.tool_call)
    render_tool_result = Method("parts.renderings.tool_result", lambda: Renderings.tool_result)
    get_themes = Method("parts.themes.all", lambda: Themes.all)
    transform_markdown = Method("parts.renderings.markdown", lambda: Renderings.markdown)

    async def get_prompt_templates(self) -> tuple[Resource, ...]:
        """Return all prompt templates; the first call reads their files."""
        return tuple((await self.resources.load("prompt")).resources)
