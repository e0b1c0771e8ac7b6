"""``ctx``: what a hook, a command or a tool can read and do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from pi_hookspecs.actions import CommandActions
from pi_hookspecs.deferred import frozen
from pi_hookspecs.stored_sessions import StoredActions
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pi_hookspecs.abort import AbortSignal
    from pi_hookspecs.actions import ExecResult, ModelCatalog
    from pi_hookspecs.approvals import Permission
    from pi_hookspecs.events.prompt import PromptPart
    from pi_hookspecs.full_ui import FullUserInterface
    from pi_hookspecs.messages import AssistantMessage
    from pi_hookspecs.models import Model, ThinkingLevel
    from pi_hookspecs.operations import CommandOperations, FileOperations
    from pi_hookspecs.processes import Processes
    from pi_hookspecs.programs import SpawnRequest
    from pi_hookspecs.provider import Context
    from pi_hookspecs.resources import ResourceLoader
    from pi_hookspecs.secrets import SecretValues
    from pi_hookspecs.service_values import CacheWarmingState, Compaction, CompactionReason
    from pi_hookspecs.views import ChangeableSettings, ContextUsage, SessionView, SettingsView

__all__ = [
    "PiContext",
    "RunMode",
    "SideRequest",
    "StartContext",
]


RunMode: TypeAlias = str
"""The front end's name, such as ``fullscreen``, ``line``, ``rpc``, ``json`` or ``print``."""


@frozen(kw_only=True, eq=False, repr=False)
class SideRequest(Value):
    """Options of a request outside the conversation (``ctx.complete``).

    Attributes:
        purpose: What it is for, one word; the session's cost is broken down by it.
        max_tokens: Limit of the answer; the model's own when None.
        reasoning: Reasoning effort; the session's level when None.
        signal: Aborts the request, in addition to the prompt's own signal.
        reason: The reason of the compaction, if the request is for one.
        model: The model to ask; the session's model when None.
        image_options: For a request to an image model, as in ``StreamOptions``.
    """

    purpose: str
    max_tokens: int | None = None
    reasoning: ThinkingLevel | None = None
    signal: AbortSignal | None = None
    reason: CompactionReason | None = None
    model: Model | None = None
    image_options: Mapping[str, Any] | None = None


@runtime_checkable
class StartContext(Protocol):
    """What a hook may use before there is a session; ``PiContext`` has all of it."""

    @property
    def ui(self) -> FullUserInterface:
        """The user interface; dialogs return their default if ``has_ui`` is false."""
        ...

    @property
    def has_ui(self) -> bool:
        """Whether there is a user who can answer a dialog."""
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
        """The user's settings, and the project's once it is trusted."""
        ...

    @property
    def signal(self) -> AbortSignal | None:
        """None, because there is no run yet."""
        ...


@runtime_checkable
class PiContext(CommandActions, StoredActions, Protocol):
    """Everything that a plugin may use inside a hook."""

    @property
    def ui(self) -> FullUserInterface:
        """The user interface. Dialogs are awaited; while one is open the hook's deadline is paused."""
        ...

    @property
    def has_ui(self) -> bool:
        """Whether there is a user who can answer a dialog."""
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
    def settings(self) -> ChangeableSettings:
        """The user's settings."""
        ...

    @property
    def secrets(self) -> SecretValues:
        """The known keys, tokens and passwords, to be redacted from texts."""
        ...

    @property
    def deps(self) -> Any:
        """The object passed to ``create_agent_session(deps=...)``; None if there was none."""
        ...

    @property
    def resources(self) -> ResourceLoader:
        """Skills, prompt templates, themes, context files."""
        ...

    @property
    def model(self) -> Model | None:
        """The current model."""
        ...

    @property
    def thinking_level(self) -> ThinkingLevel:
        """The reasoning effort."""
        ...

    @property
    def signal(self) -> AbortSignal | None:
        """The run's abort signal; None between runs."""
        ...

    @property
    def system_prompt(self) -> str:
        """The system prompt of the next request."""
        ...

    def get_system_prompt(self) -> str:
        """Return ``system_prompt``."""
        ...

    @property
    def prompt_parts(self) -> Sequence[PromptPart]:
        """The parts of the system prompt and where each comes from; without what ``before_agent_start`` changed."""
        ...

    @property
    def models(self) -> ModelCatalog:
        """The known models."""
        ...

    @property
    def scoped_models(self) -> Sequence[Model]:
        """The models to cycle through; empty for all that can be used."""
        ...

    @property
    def cache_warming(self) -> CacheWarmingState | None:
        """The next decision on keeping the prompt in the provider's cache; None if there is none to make."""
        ...

    def get_flag(self, name: str, /) -> bool | str | None:
        """Return an option's value from the command line, or its default; see ``PiAPI.get_flag``."""
        ...

    def is_project_trusted(self) -> bool:
        """Whether the project's own files may be used: settings, extensions, skills, prompts."""
        ...

    def is_idle(self) -> bool:
        """Whether no run is in progress."""
        ...

    def has_pending_messages(self) -> bool:
        """Whether messages are queued."""
        ...

    def context_usage(self) -> ContextUsage | None:
        """How much of the context window is used; None without a model."""
        ...

    async def compact(
        self, custom_instructions: str | None = None, *, reason: CompactionReason = "manual", will_retry: bool = False
    ) -> Compaction | None:
        """Compact the conversation, now.

        ``manual`` stops a run in progress, unless it is called from a hook of that run. With ``threshold`` and
        ``overflow`` the run goes on: its next request has the shorter conversation.

        Returns:
            The compaction; None when there was nothing to compact and the reason is not ``manual``.

        Raises:
            UserError: The reason is ``manual`` and the conversation cannot be compacted.
            PiError: It failed, or was cancelled; the session is unchanged.
            AgentBusy: A handler of ``session_start`` calls this: the start would wait for itself.
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
        """Run a program, see ``PiAPI.exec``; it is killed when the run or ``signal`` is aborted."""
        ...

    @property
    def processes(self) -> Processes:
        """The session's managed background processes.

        Raises:
            UserError: On use, if no plugin provides processes; it names one that does.
        """
        ...

    def file_operations(self) -> FileOperations | None:
        """Return where plugins redirect file access (``ToolOperations``); None for this machine.

        A tool that reads or writes files of the workspace asks at each call.

        Raises:
            PiError: A plugin failed to provide them; the call must not be made on this machine instead.
        """
        ...

    def command_operations(self) -> CommandOperations | None:
        """Return where plugins redirect commands; as ``file_operations``."""
        ...

    def project_files(self) -> Sequence[str]:
        """Return the names of files that decide, merely by existing in a project, what programs do later.

        They are those of pi (``.pi``), of all installed plugins (``register_project_files``), and of shells, editors,
        build tools and other agents (``.envrc``, ``.npmrc``). Each is a path with ``/`` below any folder of the
        project; a folder includes everything in it. A guard protects them from the model.
        """
        ...

    async def list_permissions(self) -> Sequence[Permission]:
        """Return the decisions of the user that plugins remember (``register_permissions``), by store."""
        ...

    async def remove_permission(self, permission: Permission) -> None:
        """Undo a decision that ``list_permissions`` has returned.

        Raises:
            UserError: It cannot be undone.
        """
        ...

    async def child_environment(self, env: Mapping[str, str], *, purpose: str, command: str) -> Mapping[str, str]:
        """Return the environment for a program after the hook ``child_environment``; call it before you start one.

        ``ctx.exec`` does it itself.

        Args:
            env: All variables.
            purpose: As in ``ChildEnvironmentEvent``.
            command: What will run.

        Raises:
            PiError: A plugin failed; do not start the program.
        """
        ...

    async def prepare_spawn(self, request: SpawnRequest) -> SpawnRequest:
        """Return the program to start after all ``Launcher`` services have changed it; call it before you start one.

        ``ctx.exec`` does it itself.

        Raises:
            PiError: A plugin refuses the start, or failed; do not start the program.
        """
        ...

    async def trace_context(self) -> Mapping[str, str]:
        """Return ``traceparent`` and ``tracestate`` of the current operation, for a request to another program.

        They come from the tracing plugin (``TraceContext``) or, without one, from the prompt.
        """
        ...

    async def complete(self, context: Context, request: SideRequest) -> AssistantMessage:
        """Make a request outside the conversation; return the answer, or the assistant message with its error.

        It is sent like the conversation's own requests: with the provider's key, the user's settings, the request
        hooks, and the installed retry policy.
        """
        ...

    async def export(self, path: str | Path | None = None) -> Path:
        """Write the session to a file and return its path; the suffix selects the format, HTML by default.

        Raises:
            UserError: The session is empty, no exporter handles the format, or the file cannot be written.
            PiError: The exporter failed.
        """
        ...

    def find_model(self, name: str) -> Model:
        """Return the model for a name as ``--model`` takes it; no server is queried.

        Raises:
            PiError: The name is unknown or ambiguous, or the model's provider has no key.
        """
        ...

    async def emit(self, event: Any) -> None:
        """Emit an event to the session's subscribers; its class has a ``type`` and attrs fields.

        JSON mode and RPC write it as a line, unless its class has ``on_wire = False``.
        """
        ...

    def abort(self, reason: str = "Operation aborted", *, exit_code: int | None = None) -> None:
        """Abort the run in progress.

        Args:
            reason: Why, for what is aborted.
            exit_code: Exit code, 1 to 255, of a process that was started for this prompt, as ``pi -p``; 1 when None.
        """
        ...

    def shutdown(self) -> None:
        """Ask the front end to shut down cleanly when the run is over."""
        ...
