"""``PiAPI``: what ``activate(pi)`` hands to a plugin for everything dynamic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, overload, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from pathlib import Path

    from pi_hookspecs.abort import AbortSignal
    from pi_hookspecs.actions import EventBus, ExecResult, ToolInfo
    from pi_hookspecs.events.commands import CommandInfo
    from pi_hookspecs.messages import AssistantMessage, UserContent
    from pi_hookspecs.models import Model, ProviderInfo, ThinkingLevel
    from pi_hookspecs.provider import StreamFunction
    from pi_hookspecs.rare_messages import CustomMessage
    from pi_hookspecs.registrations import Login, Renderer
    from pi_hookspecs.tools import ConstrainedSampling, ExecutionMode, Tool

__all__ = ["PiAPI"]

_F = TypeVar("_F", bound="Callable[..., Any]")


@runtime_checkable
class PiAPI(Protocol):
    """Registrations and actions of one plugin in one session.

    While ``activate`` runs, registrations are queued and nothing else works yet; afterwards everything does, from the
    next request on. What registers something is a function that returns the way to take it away, and without what is
    to be registered a decorator that returns what it decorates. After a reload, or the end of the session, every
    method raises ``StaleObject``.
    """

    @property
    def plugin(self) -> str:
        """The plugin's name."""
        ...

    # Registrations

    @overload
    def on(self, event: str, /) -> Callable[[_F], _F]: ...
    @overload
    def on(self, event: str, handler: Callable[..., Any], /) -> Callable[[], None]: ...
    def on(self, event: str, handler: Any = None, /) -> Any:
        """Handle an event by its name.

        Handlers take ``event`` and ``ctx``, or the one they need, plain or ``async``, and follow the hook's rules:
        order, deadline, blame and answer rule are those of an installed plugin.

        Raises:
            UnknownName: No such event exists; the message names the nearest.
            TypeError: The handler cannot be called with an event and a context.
        """
        ...

    @overload
    def register_tool(self, tool: Tool, /) -> Callable[[], None]: ...
    @overload
    def register_tool(
        self,
        tool: Callable[..., Any],
        /,
        *,
        name: str | None = None,
        label: str | None = None,
        execution_mode: ExecutionMode | None = None,
        prompt_snippet: str | None = None,
        prompt_guidelines: Sequence[str] = (),
        default_active: bool = True,
        constrained_sampling: ConstrainedSampling | None = None,
    ) -> Tool: ...
    @overload
    def register_tool(
        self,
        /,
        *,
        name: str | None = None,
        label: str | None = None,
        execution_mode: ExecutionMode | None = None,
        prompt_snippet: str | None = None,
        prompt_guidelines: Sequence[str] = (),
        default_active: bool = True,
        constrained_sampling: ConstrainedSampling | None = None,
    ) -> Callable[[Callable[..., Any]], Tool]: ...
    def register_tool(self, tool: Any = None, /, **how: Any) -> Any:
        """Add a tool; over a function, with or without the options of ``@tool``, make one of it first.

        Raises:
            PluginError: It is no tool that could be used.
        """
        ...

    @overload
    def register_command(
        self, name: str, /, *, description: str = "", complete: Callable[[str], Sequence[str]] | None = None
    ) -> Callable[[_F], _F]: ...
    @overload
    def register_command(
        self,
        name: str,
        handler: Callable[..., Any],
        /,
        *,
        description: str = "",
        complete: Callable[[str], Sequence[str]] | None = None,
    ) -> Callable[[], None]: ...
    def register_command(
        self,
        name: str,
        handler: Any = None,
        /,
        *,
        description: str = "",
        complete: Callable[[str], Sequence[str]] | None = None,
    ) -> Any:
        """Add the slash command ``/name``; of two with one name the plugin later in load order has it.

        Args:
            name: Without the slash.
            handler: ``handler(args, ctx)``, plain or ``async``, gets what follows the name; runs at once, even while an
                answer is being made.
            description: One line, for lists.
            complete: Gets what is typed of the arguments, returns what it could become.

        Raises:
            PluginError: It has no name, or one that cannot be typed.
        """
        ...

    @overload
    def register_shortcut(self, key: str, /, *, description: str = "") -> Callable[[_F], _F]: ...
    @overload
    def register_shortcut(
        self, key: str, handler: Callable[..., Any], /, *, description: str = ""
    ) -> Callable[[], None]: ...
    def register_shortcut(self, key: str, handler: Any = None, /, *, description: str = "") -> Any:
        """Add a key of interactive front ends, ``ctrl+shift+p``; ``handler(ctx)`` is plain or ``async``."""
        ...

    def register_flag(
        self,
        name: str,
        /,
        *,
        type: type[bool | str] | Literal["boolean", "string"] = "boolean",  # noqa: A002 - the contract's name
        default: bool | str | None = None,
        description: str = "",
    ) -> Callable[[], None]:
        """Add the option ``--name`` to the command line: present or not, or with a text.

        The hook ``register_flags`` does the same and shows it in ``pi --help``.
        """
        ...

    def get_flag(self, name: str, /) -> bool | str | None:
        """Return what the command line says of an option, else its default; None for one that nobody registered."""
        ...

    def register_provider(
        self,
        provider_id: str,
        config: Mapping[str, Any] | ProviderInfo,
        /,
        *,
        stream: StreamFunction | None = None,
        login: Login | None = None,
    ) -> Callable[[], None]:
        """Add a provider, or change a known one.

        Args:
            provider_id: Its id.
            config: As in models.json, which it lies over, as over what other plugins registered before; a
                ``ProviderInfo`` replaces what is known.
            stream: Answers for the API that the provider names, as ``Provider.stream`` does.
            login: Signs in to it.

        Raises:
            UserError: The configuration is not as it must be; told in the report, where ``activate`` registers it.
        """
        ...

    def unregister_provider(self, provider_id: str, /) -> None:
        """Take away what this plugin registered for a provider; without that nothing happens."""
        ...

    @overload
    def register_message_renderer(self, custom_type: str, /) -> Callable[[_F], _F]: ...
    @overload
    def register_message_renderer(
        self, custom_type: str, renderer: Renderer | Callable[..., Sequence[str]], /
    ) -> Callable[[], None]: ...
    def register_message_renderer(self, custom_type: str, renderer: Any = None, /) -> Any:
        """Show custom messages and entries of a type: ``renderer(value, *, width, expanded)`` returns lines."""
        ...

    @property
    def events(self) -> EventBus:
        """Plain data between plugins."""
        ...

    # Messages and entries

    def send_message(
        self,
        message: CustomMessage,
        /,
        *,
        trigger_turn: bool = False,
        deliver_as: Literal["steer", "followUp", "nextTurn"] | None = None,
    ) -> Awaitable[AssistantMessage | None]:
        """Add a message: stored while idle, queued during a run, ``nextTurn`` with the user's next prompt.

        Args:
            message: What the model is told.
            trigger_turn: While idle, have it answered at once.
            deliver_as: How to queue it; as steering when None.

        Returns:
            Waits for the answer, if one is made; what goes wrong unwaited is reported. It is sent in any case.
        """
        ...

    def send_user_message(
        self, content: str | Sequence[UserContent], /, *, deliver_as: Literal["steer", "followUp"] | None = None
    ) -> Awaitable[AssistantMessage | None]:
        """Say something in the user's place: always a turn of its own, no command, no template.

        Returns:
            Waits for the answer, as ``send_message`` does.

        Raises:
            AgentBusy: A run is going on and ``deliver_as`` does not say how to queue.
        """
        ...

    def append_entry(self, custom_type: str, data: Any = None, /) -> str:
        """Store plain data in the session, outside the model's context; returns the entry's id.

        Raises:
            PluginError: JSON cannot say it; of what it can, a copy is stored.
        """
        ...

    def set_label(self, entry_id: str, label: str | None = None, /) -> str:
        """Name an entry of the session, or take its name away; returns the id of the entry that says so."""
        ...

    async def set_session_name(self, name: str | None, /) -> None:
        """Name the session; None takes the name away."""
        ...

    def get_session_name(self) -> str | None:
        """Return what the user calls the session."""
        ...

    # Programs

    async def exec(
        self,
        command: str,
        args: Sequence[str] = (),
        *,
        cwd: str | Path | None = None,
        signal: AbortSignal | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - part of the contract: the program is killed, not only left
        env: Mapping[str, str] | None = None,
    ) -> ExecResult:
        """Run a program, without a shell, and return what it printed and how it ended.

        Args:
            command: The program.
            args: Its arguments.
            cwd: Where it runs; the session's working directory when None.
            signal: Kills it and all that it started.
            timeout: Seconds, after which the same happens.
            env: Variables beside those of this process.
        """
        ...

    # Choices

    def get_active_tools(self) -> list[str]:
        """Return the names of the tools that the model is offered."""
        ...

    def set_active_tools(self, names: Sequence[str], /) -> None:
        """Offer the model these tools from the next request on; names that nobody knows are ignored."""
        ...

    def get_all_tools(self) -> list[ToolInfo]:
        """Return every tool that could be offered."""
        ...

    async def get_commands(self) -> Sequence[CommandInfo]:
        """Return what can be called with a slash: plugins' commands, prompt templates, skills."""
        ...

    async def set_model(self, model: Model | str, /) -> bool:
        """Let another model answer from the next run on; False when its provider has no key.

        Raises:
            UserError: No model of that name, or several.
        """
        ...

    def get_thinking_level(self) -> ThinkingLevel:
        """Return how hard the model thinks."""
        ...

    async def set_thinking_level(self, level: ThinkingLevel, /) -> None:
        """Let the model think more or less from the next run on, as far as it can."""
        ...

    async def emit(self, event: Any, /) -> None:
        """Tell the session's subscribers of an event; its class has a ``type`` and attrs fields."""
        ...
