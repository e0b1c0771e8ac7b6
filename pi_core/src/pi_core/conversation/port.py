"""``PluginPort``: what ``pi`` and ``ctx`` use of a conversation. As in ``AgentSession``, members call the parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_core.hooks.running_call import is_in_hook
from pi_core.plugin_api.settings import PluginSettings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from pathlib import Path
    from typing import Literal

    from pi_core.agent.subscribers import Listener
    from pi_core.conversation.model_selection import ScopedModel
    from pi_core.conversation.outbox import Outbox
    from pi_core.conversation.parts import Parts
    from pi_core.conversation.switching import ForkOutcome
    from pi_core.plugin_api.components import Components
    from pi_core.plugin_api.event_bus import Bus
    from pi_core.plugin_api.mcp_servers import McpServers
    from pi_core.plugin_api.port import ChildSessionPort
    from pi_core.plugin_api.ui_prompts import UIPrompts
    from pi_core.session import SessionManager
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
        Model,
        PiContext,
        PromptPart,
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

    @property
    def ctx(self) -> PiContext:
        return self._runtime.ctx

    @property
    def ui(self) -> UserInterface:
        return self._runtime.front_end.ui

    @property
    def has_ui(self) -> bool:
        return self._runtime.front_end.has_ui

    @property
    def mode(self) -> str:
        return self._runtime.front_end.mode

    @property
    def deps(self) -> Any:
        return self._runtime.front_end.deps

    @property
    def bus(self) -> Bus:
        return self._parts.bus

    @property
    def components(self) -> Components:
        return self._parts.components

    @property
    def has_components(self) -> bool:
        return self._parts.has_components

    @property
    def mcp_servers(self) -> McpServers:
        return self._parts.mcp_servers

    @property
    def ui_prompts(self) -> UIPrompts:
        return self._parts.ui_prompts

    @property
    def sending(self) -> Outbox:
        return self._parts.outbox

    @property
    def model(self) -> Model | None:
        return self._runtime.agent.state.model

    @property
    def thinking_level(self) -> ThinkingLevel:
        return self._runtime.agent.state.thinking_level

    @property
    def scoped_models(self) -> tuple[ScopedModel, ...]:
        return self._parts.models.scoped

    @property
    def cache_warming(self) -> CacheWarmingState | None:
        return self._parts.cache_warming

    @property
    def system_prompt(self) -> str:
        return self._runtime.agent.state.system_prompt

    @property
    def signal(self) -> AbortSignal | None:
        return self._runtime.signal

    @property
    def caller_trace(self) -> Mapping[str, str]:
        return self._runtime.gate.trace_context

    @property
    def is_streaming(self) -> bool:
        return self._runtime.is_streaming

    @property
    def depth(self) -> int:
        return self._runtime.front_end.depth

    @property
    def children(self) -> tuple[ChildSession, ...]:
        return self._parts.child_sessions

    @property
    def totals(self) -> Usage:
        return self._parts.total_usage

    def is_inside_prompt(self) -> bool:
        return self._runtime.gate.is_inside_prompt()

    def is_inside_start(self) -> bool:
        return self._parts.lifecycle.is_inside_start()

    def is_inside_reload(self) -> bool:
        return self._parts.reloader.is_going_on and is_in_hook()

    def has_queued_messages(self) -> bool:
        return self._runtime.agent.has_queued_messages()

    def get_context_usage(self) -> ContextUsage | None:
        return self._parts.usage.context()

    async def complete(self, context: Context, request: SideRequest) -> AssistantMessage:
        return await self._parts.requests.complete(context, request)

    async def compact(
        self, custom_instructions: str | None = None, *, reason: CompactionReason = "manual", will_retry: bool = False
    ) -> Compaction | None:
        return await self._parts.compaction.compact(custom_instructions, reason=reason, will_retry=will_retry)

    def request_abort(self, reason: str = "Operation aborted", *, exit_code: int | None = None) -> None:
        self._parts.lifecycle.request_abort(reason, exit_code=exit_code)

    async def wait_for_idle(self) -> None:
        await self._parts.lifecycle.wait_for_idle()

    async def new_session(
        self,
        *,
        parent_session: str | None = None,
        setup: Callable[[SessionManager], Awaitable[None] | None] | None = None,
    ) -> bool:
        return await self._parts.switcher.new(parent_session=parent_session, setup=setup)

    async def switch_session(self, session_path: str | Path) -> bool:
        return await self._parts.switcher.switch(session_path)

    async def fork(self, entry_id: str, position: Literal["before", "at"] = "before") -> ForkOutcome:
        return await self._parts.switcher.fork(entry_id, position)

    async def set_session_name(self, name: str | None) -> None:
        await self._parts.switcher.set_name(name)

    async def navigate_tree(
        self,
        target_id: str,
        *,
        summarize: bool = False,
        custom_instructions: str | None = None,
        replace_instructions: bool = False,
        label: str | None = None,
    ) -> TreeNavigation:
        return await self._parts.tree.navigate(
            target_id,
            summarize=summarize,
            custom_instructions=custom_instructions,
            replace_instructions=replace_instructions,
            label=label,
        )

    async def reload(self) -> None:
        await self._parts.reloader.reload()

    async def export(self, path: str | Path | None = None, *, export_format: str | None = None) -> Path:
        return await self._parts.exporter.export(path, export_format=export_format)

    async def set_model(
        self, model: Model, source: Literal["set", "cycle", "restore"] = "set", *, persist: bool | None = None
    ) -> None:
        await self._parts.models.set_model(model, source, persist=persist)

    async def set_thinking_level(self, level: ThinkingLevel, *, persist: bool | None = None, note: bool = True) -> None:
        await self._parts.models.set_level(level, persist=persist, note=note)

    def get_active_tools(self) -> list[str]:
        return self._parts.tools.names()

    def set_active_tools(self, names: Sequence[str]) -> None:
        self._parts.tools.select(names)

    def get_all_tools(self) -> list[ToolInfo]:
        return self._parts.tools.infos()

    def overridden_tool(self, name: str, by: Tool | None) -> ToolInfo | None:
        return self._parts.tools.overridden(name, by)

    def add_tool(self, tool: Tool, plugin: str) -> Callable[[], None]:
        return self._parts.tools.add(tool, plugin)

    def get_flag(self, name: str) -> bool | str | None:
        return self._parts.commands.flag(name)

    async def get_commands(self) -> tuple[CommandInfo, ...]:
        return await self._parts.commands.infos()

    async def emit(self, event: Any) -> None:
        await self._runtime.emit(event)

    def report_plugin_error(self, plugin: str, step: str, message: str, stack: str | None = None) -> None:
        self._runtime.report_plugin_error(plugin, step, message, stack)

    @property
    def prompt_parts(self) -> tuple[PromptPart, ...]:
        return self._runtime.prompts.build_cached().parts

    def subscribe(self, listener: Listener, *types: str) -> Callable[[], None]:
        return self._runtime.events.add(listener, frozenset(types))

    async def execute_tool(
        self, call: ToolCall, signal: AbortSignal, on_update: Callable[[ToolResult], None]
    ) -> ToolResult:
        from pi_core.conversation.nested_calls import execute_tool

        return await execute_tool(self._runtime, call, signal, on_update)

    def create_child_session(self, options: Mapping[str, Any], signal: AbortSignal | None) -> ChildSessionPort:
        session: ChildSessionPort = self._parts.children.create(options, signal)
        return session
