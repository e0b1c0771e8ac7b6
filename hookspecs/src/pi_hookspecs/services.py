"""Policies that a plugin provides and core calls through a protocol (``register_services``).

Of most kinds the last one in load order is used; without one, the session's method raises an error that names the
plugin to install. All ``ToolOperations`` are asked, because each may leave a call to the others, and so are all
``Launcher``: each gets the request as the previous one returned it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from pi_hookspecs.context import PiContext
    from pi_hookspecs.messages import AssistantMessage
    from pi_hookspecs.models import Model
    from pi_hookspecs.operations import CommandOperations, SomeFileOperations
    from pi_hookspecs.processes import Processes
    from pi_hookspecs.programs import PluginManifest, SpawnRequest
    from pi_hookspecs.provider import Context, StreamOptions
    from pi_hookspecs.rare_messages import BashExecutionMessage
    from pi_hookspecs.secrets import SecretValues
    from pi_hookspecs.service_values import (
        BranchSummary,
        BranchSummaryRequest,
        CachedPrompt,
        CacheWarmingPlan,
        CommandRequest,
        Compaction,
        CompactionRequest,
        RetryDecision,
    )
    from pi_hookspecs.session_store import SessionPlace, SessionStore
    from pi_hookspecs.stored_sessions import SessionMatch
    from pi_hookspecs.stream import AssistantMessageEvent
    from pi_hookspecs.views import SettingsView

__all__ = [
    "AnswerFilter",
    "BranchSummarizer",
    "CacheWarmer",
    "CommandRunner",
    "Compactor",
    "ExtensionLanguage",
    "Launcher",
    "PluginRunner",
    "ProcessKeeper",
    "Retrier",
    "Service",
    "SessionSearch",
    "TextRedactor",
    "ToolOperations",
    "TraceContext",
]


@runtime_checkable
class Compactor(Protocol):
    """Compacts a conversation.

    It may also have ``prepare(request, ctx) -> CompactionPreparation | None``, plain or ``async``: the plan,
    passed to the hook ``session_before_compact`` before any request to a model; None when there is nothing to compact.
    Without it, that hook gets only the branch.
    """

    async def compact(self, request: CompactionRequest, ctx: PiContext) -> Compaction | None:
        """Return the compaction, or None when there is nothing to compact.

        Raises:
            PiError: It could not be made; the message says why. The session is not changed.
        """
        ...


@runtime_checkable
class BranchSummarizer(Protocol):
    """Summarises a branch that the conversation leaves."""

    async def summarize_branch(self, request: BranchSummaryRequest, ctx: PiContext) -> BranchSummary | None:
        """Return the summary, or None when there is nothing to summarise."""
        ...


@runtime_checkable
class Retrier(Protocol):
    """Decides whether to retry a failed request.

    It may also have ``leave_out(message, request, attempt, ctx) -> LeftOut | None``: the part of a refused request
    without which it is sent again, and every later one. ``request`` is the ``Context`` that was refused, ``attempt``
    counts the parts of this prompt from 1. Called when ``decide`` gave up; None leaves nothing out.
    """

    def decide(self, message: AssistantMessage, attempt: int, ctx: PiContext) -> RetryDecision | None:
        """Return when to retry, or None to give up.

        Called right after a request failed, while the prompt waits.

        Args:
            message: The failed answer, with ``error_message``.
            attempt: Number of this retry, from 1.
            ctx: The session.
        """
        ...


@runtime_checkable
class CacheWarmer(Protocol):
    """Decides whether to keep a prompt in the cache of its provider while the conversation makes no request."""

    def plan_cache_warming(self, prompt: CachedPrompt, ctx: PiContext) -> CacheWarmingPlan:
        """Return whether and when to send the last request again.

        Called after each answer of a model with a known lifetime of its cache (``Model.prompt_cache``), when the
        session begins to wait for the next prompt, when the planned time has come, and after each refresh.
        """
        ...


@runtime_checkable
class AnswerFilter(Protocol):
    """Changes the events of answers before anything else gets them, for the providers of all plugins.

    All providers are asked before each request, in load order; each filter gets the events that the previous one
    returned. If one raises, the answer ends with an error that names the plugin.

    Since: 1.2
    """

    def filter_answer(
        self, model: Model, context: Context, options: StreamOptions, settings: SettingsView
    ) -> Callable[[AssistantMessageEvent], Iterable[AssistantMessageEvent]] | None:
        """Return a function for one answer, or None to leave it as it is.

        The function is called with every event of the provider's stream, and returns those that take its place: the
        event itself, none, or others. It waits for nothing. After the last event, ``Done`` or ``Error``, it must have
        returned exactly one of these two. The calls of the message in ``Done`` run like all others, after the guards
        were asked.

        Args:
            model: The model that is asked.
            context: The request.
            options: The options of the request.
            settings: The user's settings.
        """
        ...


@runtime_checkable
class CommandRunner(Protocol):
    """Runs the user's own commands, such as ``!ls``."""

    async def run_command(self, request: CommandRequest, ctx: PiContext) -> BashExecutionMessage:
        """Run a command and return its output, truncated as the ``bash`` tool does, and its exit status.

        A command that fails or is aborted is a result, too.
        """
        ...


@runtime_checkable
class ToolOperations(Protocol):
    """Redirects tools to another place: a container, another machine, the unsaved text of an editor.

    Asked at every call of a tool and for the user's ``!`` commands, beginning with the last provider in load order.
    If all return None, the tool works on this machine. If one raises, the call fails: it is not made on this machine
    instead.
    """

    def files(self, ctx: PiContext) -> SomeFileOperations | None:
        """Return where the files of this call are; None expresses no opinion.

        For a call of ``read``, ``write``, ``edit``, ``grep``, ``find`` or ``ls`` the operations of that tool are
        enough, as ``ReadOperations``; for every other tool it must be all of ``FileOperations``.

        Args:
            ctx: The context of the tool, whose ``tool_name`` and ``call_id`` identify the call; if a plugin asks with
                ``ctx.file_operations()`` outside of a tool, the context of that plugin, which has neither.
        """
        ...

    def commands(self, ctx: PiContext) -> CommandOperations | None:
        """Return what runs the command of this call; None expresses no opinion.

        Args:
            ctx: The context of the tool ``bash``, or of the session for a command of the user.
        """
        ...


@runtime_checkable
class Launcher(Protocol):
    """Decides how programs are started on this machine: in a sandbox, with limits, or not at all.

    Asked before every start: of commands of ``bash`` and of the user, of ``ctx.exec``, ripgrep, key commands and
    servers. All providers are asked in load order. If one raises, the program is not started.
    """

    async def prepare(self, request: SpawnRequest, ctx: PiContext) -> SpawnRequest:
        """Return the request, or a changed one: ``attrs.evolve(request, argv=("bwrap", ..., *request.argv))``.

        Raises:
            PiError: It must not be started; the message says why, to the model or the user.
        """
        ...


@runtime_checkable
class PluginRunner(Protocol):
    """Turns programs in any language into plugins: folders whose ``pi_plugin.json`` names a command."""

    def load_plugin(self, manifest: PluginManifest, report: Callable[[str], None]) -> object:
        """Return an object that implements ``activate``, as the module of a plugin does; start nothing.

        Args:
            manifest: The plugin.
            report: Called with each problem that leaves the rest of the plugin usable.

        Raises:
            UserError: It cannot be used. For a plugin that may refuse calls, return an object whose hooks fail
                instead, so that its absence permits nothing.
        """
        ...


@runtime_checkable
class ExtensionLanguage(Protocol):
    """Turns extensions in languages other than Python into plugins: names the program that runs them.

    It may also have:

    - ``install_packages(settings, environ, say, scripts)``, which fetches what extensions import, if it is missing;
      ``pi install`` calls it with the files of extensions, or with None to fetch it in any case; ``say`` takes lines
      for the user;
    - ``check(file, settings)``, which loads a file for its author and returns what is wrong with it and what it
      registers: pairs of ``error``, ``warning`` or ``note`` and a sentence;
    - ``diagnose(files, settings)``, which returns rows for ``pi doctor``: ``ok``, ``note``, ``warning`` or ``error``, a
      sentence, and what to do.

    Since: 1.1
    """

    suffixes: tuple[str, ...]
    """Ends of the names of files that it can run, such as ``(".ts", ".js")``."""

    def manifest_of(self, file: Path, name: str, settings: SettingsView) -> PluginManifest:
        """Return the plugin of a file, whose ``entry`` is the file; start nothing.

        Args:
            file: The extension.
            name: The plugin's name.
            settings: The user's settings.

        Raises:
            UserError: It cannot be run, for example because there is no interpreter; the message says what to do.
        """
        ...


@runtime_checkable
class ProcessKeeper(Protocol):
    """Runs background processes for ``ctx.processes``, and ends them at ``session_shutdown``, except for a reload."""

    def processes(self, ctx: PiContext) -> Processes:
        """Return the processes of the session of a context."""
        ...


@runtime_checkable
class TraceContext(Protocol):
    """Provides the span of a distributed trace that a session works on; ``ctx.trace_context()`` asks it."""

    async def trace_context(self, ctx: PiContext) -> Mapping[str, str]:
        """Return ``traceparent`` and, if there is one, ``tracestate``, as in W3C Trace Context; empty for no span.

        Args:
            ctx: The context of the tool, whose ``call_id`` identifies the call, or of a hook, without ``call_id``.
        """
        ...


@runtime_checkable
class TextRedactor(Protocol):
    """Removes secrets from texts that are written somewhere; ``ctx.secrets.clean`` asks it.

    All providers are asked in load order, each for what the previous one returned. If one raises, the call fails and
    the text is not written.
    """

    def redact(self, text: str, settings: SettingsView, secrets: SecretValues) -> str:
        """Return the text without secrets; the same object if it has none. It is called in any thread.

        Args:
            text: Any text: a whole one, or the part of a stream that may be written by now.
            settings: The user's settings.
            secrets: The secrets that pi knows.
        """
        ...


@runtime_checkable
class SessionSearch(Protocol):
    """Searches stored sessions for stores that cannot do so themselves; ``ctx.sessions.search`` asks it."""

    def search_sessions(
        self, store: SessionStore, place: SessionPlace, query: str, cwd: str | None, limit: int
    ) -> Sequence[SessionMatch] | None:
        """Search the sessions of a store; called in a thread.

        Args:
            store: The store that the user chose; it is not a ``SearchableStore``.
            place: Where it keeps its sessions.
            query: See ``SearchableStore.search``, also for the following arguments.
            cwd: The working directory; all when None.
            limit: The most matches.

        Returns:
            At most ``limit`` matches, the best first; None for a store that it cannot search.
        """
        ...


Service = (
    Compactor
    | BranchSummarizer
    | Retrier
    | CacheWarmer
    | AnswerFilter
    | CommandRunner
    | ToolOperations
    | Launcher
    | PluginRunner
    | ExtensionLanguage
    | ProcessKeeper
    | SessionSearch
    | TextRedactor
    | TraceContext
)
"""Types that ``register_services`` may return."""
