"""``SessionPort``: the protocol through which ``pi`` and ``ctx`` use a session; they depend on nothing else of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from pathlib import Path

    from pi_core.agent.subscribers import Listener
    from pi_core.hooks.dispatcher import HookDispatcher
    from pi_core.host import PluginHost
    from pi_core.models.registry import ModelRegistry
    from pi_core.plugin_api.components import Components
    from pi_core.plugin_api.event_bus import Bus
    from pi_core.plugin_api.handles import Handles
    from pi_core.plugin_api.mcp_servers import McpServers
    from pi_core.plugin_api.registrations import SessionRegistrations
    from pi_core.plugin_api.settings import PluginSettings
    from pi_core.plugin_api.ui_prompts import UIPrompts
    from pi_core.session import SessionManager
    from pi_core.settings import Settings
    from pi_hookspecs import (
        AbortSignal,
        AssistantMessage,
        CacheWarmingState,
        ChildSession,
        CommandInfo,
        Compaction,
        CompactionReason,
        Context,
        ContextUsage,
        CustomMessage,
        Model,
        PiContext,
        PromptPart,
        ResourceLoader,
        SideRequest,
        ThinkingLevel,
        Tool,
        ToolCall,
        ToolInfo,
        ToolResult,
        TreeNavigation,
        Usage,
        UserInterface,
    )
    from pi_hookspecs.messages import UserContent

__all__ = ["ChildSessionPort", "ForkOutcome", "PluginMessages", "ProviderPort", "ScopedModel", "SessionPort"]


class ScopedModel(Protocol):
    """A model that the user cycles through."""

    @property
    def model(self) -> Model:
        """The model."""
        ...


class ForkOutcome(Protocol):
    """The result of a fork."""

    @property
    def cancelled(self) -> bool:
        """Whether a plugin cancelled it."""
        ...

    @property
    def selected_text(self) -> str:
        """The text of the user message at the fork, for editing."""
        ...


class ChildSessionPort(Protocol):
    """A child session that a plugin created: the members of ``AgentSession`` that this package uses."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *_: object) -> None: ...

    async def prompt(self, prompt: str, /) -> AssistantMessage | None:
        """Send a prompt and return the last answer."""
        ...

    def subscribe(self, listener: Listener, *types: str) -> Callable[[], None]:
        """Call a listener with every event of these types; return a function that unsubscribes."""
        ...


class PluginMessages(Protocol):
    """Sends messages of plugins; awaiting the result waits for the answer."""

    def send_message_of(
        self,
        plugin: str,
        message: CustomMessage,
        *,
        trigger_turn: bool,
        deliver_as: Literal["steer", "followUp", "nextTurn"] | None,
    ) -> Awaitable[AssistantMessage | None]:
        """Add a plugin's message to the conversation, see ``PiAPI.send_message``."""
        ...

    def send_user_message_of(
        self, plugin: str, content: str | Sequence[UserContent], deliver_as: Literal["steer", "followUp"] | None
    ) -> Awaitable[AssistantMessage | None]:
        """Add a message as the user; see ``PiAPI.send_user_message``."""
        ...


class ProviderPort(Protocol):
    """The objects needed to register providers; they are available before there is a session."""

    @property
    def host(self) -> PluginHost:
        """The plugin host, with the plugins' registrations."""
        ...

    @property
    def models(self) -> ModelRegistry:
        """The models and their keys."""
        ...


class SessionPort(ProviderPort, Protocol):
    """The members of a session that plugins use."""

    # Constant during the session

    @property
    def cwd(self) -> Path:
        """The working directory."""
        ...

    @property
    def mode(self) -> str:
        """The front end's name."""
        ...

    @property
    def deps(self) -> Any:
        """The object that the program gave to its tools and plugins."""
        ...

    @property
    def settings(self) -> Settings:
        """The user's settings."""
        ...

    @property
    def prompt_parts(self) -> Sequence[PromptPart]:
        """The parts of the system prompt, each with the plugin that added it."""
        ...

    @property
    def plugin_settings(self) -> PluginSettings:
        """The user's settings as plugins may read and change them."""
        ...

    @property
    def resources(self) -> ResourceLoader:
        """Skills, prompt templates, themes, context files."""
        ...

    @property
    def session_manager(self) -> SessionManager:
        """The conversation's tree; switching sessions replaces the open session inside it."""
        ...

    @property
    def hooks(self) -> HookDispatcher:
        """Calls event hooks."""
        ...

    @property
    def registered(self) -> SessionRegistrations:
        """The plugins' registrations, for this session or for every session of the host."""
        ...

    @property
    def components(self) -> Components:
        """The components that plugins display."""
        ...

    @property
    def has_components(self) -> bool:
        """Whether ``components`` has been used."""
        ...

    @property
    def ui_prompts(self) -> UIPrompts:
        """The open dialogs of plugins."""
        ...

    @property
    def handles(self) -> Handles:
        """The objects that plugins may keep; they are retired with the session."""
        ...

    @property
    def bus(self) -> Bus:
        """The event bus for plain data between plugins."""
        ...

    @property
    def mcp_servers(self) -> McpServers:
        """The registered MCP servers."""
        ...

    @property
    def sending(self) -> PluginMessages:
        """Sends plugins' messages."""
        ...

    @property
    def shutdown_requested(self) -> asyncio.Event:
        """Set when a plugin asks the front end to end."""
        ...

    # The current state

    @property
    def ctx(self) -> PiContext:
        """The ``ctx`` that handlers get; a reload replaces it."""
        ...

    @property
    def ui(self) -> UserInterface:
        """Answers dialogs."""
        ...

    @property
    def has_ui(self) -> bool:
        """Whether a user can answer dialogs."""
        ...

    @property
    def model(self) -> Model | None:
        """The current model."""
        ...

    @property
    def thinking_level(self) -> ThinkingLevel:
        """The current reasoning effort."""
        ...

    @property
    def scoped_models(self) -> Sequence[ScopedModel]:
        """The models that the user cycles through; empty means all usable models."""
        ...

    @property
    def cache_warming(self) -> CacheWarmingState | None:
        """The next decision on keeping the prompt in the provider's cache; None if there is none to make."""
        ...

    @property
    def system_prompt(self) -> str:
        """The system prompt as the next request would send it."""
        ...

    @property
    def signal(self) -> AbortSignal | None:
        """The abort signal of the current run or prompt; None while idle."""
        ...

    @property
    def depth(self) -> int:
        """The number of sessions that this session is nested in."""
        ...

    @property
    def children(self) -> Sequence[ChildSession]:
        """The sessions that plugins created for it."""
        ...

    @property
    def totals(self) -> Usage:
        """Tokens and cost of the session and of its child sessions."""
        ...

    @property
    def caller_trace(self) -> Mapping[str, str]:
        """The trace context passed with the current prompt; empty if there is none."""
        ...

    @property
    def is_streaming(self) -> bool:
        """Whether a prompt is being answered."""
        ...

    def is_inside_prompt(self) -> bool:
        """Whether the caller runs as part of the current prompt, for example in a hook or a listener."""
        ...

    def is_inside_start(self) -> bool:
        """Whether the caller, or what it was started by, is a hook that runs while the session starts."""
        ...

    def is_inside_reload(self) -> bool:
        """The same for a reload of the plugins."""
        ...

    def has_queued_messages(self) -> bool:
        """Whether messages are queued for the agent."""
        ...

    def get_context_usage(self) -> ContextUsage | None:
        """Return the usage of the model's context window; None without a model."""
        ...

    def get_flag(self, name: str) -> bool | str | None:
        """Return the value of a command line option, else its default; None for an unknown option."""
        ...

    # Requests and runs

    async def complete(self, context: Context, request: SideRequest) -> AssistantMessage:
        """Ask the model outside the conversation, see ``PiContext.complete``."""
        ...

    async def compact(
        self, custom_instructions: str | None = None, *, reason: CompactionReason = "manual", will_retry: bool = False
    ) -> Compaction | None:
        """Compact the conversation, see ``PiContext.compact``."""
        ...

    def request_abort(self, reason: str = "Operation aborted", *, exit_code: int | None = None) -> None:
        """Stop the prompt that is being answered, without waiting until it has settled, see ``PiContext.abort``."""
        ...

    async def wait_for_idle(self) -> None:
        """Return when no prompt is being answered."""
        ...

    async def execute_tool(
        self, call: ToolCall, signal: AbortSignal, on_update: Callable[[ToolResult], None]
    ) -> ToolResult:
        """Run a tool on behalf of another tool, see ``ToolContext.execute_tool``.

        Args:
            call: The call; its id consists of the outer call's id, a slash and a number.
            signal: Aborts the call.
            on_update: Called with partial results.
        """
        ...

    def create_child_session(self, options: Mapping[str, Any], signal: AbortSignal | None) -> ChildSessionPort:
        """Return a child session, which inherits what ``options`` omit, see ``PiContext.create_session``.

        Args:
            options: Options of ``create_agent_session``.
            signal: Aborts the child session.

        Raises:
            PiError: The session would be nested too deeply, or ``signal`` is already aborted.
        """
        ...

    # The conversation

    async def new_session(
        self,
        *,
        parent_session: str | None = None,
        setup: Callable[[SessionManager], Awaitable[None] | None] | None = None,
    ) -> bool:
        """Begin a new conversation; False when a plugin cancelled it."""
        ...

    async def switch_session(self, session_path: str | Path) -> bool:
        """Open a stored conversation; False when a plugin cancelled it."""
        ...

    async def fork(self, entry_id: str, position: Literal["before", "at"] = "before") -> ForkOutcome:
        """Open a copy of the conversation that ends at, or just before, an entry."""
        ...

    async def navigate_tree(
        self,
        target_id: str,
        *,
        summarize: bool = False,
        custom_instructions: str | None = None,
        replace_instructions: bool = False,
        label: str | None = None,
    ) -> TreeNavigation:
        """Continue from another entry, see ``PiContext.navigate_tree``."""
        ...

    async def reload(self) -> None:
        """Load local extensions again and activate all plugins again."""
        ...

    async def set_session_name(self, name: str | None) -> None:
        """Name the session; None removes the name."""
        ...

    async def export(self, path: str | Path | None = None) -> Path:
        """Write the session into a file and return its path."""
        ...

    # Tools, commands and models

    async def set_model(self, model: Model) -> None:
        """Use another model from the next run on.

        Raises:
            MissingKey: Its provider has no key.
        """
        ...

    async def set_thinking_level(self, level: ThinkingLevel) -> None:
        """Change the reasoning effort from the next run on, as far as the model supports it."""
        ...

    def get_active_tools(self) -> list[str]:
        """Return the names of the active tools."""
        ...

    def set_active_tools(self, names: Sequence[str]) -> None:
        """Activate these tools, and no others, from the next request on."""
        ...

    def get_all_tools(self) -> list[ToolInfo]:
        """Return all tools that can be activated."""
        ...

    def overridden_tool(self, name: str, by: Tool | None) -> ToolInfo | None:
        """Return the tool that ``by`` replaces; if ``by`` has another name, the one that the offered tool replaces."""
        ...

    def add_tool(self, tool: Tool, plugin: str) -> Callable[[], None]:
        """Add a tool of a plugin; return a function that removes it."""
        ...

    async def get_commands(self) -> Sequence[CommandInfo]:
        """Return plugins' commands, prompt templates and skills."""
        ...

    # Events

    def subscribe(self, listener: Listener, *types: str) -> Callable[[], None]:
        """Call a listener with every event of these types; return a function that unsubscribes."""
        ...

    async def emit(self, event: Any) -> None:
        """Call the session's subscribers with an event and wait for them."""
        ...

    def report_plugin_error(self, plugin: str, step: str, message: str, stack: str | None = None) -> None:
        """Emit ``extension_error`` without waiting for the subscribers."""
        ...
