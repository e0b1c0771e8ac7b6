"""``PluginPort``: what ``pi`` and ``ctx`` use of a conversation. As in ``AgentSession``, names lead to its parts."""

# ruff: noqa: TC004 - the parts that the lambdas name are for type checkers: those functions are never called
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_core.base.forwarding import Method, attribute
from pi_core.plugin_api.settings import PluginSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pi_core.agent.agent import Agent
    from pi_core.agent.subscribers import Listener
    from pi_core.conversation.commands import PluginCommands
    from pi_core.conversation.compaction import CompactionRunner
    from pi_core.conversation.exporter import Exporter
    from pi_core.conversation.lifecycle import Lifecycle
    from pi_core.conversation.model_selection import ModelSelection, ScopedModel
    from pi_core.conversation.offered_tools import OfferedTools
    from pi_core.conversation.outbox import Outbox
    from pi_core.conversation.parts import Parts
    from pi_core.conversation.prompt_gate import PromptGate
    from pi_core.conversation.reload import Reloader
    from pi_core.conversation.runtime import Runtime
    from pi_core.conversation.side_requests import SideRequests
    from pi_core.conversation.switching import SessionSwitcher
    from pi_core.conversation.tree import TreeNavigator
    from pi_core.conversation.usage import SessionUsage
    from pi_core.plugin_api.components import Components
    from pi_core.plugin_api.event_bus import Bus
    from pi_core.plugin_api.mcp_servers import McpServers
    from pi_core.plugin_api.port_values import HelperSession
    from pi_core.plugin_api.ui_prompts import UIPrompts
    from pi_hookspecs import (
        AbortSignal,
        ChildSession,
        Model,
        PiContext,
        PromptPart,
        ThinkingLevel,
        ToolCall,
        ToolResult,
        Usage,
        UserInterface,
    )

__all__ = ["PluginPort"]


class PluginPort:
    """Implements ``pi_core.plugin_api.port.SessionPort``, where its members are documented.

    Args:
        parts: The parts of the conversation.
    """

    def __init__(self, parts: Parts) -> None:
        runtime = parts.runtime
        self._parts = parts
        self._runtime = runtime
        self.cwd = runtime.cwd
        self.host = runtime.host
        self.models = runtime.models
        self.settings = runtime.settings
        self.plugin_settings = PluginSettings(self)
        self.resources = runtime.resources
        self.session_manager = runtime.manager
        self.hooks = runtime.hooks
        self.registered = runtime.registrations
        self.handles = runtime.plugins.handles
        self.shutdown_requested = runtime.front_end.shutdown_requested

    ctx: PiContext = attribute("_runtime.ctx", "The ``ctx`` that handlers get; a reload replaces it.")
    ui: UserInterface = attribute("_runtime.front_end.ui", "Answers dialogs.")
    has_ui: bool = attribute("_runtime.front_end.has_ui", "Whether a user can answer dialogs.")
    mode: str = attribute("_runtime.front_end.mode", "The front end's name.")
    deps: Any = attribute("_runtime.front_end.deps", "An object of the program for its tools and plugins.")
    bus: Bus = attribute("_parts.bus", "Plain data between plugins.")
    components: Components = attribute("_parts.components", "What plugins draw.")
    has_components: bool = attribute("_parts.has_components", "Whether ``components`` was used.")
    mcp_servers: McpServers = attribute("_parts.mcp_servers", "The registered MCP servers.")
    ui_prompts: UIPrompts = attribute("_parts.ui_prompts", "The open dialogs of plugins.")
    sending: Outbox = attribute("_parts.outbox", "Sends plugins' messages.")
    model: Model | None = attribute("_runtime.agent.state.model", "The current model.")
    thinking_level: ThinkingLevel = attribute("_runtime.agent.state.thinking_level", "The current reasoning effort.")
    scoped_models: tuple[ScopedModel, ...] = attribute("_parts.models.scoped", "The models to cycle through.")
    system_prompt: str = attribute("_runtime.agent.state.system_prompt", "The prompt that the next request would send.")
    signal: AbortSignal | None = attribute("_runtime.signal", "The abort of the present run, or prompt.")
    caller_trace: Mapping[str, str] = attribute("_runtime.gate.trace_context", "What came with the present prompt.")
    is_streaming: bool = attribute("_runtime.is_streaming", "Whether a prompt is being answered.")

    depth: int = attribute("_runtime.front_end.depth", "How many sessions it is nested in.")
    children: tuple[ChildSession, ...] = attribute("_parts.child_sessions", "The sessions that plugins created for it.")
    totals: Usage = attribute("_parts.total_usage", "Tokens and cost of the session and of its child sessions.")

    is_inside_prompt = Method("_runtime.gate.is_inside_prompt", lambda: PromptGate.is_inside_prompt)
    has_queued_messages = Method("_runtime.agent.has_queued_messages", lambda: Agent.has_queued_messages)
    get_context_usage = Method("_parts.usage.context", lambda: SessionUsage.context)
    complete = Method("_parts.requests.complete", lambda: SideRequests.complete)
    compact = Method("_parts.compaction.compact", lambda: CompactionRunner.compact)
    request_abort = Method("_parts.lifecycle.request_abort", lambda: Lifecycle.request_abort)
    wait_for_idle = Method("_parts.lifecycle.wait_for_idle", lambda: Lifecycle.wait_for_idle)
    new_session = Method("_parts.switcher.new", lambda: SessionSwitcher.new)
    switch_session = Method("_parts.switcher.switch", lambda: SessionSwitcher.switch)
    fork = Method("_parts.switcher.fork", lambda: SessionSwitcher.fork)
    set_session_name = Method("_parts.switcher.set_name", lambda: SessionSwitcher.set_name)
    navigate_tree = Method("_parts.tree.navigate", lambda: TreeNavigator.navigate)
    reload = Method("_parts.reloader.reload", lambda: Reloader.reload)
    export = Method("_parts.exporter.export", lambda: Exporter.export)
    set_model = Method("_parts.models.set_model", lambda: ModelSelection.set_model)
    set_thinking_level = Method("_parts.models.set_level", lambda: ModelSelection.set_level)
    get_active_tools = Method("_parts.tools.names", lambda: OfferedTools.names)
    set_active_tools = Method("_parts.tools.select", lambda: OfferedTools.select)
    get_all_tools = Method("_parts.tools.infos", lambda: OfferedTools.infos)
    overridden_tool = Method("_parts.tools.overridden", lambda: OfferedTools.overridden)
    add_tool = Method("_parts.tools.add", lambda: OfferedTools.add)
    get_flag = Method("_parts.commands.flag", lambda: PluginCommands.flag)
    get_commands = Method("_parts.commands.infos", lambda: PluginCommands.infos)
    emit = Method("_runtime.emit", lambda: Runtime.emit)
    report_plugin_error = Method("_runtime.report_plugin_error", lambda: Runtime.report_plugin_error)

    @property
    def prompt_parts(self) -> tuple[PromptPart, ...]:
        """The parts of the system prompt, with the plugins that they come from."""
        return self._runtime.prompts.build_cached().parts

    def subscribe(self, listener: Listener, *types: str) -> Callable[[], None]:
        """Call a listener with every event of these types; return a function that unsubscribes it."""
        return self._runtime.events.add(listener, frozenset(types))

    async def execute_tool(
        self, call: ToolCall, signal: AbortSignal, on_update: Callable[[ToolResult], None]
    ) -> ToolResult:
        """Run a tool that is called by another tool."""
        from pi_core.conversation.nested_calls import execute_tool

        return await execute_tool(self._runtime, call, signal, on_update)

    def create_helper(self, options: Mapping[str, Any], signal: AbortSignal | None) -> HelperSession:
        """Return a session for a helper."""
        session: HelperSession = self._parts.children.create(options, signal)
        return session
