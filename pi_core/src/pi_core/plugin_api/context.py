"""``ctx``: what hooks, commands and tools hold in their hands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_core.plugin_api.command_context import CommandContext
from pi_core.plugin_api.plugin_ui import plugin_ui
from pi_core.session import ReadOnlySession
from pi_hookspecs import AgentBusy, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from pi_core.conversation import AgentSession
    from pi_core.conversation.helper_session import Relay
    from pi_hookspecs import (
        AbortSignal,
        AssistantMessage,
        Compaction,
        CompactionReason,
        Context,
        ContextUsage,
        ExecResult,
        Model,
        ModelCatalog,
        NoticeLevel,
        ResourceLoader,
        SessionView,
        SettingsView,
        SideRequest,
        ThinkingLevel,
        ToolUpdate,
        UserInterface,
        WidgetPlacement,
    )

__all__ = ["NoUserInterface", "PluginContext", "ToolCallContext"]


class NoUserInterface:
    """Nobody is there: dialogs are dismissed at once.

    Args:
        notify: Where notices go; nowhere when None.
    """

    def __init__(self, notify: Callable[[str, NoticeLevel], object] | None = None) -> None:
        self._notify = notify

    async def select(self, title: str, options: Sequence[str], **_: Any) -> str | None:
        """Dismiss."""
        del title, options
        return None

    async def confirm(self, title: str, message: str = "", **_: Any) -> bool:
        """Dismiss, which is no."""
        del title, message
        return False

    async def input(self, title: str, placeholder: str | None = None, **_: Any) -> str | None:
        """Dismiss."""
        del title, placeholder
        return None

    async def editor(self, title: str, prefill: str = "") -> str | None:
        """Dismiss."""
        del title, prefill
        return None

    def notify(self, message: str, level: NoticeLevel = "info") -> None:
        """Pass a notice on."""
        if self._notify is not None:
            self._notify(message, level)

    def set_status(self, key: str, text: str | None = None) -> None:
        """Show nothing."""

    def set_widget(
        self, key: str, lines: Sequence[str] | None = None, *, placement: WidgetPlacement | None = None
    ) -> None:
        """Show nothing."""

    def set_editor_text(self, text: str) -> None:
        """Show nothing."""

    def set_title(self, title: str) -> None:
        """Show nothing."""


class PluginContext(CommandContext):
    """``ctx``: implements ``PiContext`` over a session."""

    def __init__(self, session: AgentSession) -> None:
        self._session = session
        session.handles.add(self)
        self.session: SessionView = ReadOnlySession(session.session_manager)

    @property
    def ui(self) -> UserInterface:
        """The user, through whatever front end runs now."""
        return plugin_ui(self._session.ui, self._session.hooks)

    @property
    def has_ui(self) -> bool:
        """Whether anybody can answer a dialog."""
        return self._session.has_ui

    @property
    def mode(self) -> str:
        """Which front end runs."""
        return self._session.mode

    @property
    def cwd(self) -> Path:
        """The session's working directory."""
        return self._session.cwd

    @property
    def settings(self) -> SettingsView:
        """What the user has set."""
        return self._session.settings

    @property
    def resources(self) -> ResourceLoader:
        """Skills, prompt templates, themes, context files."""
        return self._session.resources

    @property
    def model(self) -> Model | None:
        """Who answers."""
        return self._session.model

    @property
    def thinking_level(self) -> ThinkingLevel:
        """How hard it thinks."""
        return self._session.thinking_level

    @property
    def signal(self) -> AbortSignal | None:
        """The run's abort; None between runs."""
        return self._session.signal

    @property
    def system_prompt(self) -> str:
        """The system prompt as the next request would send it."""
        return self._session.agent.state.system_prompt

    def get_system_prompt(self) -> str:
        """Return ``system_prompt``."""
        return self.system_prompt

    @property
    def deps(self) -> Any:
        """What the program gave the session."""
        return self._session.deps

    @property
    def models(self) -> ModelCatalog:
        """The models that there are."""
        return self._session.models

    @property
    def scoped_models(self) -> Sequence[Model]:
        """The models that the user cycles through."""
        return tuple(each.model for each in self._session.scoped_models)

    def is_project_trusted(self) -> bool:
        """Whether files of the project itself may be used."""
        return self._session.is_project_trusted()

    def is_idle(self) -> bool:
        """Whether no prompt is being answered."""
        return not self._session.is_streaming

    def has_pending_messages(self) -> bool:
        """Whether messages are queued."""
        return self._session.agent.has_queued_messages()

    def context_usage(self) -> ContextUsage | None:
        """How full the window is, by the last answer's own count and an estimate of what followed."""
        return self._session.get_context_usage()

    async def compact(
        self, custom_instructions: str | None = None, *, reason: CompactionReason = "manual", will_retry: bool = False
    ) -> Compaction | None:
        """Compact the conversation, now."""
        return await self._session.compact_for(custom_instructions, reason, will_retry=will_retry)

    async def complete(self, context: Context, request: SideRequest) -> AssistantMessage:
        """Ask the model something beside the conversation."""
        return await self._session.complete(context, request)

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
        from pi_core.plugin_api.arguments import texts

        run, args = self._session.run_program, texts("ctx.exec", "arguments", args)
        return await run(command, args, cwd=cwd, signal=signal or self.signal, timeout=timeout, env=env)

    def create_session(self, **options: Any) -> AgentSession:
        """Return a session for a helper, to be used as ``async with``."""
        from pi_core.conversation.helper_session import create_helper

        return create_helper(self._session, self.signal, options)

    async def export(self, path: str | Path | None = None) -> Path:
        """Write the session into a file."""
        return await self._session.export(path)

    def find_model(self, name: str) -> Model:
        """Return the model that a name means, if it can answer now."""
        model = self._session.models.find(name)
        self._session.models.check(model)
        return model

    async def emit(self, event: Any) -> None:
        """Tell the session's subscribers of an event."""
        await self._session.tell(event)

    def abort(self, reason: str = "Operation aborted") -> None:
        """Stop the run that is going on."""
        self._session.request_abort(reason)

    def shutdown(self) -> None:
        """Ask the front end to end when the run is over."""
        self._session.shutdown_requested.set()


class ToolCallContext(PluginContext):
    """``ctx`` of a running tool: the session's, and this call."""

    def __init__(self, session: AgentSession, call: ToolCall, update: ToolUpdate, signal: AbortSignal) -> None:
        super().__init__(session)
        self._update = update
        self._abort_signal = signal
        self._relay: Relay | None = None
        self._nested = 0
        self.call_id = call.id

    @property
    def signal(self) -> AbortSignal:
        """The abort of the run that made this call."""
        return self._abort_signal

    def update(self, partial: ToolResult | str) -> None:
        """Show a partial result."""
        self._update(ToolResult.text(partial) if isinstance(partial, str) else partial)

    @property
    def tools(self) -> list[str]:
        """Names of the tools that the model is offered, and that ``execute_tool`` can run."""
        return self._session.get_active_tools()

    async def execute_tool(
        self, name: str, arguments: Mapping[str, Any], *, on_update: Callable[[ToolResult], None] | None = None
    ) -> ToolResult:
        """Run another tool, guarded and bounded as a call of the model is; its updates show under this call."""
        from pi_core.conversation.nested_calls import execute_tool

        self._nested += 1
        call = ToolCall(id=f"{self.call_id}/{self._nested}", name=name, arguments=dict(arguments))
        return await execute_tool(self._session, call, self._abort_signal, on_update or self._update)

    async def relay(self, event: Any) -> None:
        """Show a helper's progress under this call: ``session.subscribe(ctx.relay)``."""
        if self._relay is None:
            from pi_core.conversation.helper_session import Relay

            self._relay = Relay(self._update)
        self._relay.hear(event)

    def _outside(self, what: str) -> AgentSession:
        raise AgentBusy(f"A tool cannot {what}: the prompt that waits for the tool would wait for itself.")
