"""``ctx``: the context object passed to hooks, commands and tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from pi_core.hooks.acting import acting
from pi_core.plugin_api.command_context import CommandContext, check_started
from pi_core.plugin_api.deprecated_use import noting_context
from pi_core.plugin_api.plugin_ui import plugin_ui
from pi_core.plugin_api.session_models import SessionModels
from pi_core.plugin_api.settings import PluginSettings
from pi_core.session import ReadOnlySession
from pi_hookspecs import AgentBusy, ToolCall, ToolResult, UserError, mark_unanswered

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from pi_core.conversation.parts import Parts
    from pi_core.host import PluginHost
    from pi_core.plugin_api.permissions import Permissions
    from pi_core.plugin_api.relay import Relay
    from pi_core.plugin_api.secrets import PluginSecrets
    from pi_core.plugin_api.stored_sessions import StoredSessions
    from pi_hookspecs import (
        AbortSignal,
        AssistantMessage,
        CacheWarmingState,
        ChildSession,
        CommandOperations,
        Compaction,
        CompactionReason,
        Context,
        ContextUsage,
        ExecResult,
        FileOperations,
        FormField,
        FullUserInterface,
        Model,
        NoticeLevel,
        Permission,
        Processes,
        PromptPart,
        ResourceLoader,
        SessionView,
        SideRequest,
        SpawnRequest,
        ThinkingLevel,
        Tool,
        ToolInfo,
        ToolUpdate,
        Usage,
        WidgetPlacement,
    )

__all__ = ["NoUserInterface", "PluginContext", "ToolCallContext", "contexts_of"]

NO_KEEPER = "No plugin in this session can run background processes."


class _NoProcesses:
    """Raises when it is used, not when it is read, because ``isinstance(ctx, PiContext)`` reads every member."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        from pi_core.host.advice import plugin_for

        raise UserError(f"{NO_KEEPER} {plugin_for('ProcessKeeper')}")


_NO_USER = "there is no user to ask"


class NoUserInterface:
    """A user interface without a user: dialogs return immediately, as if dismissed.

    Args:
        notify: Called with notices; None drops them.
    """

    def __init__(self, notify: Callable[[str, NoticeLevel], object] | None = None) -> None:
        self._notify = notify

    async def select(self, title: str, options: Sequence[str], **_: Any) -> str | None:
        """Return None, as for a dismissed dialog."""
        del title, options
        mark_unanswered(_NO_USER)
        return None

    async def confirm(self, title: str, message: str = "", **_: Any) -> bool:
        """Return False, as for a dismissed dialog."""
        del title, message
        mark_unanswered(_NO_USER)
        return False

    async def input(self, title: str, placeholder: str | None = None, **_: Any) -> str | None:
        """Return None, as for a dismissed dialog."""
        del title, placeholder
        mark_unanswered(_NO_USER)
        return None

    async def editor(self, title: str, prefill: str = "") -> str | None:
        """Return None, as for a dismissed dialog."""
        del title, prefill
        mark_unanswered(_NO_USER)
        return None

    async def form(self, fields: Sequence[FormField], **_: Any) -> dict[str, Any] | None:
        """Return None, as for a dismissed dialog."""
        del fields
        mark_unanswered(_NO_USER)
        return None

    def notify(self, message: str, level: NoticeLevel = "info") -> None:
        """Call ``notify`` of the constructor."""
        if self._notify is not None:
            self._notify(message, level)

    def set_status(self, key: str, text: str | None = None) -> None:
        """Do nothing."""

    def set_widget(self, key: str, lines: object = None, *, placement: WidgetPlacement | None = None) -> None:
        """Do nothing."""

    async def custom(self, factory: object, *, overlay: object = None, fallback: Any = None) -> Any:
        """Return the answer of the fallback, whose dialogs are dismissed; no component is created."""
        del factory, overlay
        return await fallback(self) if fallback is not None else None

    def set_editor_text(self, text: str) -> None:
        """Do nothing."""

    def set_title(self, title: str) -> None:
        """Do nothing."""


class PluginContext(CommandContext):
    """``ctx``: implements ``PiContext`` by calling the parts of a conversation.

    Attributes:
        cwd: The session's working directory.
        deps: The object that the program gave to its tools and plugins.
        mode: The front end's name.
        resources: Skills, prompt templates, themes, context files.
        settings: The user's settings, which plugins can read and change.
        session: The conversation, read-only.
    """

    constants: ClassVar = ("cwd", "deps", "mode", "resources", "settings")

    _call_id: str | None = None  # the id of the tool call that this context belongs to

    def __init__(self, parts: Parts) -> None:
        runtime = parts.runtime
        self._parts = parts
        runtime.plugins.handles.add(self)
        self.cwd: Path = runtime.cwd
        self.deps: Any = runtime.front_end.deps
        self.mode: str = runtime.front_end.mode
        self.resources: ResourceLoader = runtime.resources
        self.settings = PluginSettings(runtime)
        self.session: SessionView = ReadOnlySession(runtime.manager)

    @property
    def ui(self) -> FullUserInterface:
        """The user interface of the current front end."""
        return plugin_ui(self._parts.runtime.front_end.ui, self._parts.runtime.hooks, self._parts)

    @property
    def models(self) -> SessionModels:
        """The available models and their keys, and requests to those that are not for conversations."""
        return SessionModels(self._parts.runtime.models, self.complete)

    @property
    def has_ui(self) -> bool:
        """Whether a user can answer a dialog."""
        return self._parts.runtime.front_end.has_ui

    @property
    def model(self) -> Model | None:
        """The current model."""
        return self._parts.runtime.agent.state.model

    @property
    def thinking_level(self) -> ThinkingLevel:
        """The current reasoning effort."""
        return self._parts.runtime.agent.state.thinking_level

    @property
    def prompt_parts(self) -> Sequence[PromptPart]:
        """The system prompt's parts, with their plugins."""
        return self._parts.runtime.prompts.build_cached().parts

    @property
    def system_prompt(self) -> str:
        """The system prompt as the next request would send it."""
        return self._parts.runtime.agent.state.system_prompt

    @property
    def signal(self) -> AbortSignal | None:
        """The run's abort signal; None between runs."""
        return self._parts.runtime.signal

    def get_system_prompt(self) -> str:
        """Return ``system_prompt``."""
        return self.system_prompt

    @property
    def scoped_models(self) -> Sequence[Model]:
        """The models that the user cycles through."""
        return tuple(each.model for each in self._parts.models.scoped)

    @property
    def cache_warming(self) -> CacheWarmingState | None:
        """The next decision on keeping the prompt in the provider's cache."""
        return self._parts.cache_warming

    def get_flag(self, name: str) -> bool | str | None:
        """Return the value of a command line option, else its default; None for an unknown option."""
        return self._parts.commands.flag(name)

    def is_project_trusted(self) -> bool:
        """Whether files of the project may be used."""
        return self._parts.runtime.settings.trust_of(self.cwd).is_trusted

    def is_idle(self) -> bool:
        """Whether no prompt is being answered."""
        return not self._parts.runtime.is_streaming

    def has_pending_messages(self) -> bool:
        """Whether messages are queued for the agent."""
        return self._parts.runtime.agent.has_queued_messages()

    def context_usage(self) -> ContextUsage | None:
        """Return the usage of the model's context window; None without a model."""
        return self._parts.usage.context()

    async def compact(
        self, custom_instructions: str | None = None, *, reason: CompactionReason = "manual", will_retry: bool = False
    ) -> Compaction | None:
        """Compact the conversation, see ``PiContext.compact``."""
        check_started(self._parts, "compact the conversation")
        return await self._parts.compaction.compact(custom_instructions, reason=reason, will_retry=will_retry)

    async def complete(self, context: Context, request: SideRequest) -> AssistantMessage:
        """Ask the model outside the conversation, see ``PiContext.complete``."""
        return await self._parts.requests.complete(context, request)

    async def exec(
        self,
        command: str,
        args: Sequence[str] = (),
        *,
        cwd: str | Path | None = None,
        signal: AbortSignal | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - as run_program
        env: Mapping[str, str] | None = None,
    ) -> ExecResult:
        """Run a program; an abort of the run kills it."""
        from pi_core.conversation.spawning import exec_program
        from pi_core.plugin_api.arguments import texts

        args, folder = texts("ctx.exec", "arguments", args), self.cwd / (cwd or "")
        return await exec_program(self, command, args, folder, env, signal=signal or self.signal, timeout=timeout)

    def project_files(self) -> Sequence[str]:
        """Return the names of files that decide, merely by existing in a project, what programs do later."""
        return self._parts.runtime.host.project_files()

    async def list_permissions(self) -> Sequence[Permission]:
        """Return the decisions of the user that plugins remember, by store."""
        return self._permissions().all()

    async def remove_permission(self, permission: Permission) -> None:
        """Undo a decision that ``list_permissions`` has returned, see ``PiContext.remove_permission``."""
        await self._permissions().remove(permission)

    def _permissions(self) -> Permissions:
        from pi_core.plugin_api.permissions import Permissions

        runtime = self._parts.runtime
        return Permissions(runtime.host, self.cwd, self.settings, self.session.id, runtime.report_plugin_error)

    async def child_environment(self, env: Mapping[str, str], *, purpose: str, command: str) -> Mapping[str, str]:
        """Return the environment for a program, after the plugins' changes."""
        if "child_environment" not in self._parts.runtime.hooks.implemented:
            return env
        from pi_core.conversation.spawning import ask_environment

        return await ask_environment(self._parts.runtime, self, env, purpose, command)

    async def prepare_spawn(self, request: SpawnRequest) -> SpawnRequest:
        """Return the program to start instead, after all ``Launcher`` services."""
        if "Launcher" not in self._parts.runtime.host.service_kinds:
            return request
        from pi_core.conversation.spawning import ask_launchers

        return await ask_launchers(self._parts.runtime, self, request)

    async def trace_context(self) -> Mapping[str, str]:
        """Return ``traceparent`` and ``tracestate`` of what runs now; may be empty."""
        if "TraceContext" not in self._parts.runtime.host.service_kinds:
            return dict(self._parts.runtime.gate.trace_context)
        from pi_core.plugin_api.tracing import ask_trace_context

        return await ask_trace_context(self._parts.runtime, self)

    @property
    def processes(self) -> Processes:
        """The session's managed background processes."""
        found = self._parts.runtime.host.find("register_services", "ProcessKeeper")
        processes: Processes | Any = found.thing.processes(self) if found is not None else _NoProcesses()
        return processes

    def file_operations(self) -> FileOperations | None:
        """Return where plugins redirect file access; None for this machine."""
        if "ToolOperations" not in self._parts.runtime.host.service_kinds:
            return None
        from pi_core.plugin_api.redirection import find_operations

        found: FileOperations | None = find_operations(self._parts.runtime, self, "files")
        return found

    def command_operations(self) -> CommandOperations | None:
        """Return where plugins redirect commands; None for this machine."""
        if "ToolOperations" not in self._parts.runtime.host.service_kinds:
            return None
        from pi_core.plugin_api.redirection import find_operations

        found: CommandOperations | None = find_operations(self._parts.runtime, self, "commands")
        return found

    @property
    def secrets(self) -> PluginSecrets:
        """The known keys, tokens and passwords."""
        from pi_core.plugin_api.secrets import PluginSecrets

        runtime = self._parts.runtime
        return PluginSecrets(runtime.models.auth, runtime.host, runtime.settings)

    @property
    def sessions(self) -> StoredSessions:
        """The stored sessions."""
        from pi_core.plugin_api.stored_sessions import StoredSessions

        runtime = self._parts.runtime
        return StoredSessions(lambda: runtime.manager.shared_store(runtime.host), self.cwd)

    @property
    def depth(self) -> int:
        """How many sessions this one is nested in."""
        return self._parts.runtime.front_end.depth

    @property
    def children(self) -> Sequence[ChildSession]:
        """The sessions that plugins created for this one."""
        return self._parts.child_sessions

    @property
    def totals(self) -> Usage:
        """Tokens and cost of the session and of its child sessions."""
        return self._parts.total_usage

    def create_session(
        self, *, persist: bool = False, parent_call: str | None = None, label: str | None = None, **options: Any
    ) -> Any:
        """Return a child session, for use with ``async with``."""
        return self._parts.children.create(
            {"persist": persist, "parent_call": parent_call or self._call_id, "label": label, **options}, self.signal
        )

    async def export(self, path: str | Path | None = None) -> Path:
        """Write the session into a file and return its path."""
        return await self._parts.exporter.export(path)

    def find_model(self, name: str) -> Model:
        """Return the model that a name resolves to, if it can be used now."""
        model = self.models.find(name)
        self.models.check(model)
        return model

    async def emit(self, event: Any) -> None:
        """Call the session's subscribers with an event and wait for them."""
        await self._parts.runtime.emit(event)

    def abort(self, reason: str = "Operation aborted", *, exit_code: int | None = None) -> None:
        """Stop the prompt that is being answered, without waiting until it has settled, see ``PiContext.abort``."""
        self._parts.lifecycle.request_abort(reason, exit_code=exit_code)

    def shutdown(self) -> None:
        """Ask the front end to exit when the run is over."""
        self._parts.runtime.front_end.shutdown_requested.set()


class ToolCallContext(PluginContext):
    """``ctx`` of a running tool: the session's context, and the members that belong to this call."""

    def __init__(
        self,
        parts: Parts,
        call: ToolCall,
        update: ToolUpdate,
        signal: AbortSignal,
        tool: Tool | None = None,
    ) -> None:
        super().__init__(parts)
        self._tool = tool
        self._update = update
        self._abort_signal = signal
        self._relay: Relay | None = None
        self._nested = 0
        self.call_id = self._call_id = call.id
        self.tool_name = call.name

    @property
    def signal(self) -> AbortSignal:
        """The abort signal of the run that made this call."""
        return self._abort_signal

    async def complete(self, context: Context, request: SideRequest) -> AssistantMessage:
        """Ask the model outside the conversation, on behalf of the tool's plugin."""
        with acting(self.tool_owner):
            return await self._parts.requests.complete(context, request)

    @property
    def tool_owner(self) -> str | None:
        """The plugin that provides the running tool; None for a tool of the calling program."""
        tools = {each.name: each.plugin for each in self._parts.tools.infos()}
        return tools.get(self.tool_name)

    def update(self, partial: ToolResult | str) -> None:
        """Emit a partial result."""
        self._update(ToolResult.text(partial) if isinstance(partial, str) else partial)

    @property
    def tools(self) -> list[str]:
        """Names of the active tools, which ``execute_tool`` can run."""
        return self._parts.tools.names()

    async def execute_tool(
        self, name: str, arguments: Mapping[str, Any], *, on_update: Callable[[ToolResult], None] | None = None
    ) -> ToolResult:
        """Run another tool with the guards and limits of a model's call; its updates appear under this call."""
        from pi_core.conversation.nested_calls import execute_tool

        self._nested += 1
        call = ToolCall(id=f"{self.call_id}/{self._nested}", name=name, arguments=dict(arguments))
        return await execute_tool(self._parts.runtime, call, self._abort_signal, on_update or self._update)

    def overridden_tool(self, name: str, /) -> ToolInfo | None:
        """Return the tool that the running tool replaces; None if there is none."""
        return self._parts.tools.overridden(name, self._tool)

    async def relay(self, event: Any) -> None:
        """Report a child session's progress under this call: ``session.subscribe(ctx.relay)``."""
        if self._relay is None:
            from pi_core.plugin_api.relay import Relay

            self._relay = Relay(self._update)
        self._relay.on_event(event)

    def _outside_prompt(self, what: str) -> Parts:
        raise AgentBusy(f"A tool cannot {what}: the prompt that waits for the tool would wait for itself.")


def contexts_of(host: PluginHost) -> tuple[type[PluginContext], type[ToolCallContext]]:
    """Return the classes of ``ctx`` for the plugins of a host: that of hooks and commands, and that of tool calls."""
    classes = noting_context(PluginContext), noting_context(ToolCallContext)
    if not host.held:
        return classes
    from pi_core.plugin_api.held import held_context  # few plugins have grants

    return held_context(classes[0], host), held_context(classes[1], host)
