"""``ctx``: what a hook, a command or a tool may see and do."""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from attrs import frozen

from pi_hookspecs.actions import CommandActions
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from typing_extensions import TypeVar

    from pi_hookspecs.abort import AbortSignal
    from pi_hookspecs.actions import ExecResult, ModelCatalog
    from pi_hookspecs.messages import AssistantMessage
    from pi_hookspecs.models import Model, ThinkingLevel
    from pi_hookspecs.provider import Context
    from pi_hookspecs.resources import ResourceLoader
    from pi_hookspecs.service_values import Compaction, CompactionReason
    from pi_hookspecs.tools import ToolResult
    from pi_hookspecs.ui import UserInterface
    from pi_hookspecs.views import ContextUsage, SessionView, SettingsView

    DepsT_co = TypeVar("DepsT_co", default=Any, covariant=True)
else:
    DepsT_co = typing.TypeVar("DepsT_co", covariant=True)  # before Python 3.13 only type checkers know defaults

__all__ = [
    "PiContext",
    "RunMode",
    "SideRequest",
    "StartContext",
    "ToolContext",
]


RunMode: TypeAlias = str
"""The front end's name: ``tui``, ``rpc``, ``json``, ``print``, or what a plugin brings."""


@frozen(kw_only=True, eq=False, repr=False)
class SideRequest(Value):
    """How a request beside the conversation is made (``ctx.complete``).

    Attributes:
        purpose: What it is for, one word; the session's cost is kept by it.
        max_tokens: Limit of the answer; the model's own when None.
        reasoning: How hard the model thinks; the session's level when None.
        signal: Ends the request when it is aborted, beside the prompt's own.
        reason: Why a compaction is wanted, where it is for one.
        model: Who is asked; the session's model when None.
    """

    purpose: str
    max_tokens: int | None = None
    reasoning: ThinkingLevel | None = None
    signal: AbortSignal | None = None
    reason: CompactionReason | None = None
    model: Model | None = None


@runtime_checkable
class StartContext(Protocol):
    """What a hook may use before there is a session; ``PiContext`` has all of it."""

    @property
    def ui(self) -> UserInterface:
        """The user; nobody where ``has_ui`` is false."""
        ...

    @property
    def has_ui(self) -> bool:
        """Whether anybody can answer a dialog."""
        ...

    @property
    def mode(self) -> RunMode:
        """Which front end will run."""
        ...

    @property
    def cwd(self) -> Path:
        """The working directory."""
        ...

    @property
    def settings(self) -> SettingsView:
        """What the user has set; without a project's settings as long as nobody trusts it."""
        ...

    @property
    def signal(self) -> AbortSignal | None:
        """None: there is no run yet."""
        ...


@runtime_checkable
class PiContext(CommandActions, Protocol):
    """Everything that a plugin may use while it answers a hook."""

    @property
    def ui(self) -> UserInterface:
        """The user. Dialogs are awaited; while one is open the hook's deadline stands still."""
        ...

    @property
    def has_ui(self) -> bool:
        """Whether anybody can answer a dialog."""
        ...

    @property
    def mode(self) -> RunMode:
        """Which front end runs."""
        ...

    @property
    def cwd(self) -> Path:
        """The session's working directory."""
        ...

    @property
    def session(self) -> SessionView:
        """The conversation so far."""
        ...

    @property
    def settings(self) -> SettingsView:
        """What the user has set."""
        ...

    @property
    def deps(self) -> Any:
        """What the program that made the session gave it (``create_agent_session(deps=...)``), else None."""
        ...

    @property
    def resources(self) -> ResourceLoader:
        """Skills, prompt templates, themes, context files."""
        ...

    @property
    def model(self) -> Model | None:
        """Who answers."""
        ...

    @property
    def thinking_level(self) -> ThinkingLevel:
        """How hard it thinks."""
        ...

    @property
    def signal(self) -> AbortSignal | None:
        """The run's abort; None between runs."""
        ...

    @property
    def system_prompt(self) -> str:
        """The system prompt as the next request would send it."""
        ...

    def get_system_prompt(self) -> str:
        """Return ``system_prompt``."""
        ...

    @property
    def models(self) -> ModelCatalog:
        """The models that there are."""
        ...

    @property
    def scoped_models(self) -> Sequence[Model]:
        """The models that the user cycles through; empty for all that can be used."""
        ...

    def is_project_trusted(self) -> bool:
        """Whether files of the project itself may be used: settings, extensions, skills, prompts."""
        ...

    def is_idle(self) -> bool:
        """Whether no run is going on."""
        ...

    def has_pending_messages(self) -> bool:
        """Whether messages are queued."""
        ...

    def context_usage(self) -> ContextUsage | None:
        """How full the window is; None without a model."""
        ...

    async def compact(
        self, custom_instructions: str | None = None, *, reason: CompactionReason = "manual", will_retry: bool = False
    ) -> Compaction | None:
        """Compact the conversation, now.

        ``manual`` stops a run that is going on, unless the run itself asks, in a hook. With ``threshold`` and
        ``overflow`` it happens in place: the next request is told what is left.

        Returns:
            The compaction; None when there was nothing to do for another reason than ``manual``.

        Raises:
            UserError: It was asked for by hand and cannot be done.
            PiError: It failed, or was cancelled; the session is as it was.
        """
        ...

    async def exec(
        self,
        command: str,
        args: Sequence[str] = (),
        *,
        cwd: str | Path | None = None,
        signal: AbortSignal | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - as PiAPI.exec
        env: Mapping[str, str] | None = None,
    ) -> ExecResult:
        """Run a program, see ``PiAPI.exec``; an abort of the run kills it, or that of ``signal``."""
        ...

    def create_session(self, **options: Any) -> Any:
        """Return an ``AgentSession`` of its own, for a helper: ``async with ctx.create_session(...) as session``.

        It is kept in memory and has this one's working directory, model, plugins, settings and keys.

        Args:
            options: Those of ``create_agent_session``.

        Raises:
            PiError: Helpers have helpers have helpers: nobody wanted that.
        """
        ...

    async def complete(self, context: Context, request: SideRequest) -> AssistantMessage:
        """Ask the model something beside the conversation, and return its answer, or the error that it ended in.

        The request is made like those of the conversation: with the provider's key, the user's settings, the hooks
        around requests, and the installed retry policy.
        """
        ...

    async def export(self, path: str | Path | None = None) -> Path:
        """Write the session into a file and return its path; the suffix says the format, HTML where it says none.

        Raises:
            UserError: There is nothing to export, nobody who could, or no place to write to.
            PiError: The exporter failed.
        """
        ...

    def find_model(self, name: str) -> Model:
        """Return the model that a name means, as ``--model`` takes it; no server is asked.

        Raises:
            PiError: Nobody knows it, several could be meant, or it has no key and cannot answer now.
        """
        ...

    async def emit(self, event: Any) -> None:
        """Tell the session's subscribers of an event; its class has a ``type`` and attrs fields."""
        ...

    def abort(self, reason: str = "Operation aborted") -> None:
        """Stop the run that is going on."""
        ...

    def shutdown(self) -> None:
        """Ask the front end to end in good order, when the run is over."""
        ...


@runtime_checkable
class ToolContext(PiContext, Protocol[DepsT_co]):
    """What a running tool may use: the session's context, and its own call.

    A tool may name the type of ``deps``: ``ctx: ToolContext[Library]``.
    """

    @property
    def deps(self) -> DepsT_co:
        """What the program that made the session gave it (``create_agent_session(deps=...)``), else None."""
        ...

    @property
    def signal(self) -> AbortSignal:
        """The run's abort."""
        ...

    @property
    def call_id(self) -> str:
        """Id of this call."""
        ...

    def update(self, partial: ToolResult | str) -> None:
        """Show a partial result while the tool runs."""
        ...

    @property
    def tools(self) -> Sequence[str]:
        """Names of the tools that the model is offered, and that ``execute_tool`` can run."""
        ...

    async def execute_tool(
        self, name: str, arguments: Mapping[str, Any], *, on_update: Callable[[ToolResult], None] | None = None
    ) -> ToolResult:
        """Run another tool: validated, guarded and bounded as a call of the model is.

        Args:
            name: One of ``tools``.
            arguments: For its schema.
            on_update: Gets its partial results; they show under this call when None.

        Returns:
            Its result; a refusal, or what it raised, is one with ``is_error``.

        Raises:
            UnknownName: No such tool is offered.
            PiError: Tools that call tools have gone too deep.
        """
        ...

    async def relay(self, event: Any) -> None:
        """Show a helper's progress under this call: ``session.subscribe(ctx.relay)``."""
        ...
