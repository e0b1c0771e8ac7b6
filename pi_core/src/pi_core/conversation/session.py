"""``AgentSession``: the public interface of a conversation. Its parts do the work; see ``parts.py``."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, overload

from pi_core.conversation.parts import Parts

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pi_core.agent.queue import QueueMode
    from pi_core.agent.subscribers import Listener
    from pi_core.conversation.answer import Answer
    from pi_core.conversation.commands import PluginCommands
    from pi_core.conversation.compaction import CompactionRunner
    from pi_core.conversation.completing import PluginCompletions
    from pi_core.conversation.event_bus import Bus
    from pi_core.conversation.message_queue import MessageQueue
    from pi_core.conversation.model_selection import ModelCycle, ScopedModel
    from pi_core.conversation.offered_tools import OfferedTools
    from pi_core.conversation.outbox import Delivery
    from pi_core.conversation.rendering import Renderings
    from pi_core.conversation.retry import Retry
    from pi_core.conversation.runtime import Runtime
    from pi_core.conversation.streaming import PromptStream
    from pi_core.conversation.switching import ForkOutcome
    from pi_core.conversation.themes import Themes
    from pi_core.conversation.tree import TreeNavigator
    from pi_core.conversation.usage_limits import UsageLimits
    from pi_core.conversation.user_bash import UserBash
    from pi_core.host import PluginHost
    from pi_core.models.patterns import ModelMatch
    from pi_core.session import SessionManager
    from pi_core.session.stats import SessionStats
    from pi_hookspecs import (
        AbortSignal,
        AgentMessage,
        AssistantMessage,
        BashExecutionMessage,
        CacheWarmingState,
        ChildSession,
        CommandInfo,
        Compaction,
        Context,
        ContextUsage,
        CustomMessage,
        ExtensionErrorEvent,
        ImageContent,
        McpServer,
        Model,
        PiContext,
        Resource,
        SessionEntry,
        SideRequest,
        ThinkingLevel,
        Tool,
        ToolInfo,
        Touch,
        TreeNavigation,
        Usage,
        UserInterface,
    )
    from pi_hookspecs.messages import UserContent

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
        runtime.plugins.open(self.parts)
        self.host: PluginHost = runtime.host
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

    @property
    def local(self) -> AgentSession:
        """The session itself; None in a ``Session`` of another process."""
        return self

    @property
    def ctx(self) -> PiContext:
        """The ``ctx`` passed to hooks; a reload replaces it."""
        return self.runtime.ctx

    @property
    def signal(self) -> AbortSignal | None:
        """Abort signal of the current run or prompt."""
        return self.runtime.signal

    @property
    def is_streaming(self) -> bool:
        """Whether a prompt is being answered."""
        return self.runtime.is_streaming

    @property
    def mode(self) -> str:
        """The front end's name."""
        return self.runtime.front_end.mode

    @mode.setter
    def mode(self, value: str) -> None:
        self.runtime.front_end.mode = value

    @property
    def flags(self) -> dict[str, bool | str | None]:
        """Values of the plugins' options."""
        return self.runtime.front_end.flags

    @property
    def bus(self) -> Bus:
        """The event bus between plugins."""
        return self.parts.bus

    @property
    def ui(self) -> UserInterface:
        """Answers dialogs."""
        return self.runtime.front_end.ui

    @ui.setter
    def ui(self, value: UserInterface) -> None:
        self.runtime.front_end.ui = value

    @property
    def has_ui(self) -> bool:
        """Whether a user can answer dialogs."""
        return self.runtime.front_end.has_ui

    @has_ui.setter
    def has_ui(self, value: bool) -> None:
        self.runtime.front_end.has_ui = value

    def limit_commands(self, touches: Sequence[Touch] | None = ()) -> None:
        """Permit only those slash commands of plugins that touch nothing else, for front ends of other people.

        A command declares what it touches (``Command.touches``); one that declares nothing is refused under any limit.

        Args:
            touches: What commands may touch besides the conversation; None permits all commands.
        """
        self.runtime.front_end.command_limits = None if touches is None else frozenset(touches)

    @property
    def deps(self) -> Any:
        """The program's object for its tools and plugins."""
        return self.runtime.front_end.deps

    @deps.setter
    def deps(self, value: Any) -> None:
        self.runtime.front_end.deps = value

    @property
    def model(self) -> Model | None:
        """The current model."""
        return self.state.model

    @property
    def thinking_level(self) -> ThinkingLevel:
        """The current reasoning effort."""
        return self.state.thinking_level

    @property
    def system_prompt(self) -> str:
        """The system prompt as the next request would send it."""
        return self.state.system_prompt

    @property
    def messages(self) -> list[Any]:
        """The conversation as the next request would send it."""
        return self.state.messages

    @property
    def session_id(self) -> str:
        """The session's id."""
        return self.session_manager.id

    @property
    def session_file(self) -> Path | None:
        """The session's file; None if it is kept in memory."""
        return self.session_manager.file

    @property
    def session_name(self) -> str | None:
        """The name that the user gave the session."""
        return self.session_manager.name

    @property
    def exit_code(self) -> int:
        """Exit code if the process ends now; 0 after an answer."""
        return self.runtime.exit_code

    @property
    def is_compacting(self) -> bool:
        """Whether a compaction is running."""
        return self.parts.is_compacting

    @property
    def auto_compaction_enabled(self) -> bool:
        """Whether plugins may compact automatically."""
        return self.parts.compaction.enabled

    @property
    def is_retrying(self) -> bool:
        """Whether the delay before a retry is running."""
        return self.parts.retry.is_waiting

    @property
    def retry_attempt(self) -> int:
        """The number of the current retry; 0 if there is none."""
        return self.parts.retry.attempt

    @property
    def auto_retry_enabled(self) -> bool:
        """Whether failed requests are repeated."""
        return self.parts.retry.enabled

    @property
    def is_bash_running(self) -> bool:
        """Whether a command of the user is running."""
        return self.parts.bash.is_running

    @property
    def scoped_models(self) -> tuple[ScopedModel, ...]:
        """The models to cycle through."""
        return self.parts.models.scoped

    @property
    def children(self) -> tuple[ChildSession, ...]:
        """The child sessions that plugins created."""
        return self.parts.child_sessions

    # The parts that front ends use. Each is created on first use; its methods are documented there.

    @property
    def tree(self) -> TreeNavigator:
        """Moves within the tree of entries."""
        return self.parts.tree

    @property
    def queue(self) -> MessageQueue:
        """The messages that wait for the run."""
        return self.parts.queue

    @property
    def tools(self) -> OfferedTools:
        """The tools that the model is offered."""
        return self.parts.tools

    @property
    def commands(self) -> PluginCommands:
        """The slash commands, options and keys of plugins."""
        return self.parts.commands

    @property
    def completions(self) -> PluginCompletions:
        """Completions of the user's text."""
        return self.parts.completions

    @property
    def renderings(self) -> Renderings:
        """Displays values with the renderers of plugins."""
        return self.parts.renderings

    @property
    def themes(self) -> Themes:
        """The themes of plugins and folders."""
        return self.parts.themes

    @property
    def bash(self) -> UserBash:
        """The commands that the user runs with ``!``."""
        return self.parts.bash

    @property
    def retry(self) -> Retry:
        """Repeats failed requests."""
        return self.parts.retry

    @property
    def compaction(self) -> CompactionRunner:
        """Compacts the conversation."""
        return self.parts.compaction

    # Lifecycle

    async def __aenter__(self) -> Self:
        await self.start()
        if not self.runtime.front_end.depth:  # a child session shares the user of its parent
            for problem in (*self.models.warnings, *self.toolbox.warnings):
                warnings.warn(problem, stacklevel=2)  # for programs: front ends call start() and print them
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.dispose()

    async def start(self) -> None:
        """Activate the plugins and emit ``session_start``; by default the first prompt does this.

        Raises:
            PiError: The session has ended.
        """
        await self.parts.lifecycle.start()

    async def dispose(self) -> None:
        """Abort all running work, emit ``session_shutdown``, and release all resources.

        A cancellation ends only the current step; the remaining steps run before it is raised, because otherwise the
        usage of the session would not be stored.
        """
        await self.parts.lifecycle.end()

    async def until_shutdown(self) -> None:
        """Wait until a plugin has requested a shutdown (``ctx.shutdown``) and no prompt is being answered."""
        await self.parts.lifecycle.until_shutdown()

    async def reload(self) -> None:
        """Reload local extensions, settings and resources, and activate all plugins again.

        If an extension can no longer be loaded, its old version keeps running and the reason is reported. Installed
        plugins are not imported again, because Python cannot replace a module to which others refer. Plugins that were
        installed since the start are added. Other sessions of the same host keep the old versions until they reload.

        Raises:
            UserError: A prompt is being answered, or the conversation is being compacted.
        """
        await self.parts.reloader.reload()

    def watch_extensions(self) -> None:
        """Reload after each change to a file of a local extension, as soon as the session is idle."""
        self.parts.reloader.watch()

    async def bind_extensions(
        self,
        *,
        ui: UserInterface | None = None,
        shutdown_handler: Callable[[], Awaitable[None] | None] | None = None,
        on_error: Callable[[ExtensionErrorEvent], Awaitable[None] | None] | None = None,
    ) -> None:
        """Give the plugins a front end and start the session; a front end calls this first.

        Args:
            ui: Answers dialogs; None uses the one given to ``create_agent_session``.
            shutdown_handler: Called once, after a plugin has requested a shutdown, when no prompt is being answered.
            on_error: Called with the errors of plugins.

        Raises:
            PiError: The session has ended.
        """
        await self.parts.lifecycle.bind(ui=ui, shutdown_handler=shutdown_handler, on_error=on_error)

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

    async def emit(self, event: Any) -> None:
        """Call the session's subscribers with an event and wait for them."""
        await self.runtime.emit(event)

    def problems(self) -> Iterator[str]:
        """Yield what the user should know about settings, plugins, models, tools and the stored session."""
        from pi_core.host.records import sentences_of

        yield from self.settings.problems
        yield from sentences_of(self.host.problems)
        yield from self.models.warnings
        yield from self.toolbox.warnings
        yield from self.session_manager.notices

    def report_plugin_error(self, plugin: str, step: str, message: str, stack: str | None = None) -> None:
        """Emit ``extension_error`` without waiting for the subscribers; may be called from anywhere.

        Args:
            plugin: The plugin's name; a part of pi is named in parentheses, such as ``(session)``.
            step: The hook, or where else the error occurred.
            message: What happened, for the user.
            stack: The traceback as text.
        """
        self.runtime.report_plugin_error(plugin, step, message, stack)

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
        task, aborts the prompt, and the session can be used again immediately. If you keep the stream in a variable,
        close it with ``await stream.aclose()``, or use ``async with contextlib.aclosing(...)``.

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

    async def complete(self, context: Context, request: SideRequest) -> AssistantMessage:
        """Return the answer, or the error with which it ended after the last retry.

        The tokens of every answer are recorded in the session as a ``usage`` entry, except for a summary whose own
        entry contains them.

        Raises:
            NoModel: No model is selected.
            MissingKey: The model's provider has no key.
        """
        return await self.parts.requests.complete(context, request)

    async def continue_(self) -> AssistantMessage | None:
        """Continue from the transcript until the run has settled, and return the last answer.

        The run retries a failed request, or answers messages that were queued while the session was idle.

        Raises:
            AgentBusy: A run is in progress.
            NoModel: No model is selected.
            MissingKey: The model's provider has no key.
            PiError: There is nothing to continue from.
        """
        return await self.parts.turns.resume()

    def steer(self, text: str, images: Sequence[ImageContent] = ()) -> Awaitable[None]:
        """Queue a text for the next request; skills and templates are expanded.

        Returns:
            An awaitable that waits until the text is queued. Texts without a leading slash are queued immediately.

        Raises:
            UserError: The text is a plugin's command, which cannot be queued.
        """
        return self.parts.outbox.steer(text, images)

    def follow_up(self, text: str, images: Sequence[ImageContent] = ()) -> Awaitable[None]:
        """Queue a text to be delivered when the agent would otherwise stop; apart from that like ``steer``."""
        return self.parts.outbox.follow_up(text, images)

    async def send_user_message(
        self, content: str | Sequence[UserContent], *, deliver_as: Literal["steer", "followUp"] | None = None
    ) -> AssistantMessage | None:
        """Send a message on behalf of the user; commands and templates in it are not expanded.

        Raises:
            AgentBusy: A run is in progress, and ``deliver_as`` does not specify how to queue the message.
        """
        return await self.parts.outbox.send_user_message(content, deliver_as=deliver_as)

    async def send_custom_message(
        self, message: CustomMessage, *, trigger_turn: bool = False, deliver_as: Delivery | None = None
    ) -> AssistantMessage | None:
        """Store a plugin's message while idle, queue it during a run, or add it to the next prompt (``nextTurn``).

        Args:
            message: The message for the model.
            trigger_turn: Whether the message is answered immediately while the session is idle.
            deliver_as: How to queue the message.
        """
        return await self.parts.outbox.send_message(message, trigger_turn=trigger_turn, deliver_as=deliver_as)

    send_message = send_custom_message

    def request_abort(self, reason: str = "Operation aborted", *, exit_code: int | None = None) -> None:
        """Abort the current prompt, a compaction and the summary of a branch; queued messages stay queued.

        Args:
            reason: Why the prompt is aborted.
            exit_code: Exit code of a process that ends after this prompt; None means 1.
        """
        self.parts.lifecycle.request_abort(reason, exit_code=exit_code)

    async def abort(self, reason: str = "Operation aborted") -> None:
        """Call ``request_abort`` and wait until everything has settled.

        Inside the prompt, in a listener or a hook, this does not wait, because the prompt settles only afterwards.
        """
        await self.parts.lifecycle.abort(reason)

    async def wait_for_idle(self) -> None:
        """Wait until no prompt is being answered and ``agent_settled`` was emitted; do not wait inside a prompt."""
        await self.parts.lifecycle.wait_for_idle()

    # Queues

    @property
    def steering_mode(self) -> QueueMode:
        """Steering messages per delivery."""
        return self.agent.steering_mode

    @steering_mode.setter
    def steering_mode(self, value: QueueMode) -> None:
        self.agent.steering_mode = value

    @property
    def follow_up_mode(self) -> QueueMode:
        """Follow-ups per delivery."""
        return self.agent.follow_up_mode

    @follow_up_mode.setter
    def follow_up_mode(self, value: QueueMode) -> None:
        self.agent.follow_up_mode = value

    @property
    def pending_message_count(self) -> int:
        """How many messages are queued."""
        return self.parts.queue.count

    def set_steering_mode(self, mode: QueueMode) -> None:
        """Set how many steering messages are delivered at a time in this session."""
        self.parts.queue.set_steering_mode(mode)

    def set_follow_up_mode(self, mode: QueueMode) -> None:
        """Set how many follow-ups are delivered at a time in this session."""
        self.parts.queue.set_follow_up_mode(mode)

    def get_steering_messages(self) -> tuple[str, ...]:
        """Return the texts of the steering queue."""
        return self.parts.queue.steering_texts()

    def get_follow_up_messages(self) -> tuple[str, ...]:
        """Return the texts of the follow-up queue."""
        return self.parts.queue.follow_up_texts()

    def clear_queue(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Clear both queues and return their texts."""
        return self.parts.queue.clear()

    def has_queued_messages(self) -> bool:
        """Whether either queue holds a message."""
        return self.agent.has_queued_messages()

    def peek_queued_messages(self) -> tuple[tuple[AgentMessage, ...], tuple[AgentMessage, ...]]:
        """Return the queued steering messages and follow-ups, without removing them."""
        return self.agent.peek_queued_messages()

    def take_user_texts(self) -> list[str]:
        """Remove the user's messages from both queues and return their texts; messages of plugins stay queued."""
        return self.parts.queue.take_user_texts()

    def take_queued_message(self, queue: Literal["steer", "followUp"], place: int) -> AgentMessage | None:
        """Remove the message at a place of a queue and return it; None if the queue has no such place."""
        return self.parts.queue.take_one(queue, place)

    def clear_steering_queue(self) -> list[AgentMessage]:
        """Clear the steering queue and return its messages."""
        return self.parts.queue.clear_steering()

    def clear_follow_up_queue(self) -> list[AgentMessage]:
        """Clear the follow-up queue and return its messages."""
        return self.parts.queue.clear_follow_up()

    def clear_all_queues(self) -> list[AgentMessage]:
        """Clear both queues and return their messages, steering first."""
        return self.parts.queue.clear_all()

    # The conversation

    def reset(self) -> None:
        """Clear the conversation, the queues and the error; keep the model, the system prompt and the tools.

        Raises:
            AgentBusy: A run is in progress.
        """
        self.agent.reset()

    def last_answer(self) -> AssistantMessage | None:
        """Return the last assistant message of the context; None before the first."""
        return self.runtime.transcript.last_answer()

    def get_last_assistant_text(self) -> str | None:
        """Return the last answer's text without surrounding whitespace; None if there is none.

        Answers without text that failed, were aborted or cut, or only call tools, are skipped.
        """
        return self.runtime.transcript.last_text()

    def get_branch(self) -> Sequence[SessionEntry]:
        """Return the entries of the current branch, from its first one."""
        return self.session_manager.get_branch()

    def append_entry(self, custom_type: str, data: Any = None) -> str:
        """Append a plugin's data, outside the model's context."""
        return self.session_manager.append_custom_entry(custom_type, data)

    def set_label(self, target_id: str, label: str | None) -> str:
        """Label an entry; None removes its label.

        Raises:
            UserError: There is no such entry.
        """
        return self.session_manager.append_label_change(target_id, label)

    async def set_session_name(self, name: str | None) -> None:
        """Name the session; None or an empty text removes the name."""
        await self.parts.switcher.set_name(name)

    @property
    def cache_warming(self) -> CacheWarmingState | None:
        """The next decision on keeping the prompt in the provider's cache; None if there is none to make."""
        return self.parts.cache_warming

    def get_session_stats(self) -> SessionStats:
        """Return messages, tokens and dollars of all branches, and how full the window is."""
        return self.parts.usage.stats()

    def get_context_usage(self) -> ContextUsage | None:
        """Return how full the window is, by the last answer's own count plus an estimate for later messages.

        Returns:
            None without a model; ``tokens`` and ``percent`` are None while unknown, for example after a compaction.
        """
        return self.parts.usage.context()

    async def export(self, path: str | Path | None = None, *, export_format: str | None = None) -> Path:
        """Write the session in the format of the file's suffix, HTML by default.

        A long session takes seconds, in a separate thread; messages that arrive meanwhile may be missing.

        Args:
            path: The file, relative to the session's working directory; None uses ``pi-session-...`` in that directory.
            export_format: The format; None selects it by the suffix.

        Returns:
            The file; a relative path if the session's working directory is also the working directory of the process.

        Raises:
            UserError: There is nothing to export, no exporter for the format, or the file cannot be written.
            PiError: The exporter failed.
        """
        return await self.parts.exporter.export(path, export_format=export_format)

    async def export_to_html(self, path: str | Path | None = None) -> Path:
        """Write all branches as one HTML page; see ``export``."""
        return await self.parts.exporter.export_html(path)

    export_html = export_to_html

    async def export_to_jsonl(self, path: str | Path) -> Path:
        """Write the branch as a separate session file, whatever its suffix; see ``export``."""
        return await self.parts.exporter.export_jsonl(path)

    export_jsonl = export_to_jsonl

    @property
    def usage(self) -> Usage:
        """Tokens and cost of every answer so far."""
        return self.parts.usage.total()

    # Switching and forking sessions, navigating the tree, compaction

    async def new_session(
        self,
        *,
        parent_session: str | None = None,
        setup: Callable[[SessionManager], Awaitable[None] | None] | None = None,
    ) -> bool:
        """Begin a new conversation; a running prompt is aborted. Subscribers and plugins are kept.

        Args:
            parent_session: File that the new session names as its parent.
            setup: Called with the new session before its ``session_start``, to add entries.

        Returns:
            False if a plugin cancelled it.
        """
        return await self.parts.switcher.new(parent_session=parent_session, setup=setup)

    async def switch_session(self, session_path: str | Path) -> bool:
        """Open a stored conversation with its model and thinking level; return False if a plugin cancelled this.

        Raises:
            UserError: It is not a session; the current session stays open.
        """
        return await self.parts.switcher.switch(session_path)

    async def import_from_jsonl(self, path: str | Path) -> bool:
        """Copy a session file into the store and open it; return False if a plugin cancelled this.

        Raises:
            UserError: The file is not a session, a session with its id is already stored, or it cannot be stored.
        """
        return await self.parts.switcher.import_file(path)

    async def fork(self, entry_id: str, position: Literal["before", "at"] = "before") -> ForkOutcome:
        """Open a copy of the conversation that ends before a user message, or ``at`` any entry.

        Raises:
            UserError: The entry does not exist, or is not a user message.
        """
        return await self.parts.switcher.fork(entry_id, position)

    async def clone(self) -> bool:
        """Open a copy of the active branch; return False if a plugin cancelled this.

        Raises:
            UserError: There is nothing to copy yet.
        """
        return await self.parts.switcher.clone()

    def get_user_messages_for_forking(self) -> list[tuple[str, str]]:
        """Return the id and the text of every user message on the branch, oldest first."""
        return self.parts.switcher.user_messages()

    async def navigate_tree(
        self,
        target_id: str,
        *,
        summarize: bool = False,
        custom_instructions: str | None = None,
        replace_instructions: bool = False,
        label: str | None = None,
    ) -> TreeNavigation:
        """Continue from another entry; for a user message, from before it, with its text for editing.

        Args:
            target_id: The entry.
            summarize: Whether to add a summary of the abandoned branch before the messages that follow.
            custom_instructions: Instructions on what the summary should cover.
            replace_instructions: Whether they replace the summarizer's own instructions.
            label: A label for the entry.

        Raises:
            AgentBusy: A prompt is being answered, or another call is in progress.
            UserError: The entry does not exist, or no plugin summarizes.
            PiError: The summary failed; the conversation stays at its current entry.
        """
        return await self.parts.tree.navigate(
            target_id,
            summarize=summarize,
            custom_instructions=custom_instructions,
            replace_instructions=replace_instructions,
            label=label,
        )

    def abort_branch_summary(self) -> None:
        """Stop the summary in progress; the conversation stays at its current entry."""
        self.parts.tree.abort()

    async def compact(self, custom_instructions: str | None = None) -> Compaction:
        """Compact the conversation; a running prompt is aborted first.

        Raises:
            UserError: There is nothing to compact, or no plugin can do it.
            Aborted: A plugin or ``abort`` stopped it.
            PiError: The compaction failed; the session is unchanged.
        """
        return await self.parts.compaction.compact_now(custom_instructions)

    def abort_compaction(self) -> None:
        """Abort the running compaction and all that wait for it; the session is not changed."""
        self.parts.compaction.abort()

    def set_auto_compaction_enabled(self, enabled: bool) -> None:  # noqa: FBT001 - the contract's shape
        """Allow or forbid compactions other than manual ones in this session."""
        self.parts.compaction.set_enabled(enabled)

    def abort_retry(self) -> None:
        """Cancel the pending retry."""
        self.parts.retry.abort()

    def set_auto_retry_enabled(self, enabled: bool) -> None:  # noqa: FBT001 - the contract's shape
        """Allow or forbid retries in this session."""
        self.parts.retry.set_enabled(enabled)

    # Model and tools

    async def resolve_model(self, reference: str) -> ModelMatch:
        """Return the model that a name means, and the thinking level of its ``:level`` suffix.

        Servers that may have the model are asked first, unless it is known and usable.

        Raises:
            UserError: No model is meant, or several are.
        """
        return await self.models.resolve(reference)

    async def set_model(
        self, model: Model, source: Literal["set", "cycle", "restore"] = "set", *, persist: bool | None = None
    ) -> None:
        """Set the model, starting with the next run, and record it in the session.

        The thinking level becomes the nearest level that the model supports.

        Args:
            model: The model.
            source: The reason for the change, for plugins.
            persist: Whether to make it the default as well; None uses the setting ``persistModelChoice``.

        Raises:
            MissingKey: The model's provider has no key.
        """
        await self.parts.models.set_model(model, source, persist=persist)

    async def set_thinking_level(self, level: ThinkingLevel, *, persist: bool | None = None, note: bool = True) -> None:
        """Set the reasoning effort, starting with the next run, and record it in the session.

        Args:
            level: The effort; an unsupported level is replaced by the nearest supported one.
            persist: Whether to write it into the settings; None uses the setting ``persistModelChoice``.
            note: Whether to store it in the session; False if it comes from there.
        """
        await self.parts.models.set_level(level, persist=persist, note=note)

    async def cycle_model(self, direction: Literal["forward", "backward"] = "forward") -> ModelCycle | None:
        """Select the next scoped model, or the next available model; None if there is no other model."""
        return await self.parts.models.cycle_model(direction)

    async def cycle_thinking_level(self) -> ThinkingLevel | None:
        """Select the next thinking level of the model; None if it has no other level."""
        return await self.parts.models.cycle_level()

    def set_scoped_models(self, models: Iterable[ScopedModel]) -> None:
        """Cycle only through these models; an empty sequence means all available models."""
        self.parts.models.set_scope(models)

    def get_available_models(self) -> list[Model]:
        """Return the models that can be used: their provider has a key, or needs none."""
        return self.models.available(self.model)

    def get_available_thinking_levels(self) -> tuple[ThinkingLevel, ...]:
        """Return the thinking levels of the model.

        Raises:
            NoModel: No model is selected.
        """
        return self.parts.models.levels()

    def supports_thinking(self) -> bool:
        """Return whether the model supports reasoning."""
        return self.parts.models.supports_thinking()

    def supports_xhigh_thinking(self) -> bool:
        """Return whether the model supports the level ``xhigh``."""
        return self.parts.models.supports_xhigh()

    def get_active_tool_names(self) -> list[str]:
        """Return the names of the active tools."""
        return self.parts.tools.names()

    get_active_tools = get_active_tool_names

    def set_active_tools_by_name(self, names: Sequence[str]) -> None:
        """Activate exactly these tools, starting with the next request; unknown names are ignored.

        The session records which deferred tools are among them.
        """
        self.parts.tools.select(names)

    set_active_tools = set_active_tools_by_name

    def get_all_tools(self) -> list[ToolInfo]:
        """Return all tools that can be activated, sorted by name."""
        return self.parts.tools.infos()

    def add_tool(self, tool: Tool, plugin: str) -> Callable[[], None]:
        """Add a plugin's tool at run time; return a function that removes it."""
        return self.parts.tools.add(tool, plugin)

    def get_mcp_servers(self) -> tuple[McpServer, ...]:
        """Return the server in use for each name."""
        return self.parts.mcp_servers.all()

    # Shell commands of the user, commands and renderers of plugins

    async def execute_bash(
        self,
        command: str,
        on_output: Callable[[str], object] | None = None,
        *,
        exclude_from_context: bool = False,
        operations: Any = None,
        id: str | None = None,  # noqa: A002 - its name in RPC
    ) -> BashExecutionMessage:
        """Run a command of the user; the model gets its result with the next prompt, unless it is excluded.

        Args:
            command: The command for the shell.
            on_output: Called with its output as it arrives.
            exclude_from_context: Keep the result only in the session (``!!``).
            operations: Runs the command in another place than this machine; a plugin's answer to ``user_bash`` takes
                precedence.
            id: An id that every ``bash_execution_update`` contains.

        Raises:
            PiError: A plugin refused the command, or no plugin can run it.
        """
        return await self.parts.bash.execute(
            command, on_output, exclude_from_context=exclude_from_context, operations=operations, id=id
        )

    def record_bash_result(self, message: BashExecutionMessage) -> None:
        """Add a command's result to the conversation now, or after the current answer."""
        self.parts.bash.record(message)

    def abort_bash(self) -> None:
        """Stop the running commands."""
        self.parts.bash.abort()

    def get_flag(self, name: str) -> bool | str | None:
        """Return a command line option's value, else its default; None for an unknown option."""
        return self.parts.commands.flag(name)

    async def get_commands(self) -> tuple[CommandInfo, ...]:
        """Return plugins' commands, prompt templates, skills, and other texts that ``expand_prompt`` expands.

        If several have the same name, only the one that a prompt would run is returned.
        """
        return await self.parts.commands.infos()

    async def get_prompt_templates(self) -> tuple[Resource, ...]:
        """Return all prompt templates; the first call reads their files."""
        return tuple((await self.resources.load("prompt")).resources)
