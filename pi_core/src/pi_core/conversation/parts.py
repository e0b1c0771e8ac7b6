"""The parts of a conversation, each created from the runtime and the parts that it calls.

Parts that most runs do not use are imported on first use, to keep start-up fast.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from pi_core.conversation.commands import PluginCommands
from pi_core.conversation.left_out import LeftOutParts
from pi_core.conversation.lifecycle import Lifecycle
from pi_core.conversation.message_queue import MessageQueue
from pi_core.conversation.offered_tools import OfferedTools
from pi_core.conversation.retry import Retry
from pi_core.conversation.run_events import RunEvents
from pi_core.conversation.system_prompts import PromptRecord
from pi_core.conversation.turn import PromptTurns

if TYPE_CHECKING:
    from pi_core.conversation.activations import Activations
    from pi_core.conversation.cache_warming import CacheWarming
    from pi_core.conversation.children import Children
    from pi_core.conversation.compaction import CompactionRunner
    from pi_core.conversation.completing import PluginCompletions
    from pi_core.conversation.components import Components
    from pi_core.conversation.event_bus import Bus
    from pi_core.conversation.exporter import Exporter
    from pi_core.conversation.mcp_servers import McpServers
    from pi_core.conversation.model_selection import ModelSelection
    from pi_core.conversation.outbox import Outbox
    from pi_core.conversation.program_calls import ProgramCalls
    from pi_core.conversation.reload import Reloader
    from pi_core.conversation.rendering import Renderings
    from pi_core.conversation.runtime import Runtime
    from pi_core.conversation.side_requests import SideRequests
    from pi_core.conversation.switching import SessionSwitcher
    from pi_core.conversation.themes import Themes
    from pi_core.conversation.tree import TreeNavigator
    from pi_core.conversation.ui_prompts import UIPrompts
    from pi_core.conversation.usage import SessionUsage
    from pi_core.conversation.user_bash import UserBash
    from pi_hookspecs import CacheWarmingState, ChildSession, Context, McpServer, Model, StreamOptions, Usage

__all__ = ["Parts"]


class Parts:
    """Creates the parts of one conversation.

    Args:
        runtime: The objects that all parts share.
    """

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.spent: dict[str | None, list[float]] = {}
        """Requests, tokens and dollars outside the conversation, by the plugin that asked; None is a program."""
        self.lifecycle = Lifecycle(runtime, self)
        self.tools = OfferedTools(runtime)
        self.queue = MessageQueue(runtime)
        self.left_out = LeftOutParts(runtime.manager)
        self.retry = Retry(runtime, self._set_model, self.left_out)
        runtime.bridge.requests.without_refused = self.left_out.without
        runtime.bridge.requests.retries = lambda: self.retry.attempt
        runtime.bridge.requests.remember = self._remember
        self.record = PromptRecord(runtime)
        self.commands = PluginCommands(runtime)
        self.turns = PromptTurns(
            runtime,
            commands=self.commands,
            queue=self.queue,
            retry=self.retry,
            record=self.record,
            tools=self.tools,
            replace_model=self._replace_model,
            ready=self.lifecycle.ready,
        )
        run_events = RunEvents(runtime, queue=self.queue, retry=self.retry, record=self.record)
        runtime.agent.subscribe(run_events.on_event)

    @cached_property
    def outbox(self) -> Outbox:
        """Sends messages of programs and plugins."""
        from pi_core.conversation.outbox import Outbox

        return Outbox(self.runtime, self.queue, self.turns, is_starting=lambda: self.lifecycle.is_starting)

    @cached_property
    def calls(self) -> ProgramCalls:
        """Answers prompts of programs with a value or with a stream of events."""
        from pi_core.conversation.program_calls import ProgramCalls

        return ProgramCalls(self.runtime, self.turns, self.lifecycle)

    @cached_property
    def requests(self) -> SideRequests:
        """Makes requests to the model outside the conversation."""
        from pi_core.conversation.side_requests import SideRequests

        return SideRequests(self.runtime, self.retry, self.spent)

    @cached_property
    def warming(self) -> CacheWarming:
        """Keeps the last prompt in its provider's cache."""
        from pi_core.conversation.cache_warming import CacheWarming

        self.runtime.bridge.requests.warming = made = CacheWarming(self.runtime, self.requests)
        return made

    @cached_property
    def compaction(self) -> CompactionRunner:
        """Compacts the conversation."""
        from pi_core.conversation.compaction import CompactionRunner

        return CompactionRunner(self.runtime, self.requests, self.lifecycle)

    @cached_property
    def tree(self) -> TreeNavigator:
        """Navigates the tree."""
        from pi_core.conversation.tree import TreeNavigator

        return TreeNavigator(self.runtime, self.requests)

    @cached_property
    def switcher(self) -> SessionSwitcher:
        """Switches to other conversations."""
        from pi_core.conversation.switching import SessionSwitcher

        return SessionSwitcher(self.runtime, self.lifecycle, self.queue, self.models)

    @cached_property
    def bash(self) -> UserBash:
        """Runs the user's commands."""
        from pi_core.conversation.user_bash import UserBash

        return UserBash(self.runtime)

    @cached_property
    def models(self) -> ModelSelection:
        """Selects the model and the thinking level."""
        from pi_core.conversation.model_selection import ModelSelection

        return ModelSelection(self.runtime)

    @cached_property
    def activations(self) -> Activations:
        """Activates plugins and keeps their ``pi`` objects."""
        from pi_core.conversation.activations import Activations

        return Activations(self.runtime)

    @cached_property
    def bus(self) -> Bus:
        """Passes plain data between plugins."""
        from pi_core.conversation.event_bus import Bus

        return Bus(self.runtime.report_plugin_error)

    @cached_property
    def completions(self) -> PluginCompletions:
        """Asks plugins for completions of the user's text."""
        from pi_core.conversation.completing import PluginCompletions

        return PluginCompletions(self.runtime)

    @cached_property
    def mcp_servers(self) -> McpServers:
        """Keeps the MCP servers that plugins registered."""
        from pi_core.conversation.mcp_servers import McpServers

        runtime = self.runtime

        def report_unused(server: McpServer) -> None:
            if not runtime.hooks.listens("mcp_servers_change"):
                from pi_core.host.extras import unused_server

                runtime.report_plugin_error(
                    server.plugin, "register_mcp_server", unused_server(runtime.host, server.name)
                )

        return McpServers(lambda event: runtime.hooks.notify(event, runtime.ctx), self.lifecycle.start, report_unused)

    @cached_property
    def renderings(self) -> Renderings:
        """Displays values with the renderers of plugins."""
        from pi_core.conversation.rendering import Renderings

        return Renderings(self.runtime)

    @cached_property
    def themes(self) -> Themes:
        """Finds the themes."""
        from pi_core.conversation.themes import Themes

        return Themes(self.runtime)

    @cached_property
    def components(self) -> Components:
        """Displays components of plugins."""
        from pi_core.conversation.components import Components

        return Components(self.runtime.report_plugin_error, self.runtime.plugins.handles)

    @cached_property
    def ui_prompts(self) -> UIPrompts:
        """Reports plugins' dialogs."""
        from pi_core.conversation.ui_prompts import UIPrompts

        runtime = self.runtime
        return UIPrompts(runtime.hooks.listens, lambda event: runtime.hooks.notify(event, runtime.ctx))

    @cached_property
    def reloader(self) -> Reloader:
        """Reloads local extensions."""
        from pi_core.conversation.reload import Reloader

        return Reloader(
            self.runtime,
            start=self.lifecycle.start,
            is_compacting=lambda: self.is_compacting,
            activations=self.activations,
            offer_tools=self.tools.offer,
        )

    @cached_property
    def exporter(self) -> Exporter:
        """Writes the session into files."""
        from pi_core.conversation.exporter import Exporter

        return Exporter(self.runtime)

    @cached_property
    def usage(self) -> SessionUsage:
        """Computes the usage of the conversation."""
        from pi_core.conversation.usage import SessionUsage

        return SessionUsage(self.runtime)

    @cached_property
    def children(self) -> Children:
        """Creates the sessions of subagents."""
        from pi_core.conversation.children import Children

        return Children(self.runtime, self.lifecycle)

    @property
    def child_sessions(self) -> tuple[ChildSession, ...]:
        """The child sessions so far."""
        return self.children.infos if "children" in vars(self) else ()

    @property
    def total_usage(self) -> Usage:
        """Tokens and cost of the session and of its child sessions, including running ones."""
        spent = self.usage.spent()
        return spent + self.children.unaccounted() if "children" in vars(self) else spent

    # Parts that have been used

    @property
    def cache_warming(self) -> CacheWarmingState | None:
        """The next decision on keeping the prompt in the provider's cache; None if there is none to make."""
        return self.warming.state() if "warming" in vars(self) else None

    @property
    def has_components(self) -> bool:
        """Whether a plugin has drawn anything."""
        return "components" in vars(self)

    @property
    def is_compacting(self) -> bool:
        """Whether a compaction is running."""
        return "compaction" in vars(self) and self.compaction.is_running

    @property
    def is_reloading(self) -> bool:
        """Whether a reload is running."""
        return "reloader" in vars(self) and self.reloader.is_going_on

    async def summaries_settled(self) -> None:
        """Return when no compaction and no summary of a branch is in progress."""
        if "compaction" in vars(self):
            await self.compaction.finished()
        if "tree" in vars(self):
            await self.tree.finished()

    async def stop_warming(self) -> None:
        """Keep no prompt in its provider's cache any more, and wait for the request that does."""
        if "warming" in vars(self):
            await self.warming.stop()

    async def reloaded(self) -> None:
        """Wait until no reload is running."""
        if "reloader" in vars(self):
            await self.reloader.finished()

    async def wait_for_abandoned_stream(self) -> None:
        """Wait until the prompt of a stream that its consumer has closed has settled."""
        if "calls" in vars(self):
            await self.calls.wait_for_abandoned_stream()

    def abort_summaries(self) -> None:
        """Stop a compaction and the summary of a branch; neither changes anything then."""
        if "compaction" in vars(self):
            self.compaction.abort()
        if "tree" in vars(self):
            self.tree.abort()

    def end(self) -> None:
        """Stop tasks that an abort of a prompt does not stop, because the session ends."""
        if "warming" in vars(self):
            self.warming.forget()
        if "bash" in vars(self):
            self.bash.abort()
        if "reloader" in vars(self):
            self.reloader.end()
        if "mcp_servers" in vars(self):
            self.mcp_servers.end()
        if "ui_prompts" in vars(self):
            self.ui_prompts.end()

    def _remember(self, model: Model, context: Context, options: StreamOptions) -> StreamOptions:
        if "CacheWarmer" not in self.runtime.host.service_kinds:
            return options
        return self.warming.remember(model, context, options)

    async def _set_model(self, model: Model) -> None:
        await self.models.set_model(model)

    async def _replace_model(self, model: Model) -> None:
        await self.models.set_model(model, "restore", persist=False)
