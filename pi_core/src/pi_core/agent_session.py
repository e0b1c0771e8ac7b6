"""``AgentSession``: a prompt's way from the user's text to a settled session, with every hook on the way.

It puts plugins, tools, settings and the session's tree around an ``Agent`` (document 000, section 1.7).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from pi_core._hook_bridge import HookBridge, custom_message
from pi_core.agent import Agent
from pi_core.context import NoUserInterface, PluginAPI, SessionContext, ToolCallContext
from pi_core.convert import convert_to_llm
from pi_core.loop import LoopCallbacks
from pi_core.system_prompt import build_system_prompt
from pi_hookspecs import (
    AgentBeforeSettleEvent,
    AgentBusy,
    AgentSettledEvent,
    AssistantMessage,
    NoModel,
    StreamOptions,
    TextContent,
    Usage,
    UserMessage,
)
from pi_hookspecs.specs import agent as agent_specs

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence
    from pathlib import Path

    from pi_core.hooks import HookFailure, HookTrace
    from pi_core.host import PluginHost
    from pi_core.model_registry import ModelRegistry
    from pi_core.session import SessionManager
    from pi_core.settings import Settings
    from pi_core.toolbox import Toolbox
    from pi_hookspecs import (
        AbortSignal,
        AgentEvent,
        CustomMessage,
        ImageContent,
        Model,
        NewEntry,
        ThinkingLevel,
        Tool,
        ToolCall,
        ToolUpdate,
        UserInterface,
    )

__all__ = ["AgentSession", "SessionListener"]

SessionListener: TypeAlias = "Callable[[Any], Awaitable[None] | None]"
"""Called with every event of the agent and the session; awaited before the next."""

_NOTIFIED_BY_BRIDGE = frozenset({"message_end", "turn_end"})
"""Hooks that have an answer, asked while the loop waits for it."""

_NEEDS_BEHAVIOR = "Agent is already processing. Specify streamingBehavior ('steer' or 'followUp') to queue the message."


class AgentSession:
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
        ui: UserInterface | None = None,
        has_ui: bool = False,
        mode: str = "print",
        trace: Callable[[HookTrace], None] | None = None,
    ) -> None:
        self.host = host
        self.settings = settings
        self.models = models
        self.session_manager = session_manager
        self.toolbox = toolbox
        self.cwd = cwd
        self.mode = mode
        self.has_ui = has_ui
        self.ui: UserInterface = ui or NoUserInterface()
        self.shutdown_requested = asyncio.Event()
        self.hooks = host.dispatcher(self._report, trace)
        self.ctx = SessionContext(self)
        self._custom_prompt = system_prompt
        self._appended_prompt = tuple(append_system_prompt)
        self._listeners: list[SessionListener] = []
        self._late: set[asyncio.Future[None]] = set()
        self._next_turn: list[CustomMessage] = []
        self._bridge = HookBridge(self.hooks, self.ctx, self._add_entries)
        self.agent = self._make_agent(model, thinking_level)

    def _make_agent(self, model: Model | None, thinking_level: ThinkingLevel) -> Agent:
        setting = self.settings.get
        agent = Agent(
            stream=self._stream,
            model=model,
            thinking_level=thinking_level,
            options=StreamOptions(
                session_id=self.session_id,
                on_payload=self._bridge.on_payload,
                on_response=self._bridge.on_response,
            ),
            steering_mode="all" if setting("steeringMode") == "all" else "one-at-a-time",
            follow_up_mode="all" if setting("followUpMode") == "all" else "one-at-a-time",
            callbacks=LoopCallbacks(
                convert_to_llm=convert_to_llm,
                transform_context=self._bridge.transform_context,
                get_api_key=self._api_key,
                before_tool_call=self._bridge.before_tool_call,
                after_tool_call=self._bridge.after_tool_call,
                finish_message=self._bridge.finish_message,
                finish_turn=self._bridge.finish_turn,
                tool_context=self._tool_context,
                tool_execution="sequential" if setting("toolExecution") == "sequential" else "parallel",
                steering_interrupt=mode if (mode := setting("steeringInterrupt")) in ("wait", "skip") else None,
            ),
        )
        agent.subscribe(self._on_agent_event)
        return agent

    # Life

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.dispose()

    async def start(self) -> None:
        """Activate the plugins and tell them that the session begins."""
        for plugin, activate in self.host.activations():
            self._activate(plugin, activate)
        self._use_tools()
        await self._notify_if_heard("session_start", lambda events: events.SessionStartEvent())

    async def dispose(self) -> None:
        """Stop what runs, tell the plugins that the session ends, and let go of everything."""
        self.agent.abort("Session ended")
        await self.agent.wait_for_idle()
        await self._notify_if_heard("session_shutdown", lambda events: events.SessionShutdownEvent())
        if self._late:
            await asyncio.wait(self._late)
        self.hooks.close()

    # What it is

    @property
    def session_id(self) -> str:
        """The session's id."""
        return self.session_manager.id

    @property
    def model(self) -> Model | None:
        """Who answers."""
        return self.agent.state.model

    @property
    def thinking_level(self) -> ThinkingLevel:
        """How hard it thinks."""
        return self.agent.state.thinking_level

    @property
    def is_streaming(self) -> bool:
        """Whether a run is going on."""
        return self.agent.state.is_streaming

    @property
    def messages(self) -> list[Any]:
        """The conversation as the model is told it."""
        return self.agent.state.messages

    @property
    def usage(self) -> Usage:
        """Tokens and cost of every answer so far."""
        answers = (message for message in self.messages if isinstance(message, AssistantMessage))
        return sum((answer.usage for answer in answers), Usage())

    def context_tokens(self) -> int | None:
        """Tokens of the context by the last answer's own count; None before the first."""
        for message in reversed(self.messages):
            if isinstance(message, AssistantMessage) and message.usage.total_tokens:
                return message.usage.total_tokens
        return None

    def subscribe(self, listener: SessionListener, *types: str) -> Callable[[], None]:
        """Tell a listener of every event, or of those types alone; returns the way to unsubscribe.

        A type may be an event's (``turn_end``) or a stream event's (``text_delta``).
        """
        call = listener if not types else _only(listener, frozenset(types))
        self._listeners = [*self._listeners, call]

        def unsubscribe() -> None:
            self._listeners = [each for each in self._listeners if each is not call]

        return unsubscribe

    # A prompt

    async def prompt(
        self,
        text: str,
        *,
        images: Sequence[ImageContent] = (),
        streaming_behavior: Literal["steer", "followUp"] | None = None,
        source: str = "interactive",
        expand_prompt_templates: bool = True,
    ) -> AssistantMessage | None:
        """Answer a text and return the last answer, once everything that follows from it is done.

        Returns:
            The last assistant message; None when a command or a plugin dealt with the text, or it was queued.

        Raises:
            AgentBusy: A run is going on and ``streaming_behavior`` does not say how to queue.
            NoModel: No model is selected.
            MissingKey: The model's provider has no key.
        """
        if expand_prompt_templates and await self._run_command(text):
            return None
        said = await self._ask_input(text, tuple(images), source, streaming_behavior)
        if said is None:
            return None
        message = _user_message(*said)
        if self.is_streaming:
            self._queue(message, streaming_behavior)
            return None
        self._check_model()
        self._next_turn, waiting = [], self._next_turn
        injected = await self._ask_before_agent_start(*said)
        await self._run_until_settled([message, *waiting, *injected])
        return self.last_answer()

    def last_answer(self) -> AssistantMessage | None:
        """Return the last assistant message; None before the first."""
        return next((each for each in reversed(self.messages) if isinstance(each, AssistantMessage)), None)

    def steer(self, text: str, images: Sequence[ImageContent] = ()) -> None:
        """Say something before the next request."""
        self.agent.steer(_user_message(text, images))

    def follow_up(self, text: str, images: Sequence[ImageContent] = ()) -> None:
        """Say something when the agent would otherwise stop."""
        self.agent.follow_up(_user_message(text, images))

    async def abort(self, reason: str = "Operation aborted") -> None:
        """Stop the run that is going on and wait until it has settled."""
        self.agent.abort(reason)
        await self.agent.wait_for_idle()

    def append_entry(self, custom_type: str, data: Any = None) -> str:
        """Store plain data in the session, outside the model's context; returns the entry's id."""
        return self.session_manager.append_custom_entry(custom_type, data)

    def add_tool(self, tool: Tool, plugin: str) -> Callable[[], None]:
        """Add a tool at run time, on behalf of a plugin; returns how to take it away."""
        take_away = self.toolbox.add(tool, plugin)
        self._use_tools()

        def remove() -> None:
            take_away()
            self._use_tools()

        return remove

    # Steps of a prompt

    async def _run_command(self, text: str) -> bool:
        if not text.startswith("/"):
            return False
        name, _, arguments = text[1:].partition(" ")
        found = self.host.find("register_commands", name)
        if found is None:
            return False
        waiting = found.thing.handler(arguments.strip(), self.ctx)
        if waiting is not None:
            await waiting
        return True

    async def _ask_input(
        self, text: str, images: tuple[ImageContent, ...], source: str, behavior: Literal["steer", "followUp"] | None
    ) -> tuple[str, tuple[ImageContent, ...]] | None:
        """Return what was said as the plugins left it; None when one of them dealt with it."""
        if not self.hooks.listens("input"):
            return text, images
        from pi_hookspecs import InputEvent

        event = InputEvent(text=text, images=images, source=source, streaming_behavior=behavior)
        answer = await self.hooks.call(agent_specs.input, event, self.ctx)
        if answer is None:
            return text, images
        if answer.handled:
            return None
        return (
            text if answer.text is None else answer.text,
            images if answer.images is None else tuple(answer.images),
        )

    def _queue(self, message: UserMessage, behavior: Literal["steer", "followUp"] | None) -> None:
        if behavior is None:
            raise AgentBusy(_NEEDS_BEHAVIOR)
        (self.agent.steer if behavior == "steer" else self.agent.follow_up)(message)

    def _check_model(self) -> None:
        if self.model is None:
            message = "No model selected. Choose one with --model PROVIDER/ID or the setting defaultModel."
            raise NoModel(message)
        self.models.api_key(self.model.provider)

    async def _ask_before_agent_start(self, text: str, images: tuple[ImageContent, ...]) -> tuple[CustomMessage, ...]:
        """Let plugins change this run's system prompt and return the messages that they add."""
        base = self._base_prompt()
        self.agent.set_system_prompt(base)
        if not self.hooks.listens("before_agent_start"):
            return ()
        from pi_hookspecs import BeforeAgentStartEvent

        event = BeforeAgentStartEvent(prompt=text, images=images, system_prompt=base)
        answer = await self.hooks.call(agent_specs.before_agent_start, event, self.ctx)
        if answer is None:
            return ()
        if answer.system_prompt is not None:
            self.agent.set_system_prompt(answer.system_prompt)
        return answer.messages

    async def _run_until_settled(self, messages: list[Any]) -> None:
        """Run, and run on for as long as a plugin wants it at the boundary before settling."""
        await self.agent.prompt(messages)
        while await self._wants_to_run_on():
            await self.agent.run_on()
        answer = self.last_answer()
        settled = AgentSettledEvent(aborted=answer is not None and answer.stop_reason == "aborted")
        await self.hooks.notify(settled, self.ctx)
        await self._tell(settled)

    async def _wants_to_run_on(self) -> bool:
        if not self.hooks.listens("agent_before_settle"):
            return False
        answer = self.last_answer()
        reason = answer.stop_reason if answer is not None else "error"
        event = AgentBeforeSettleEvent(
            outcome="error" if reason == "error" else "aborted" if reason == "aborted" else "completed",
            messages=tuple(self.messages),
            entries=tuple(self.session_manager.branch()),
        )
        wish = await self.hooks.call(agent_specs.agent_before_settle, event, self.ctx)
        if wish is None:
            return False
        self._add_entries(wish.entries)
        return bool(wish.continue_) and reason != "aborted"

    def _add_entries(self, entries: Iterable[NewEntry]) -> None:
        """Append entries that plugins asked for; those with content reach the model with the next request."""
        for entry in entries:
            if entry.content is None:
                self.append_entry(entry.custom_type, entry.data)
            elif self.is_streaming:
                self.agent.steer(custom_message(entry))
            else:
                message = custom_message(entry)
                self.agent.append_message(message)
                self.session_manager.append_message(message)

    # What the agent asks for

    def _stream(self, model: Model, context: Any, options: StreamOptions) -> Any:
        return self.models.stream_of(model)(model, context, options)

    async def _api_key(self, provider: str) -> str | None:
        return self.models.api_key(provider)

    def _tool_context(self, call: ToolCall, update: ToolUpdate) -> Any:
        signal: AbortSignal | None = self.agent.signal
        assert signal is not None  # noqa: S101 - tools run only inside a run
        return ToolCallContext(self.ctx, call, update, signal)

    def _base_prompt(self) -> str:
        return build_system_prompt(self.agent.state.tools, self.cwd, self._custom_prompt, self._appended_prompt)

    def _use_tools(self) -> None:
        self.agent.set_tools(self.toolbox.active())
        if not self.is_streaming:
            self.agent.set_system_prompt(self._base_prompt())

    # Events

    async def _on_agent_event(self, event: AgentEvent) -> None:
        """Ask the hook, keep the message, tell the subscribers: in this order."""
        kind = event.type
        if kind not in _NOTIFIED_BY_BRIDGE:
            if kind == "agent_start":
                self._forward_abort()
            await self.hooks.notify(event, self.ctx)
        elif event.type == "message_end":
            self.session_manager.append_message(event.message)
        for listener in self._listeners:
            waiting = listener(event)
            if waiting is not None:
                await waiting

    def _forward_abort(self) -> None:
        signal = self.agent.signal
        if signal is not None:
            signal.on_abort(lambda: self.hooks.abort(signal))

    async def _tell(self, event: Any) -> None:
        for listener in self._listeners:
            waiting = listener(event)
            if waiting is not None:
                await waiting

    async def _notify_if_heard(self, name: str, make: Callable[[Any], Any]) -> None:
        if self.hooks.listens(name):
            import pi_hookspecs

            await self.hooks.notify(make(pi_hookspecs), self.ctx)

    def _activate(self, plugin: str, activate: Callable[..., Any]) -> None:
        from pi_core.host.guarded import guarded

        with guarded(lambda message: self._complain(plugin, "activate", message), "activate"):
            activate(PluginAPI(self, plugin))

    def _report(self, failure: HookFailure) -> None:
        self._complain(failure.plugin, failure.hook, str(failure), failure.stack)

    def _complain(self, plugin: str, step: str, message: str, stack: str | None = None) -> None:
        """Tell the subscribers of a plugin's failure, from wherever it happened; the run does not wait for them."""
        from pi_hookspecs import ExtensionErrorEvent

        event = ExtensionErrorEvent(extension_path=plugin, event=step, error=message, stack=stack)
        for listener in self._listeners:
            waiting = listener(event)
            if waiting is not None:
                late = asyncio.ensure_future(waiting)
                self._late.add(late)
                late.add_done_callback(self._late.discard)


def _user_message(text: str, images: Sequence[ImageContent] = ()) -> UserMessage:
    return UserMessage(content=(TextContent(text), *images))


def _only(listener: SessionListener, types: frozenset[str]) -> SessionListener:
    def call(event: Any) -> Awaitable[None] | None:
        inner = getattr(event, "assistant_message_event", None)
        if event.type in types or (inner is not None and inner.type in types):
            return listener(event)
        return None

    return call
