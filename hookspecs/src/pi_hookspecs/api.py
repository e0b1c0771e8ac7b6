"""``PiAPI``: the object that ``activate(pi)`` gets, for everything that is registered at run time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, overload, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from pathlib import Path

    from pi_hookspecs.abort import AbortSignal
    from pi_hookspecs.actions import EventBus, ExecResult, ToolInfo
    from pi_hookspecs.completions import Completer
    from pi_hookspecs.events.commands import CommandInfo
    from pi_hookspecs.interface_registrations import Renderer
    from pi_hookspecs.logins import Login
    from pi_hookspecs.mcp import McpServer
    from pi_hookspecs.messages import AssistantMessage, UserContent
    from pi_hookspecs.models import Model, ProviderInfo, ThinkingLevel
    from pi_hookspecs.provider import StreamFunction
    from pi_hookspecs.rare_messages import CustomMessage
    from pi_hookspecs.registrations import Touch
    from pi_hookspecs.renderers import ToolRenderer
    from pi_hookspecs.tools import ConstrainedSampling, ExecutionMode, Tool, ToolAnnotations, ToolExposure
    from pi_hookspecs.traces import HookTrace
    from pi_hookspecs.virtual_models import VirtualModel

__all__ = ["PiAPI"]

_F = TypeVar("_F", bound="Callable[..., Any]")


@runtime_checkable
class PiAPI(Protocol):
    """Registrations and actions of one plugin in one session.

    While ``activate`` runs, registrations are queued and no other method works; afterwards all do, and registrations
    take effect from the next request on. A method that registers something returns a function that removes it; called
    without the object to register, it is a decorator that returns the decorated function unchanged. After a reload, or
    the end of the session, every method raises ``StaleObject``.
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
        order, deadline, error reports and answer rule are the same as for an installed plugin.

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
        annotations: ToolAnnotations | None = None,
        output_schema: dict[str, Any] | None = None,
        exposure: ToolExposure = "direct",
        namespace: str | None = None,
        renderer: ToolRenderer | None = None,
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
        annotations: ToolAnnotations | None = None,
        output_schema: dict[str, Any] | None = None,
        exposure: ToolExposure = "direct",
        namespace: str | None = None,
        renderer: ToolRenderer | None = None,
    ) -> Callable[[Callable[..., Any]], Tool]: ...
    def register_tool(self, tool: Any = None, /, **how: Any) -> Any:
        """Add a tool. As a decorator of a function, with or without the options of ``@tool``, build the tool first.

        Raises:
            PluginError: It is not a valid tool.
        """
        ...

    @overload
    def register_command(
        self,
        name: str,
        /,
        *,
        description: str = "",
        complete: Completer | None = None,
        touches: Sequence[Touch] | None = None,
    ) -> Callable[[_F], _F]: ...
    @overload
    def register_command(
        self,
        name: str,
        handler: Callable[..., Any],
        /,
        *,
        description: str = "",
        complete: Completer | None = None,
        touches: Sequence[Touch] | None = None,
    ) -> Callable[[], None]: ...
    def register_command(
        self,
        name: str,
        handler: Any = None,
        /,
        *,
        description: str = "",
        complete: Completer | None = None,
        touches: Sequence[Touch] | None = None,
    ) -> Any:
        """Add the slash command ``/name``; if two have the same name, the one of the later plugin in load order wins.

        Args:
            name: Without the slash.
            handler: ``handler(args, ctx)``, plain or ``async``; ``args`` is the text after the name. Runs
                immediately, even while an answer is streaming.
            description: One line, for lists.
            complete: Gets the arguments typed so far, returns the possible completions, see ``Command``.
            touches: What it may use besides the conversation, see ``Command``.

        Raises:
            PluginError: The name is empty, or cannot be typed.
        """
        ...

    @overload
    def register_shortcut(self, key: str, /, *, description: str = "") -> Callable[[_F], _F]: ...
    @overload
    def register_shortcut(
        self, key: str, handler: Callable[..., Any], /, *, description: str = ""
    ) -> Callable[[], None]: ...
    def register_shortcut(self, key: str, handler: Any = None, /, *, description: str = "") -> Any:
        """Add a key binding of interactive front ends, ``ctrl+shift+p``; ``handler(ctx)`` is plain or ``async``."""
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
        """Add the option ``--name`` to the command line: a boolean flag, or one with a string value.

        The hook ``register_flags`` does the same and shows it in ``pi --help``.
        """
        ...

    def get_flag(self, name: str, /) -> bool | str | None:
        """Return an option's value from the command line, or its default; None if it is not registered."""
        ...

    def register_provider(
        self,
        provider_id: str,
        config: Mapping[str, Any] | ProviderInfo | VirtualModel,
        /,
        *,
        stream: StreamFunction | None = None,
        login: Login | None = None,
    ) -> Callable[[], None]:
        """Add a provider, or change a known one.

        Args:
            provider_id: Its id.
            config: As in models.json; merged over it and over what other plugins registered before. A ``ProviderInfo``
                replaces both, and so does a ``VirtualModel`` of this provider.
            stream: Implements the API that the provider names, as ``Provider.stream`` does.
            login: Signs in to it.

        Raises:
            UserError: The configuration is invalid. While ``activate`` runs it is reported instead of raised.
        """
        ...

    def unregister_provider(self, provider_id: str, /) -> None:
        """Remove what this plugin registered for a provider; does nothing if it registered none."""
        ...

    @overload
    def register_message_renderer(self, custom_type: str, /) -> Callable[[_F], _F]: ...
    @overload
    def register_message_renderer(
        self, custom_type: str, renderer: Renderer | ToolRenderer | Callable[..., Sequence[str]], /
    ) -> Callable[[], None]: ...
    def register_message_renderer(self, custom_type: str, renderer: Any = None, /) -> Any:
        """Render custom messages and entries of a type: ``renderer(value, *, width, expanded)`` returns lines.

        A ``ToolRenderer`` displays the tool that it names (since 1.2).
        """
        ...

    @overload
    def observe_hooks(self, /) -> Callable[[_F], _F]: ...
    @overload
    def observe_hooks(self, observer: Callable[[HookTrace], object], /) -> Callable[[], None]: ...
    def observe_hooks(self, observer: Any = None, /) -> Any:
        """Call ``observer(trace)`` after each call of a hook of any plugin, for telemetry; it is a plain function.

        It is called inside the run, so it should only record. Exceptions are reported, and so are calls that take more
        than a second; after three failures in a row it is no longer called. Calls of hooks that it causes itself are
        not observed. Calls of ``activate`` are observed, including those before it was registered.

        Raises:
            TypeError: It is ``async``, or not a function.
        """
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
            message: The message for the model.
            trigger_turn: While idle, start a run that answers it.
            deliver_as: How to queue it; as steering when None.

        Returns:
            An awaitable that waits for the answer, if there is one. The message is sent whether or not it is awaited;
            errors of one that is not awaited are reported.
        """
        ...

    def send_user_message(
        self, content: str | Sequence[UserContent], /, *, deliver_as: Literal["steer", "followUp"] | None = None
    ) -> Awaitable[AssistantMessage | None]:
        """Send a message as the user: always a separate turn; commands and templates are not expanded.

        Returns:
            An awaitable, like that of ``send_message``.

        Raises:
            AgentBusy: A run is in progress and ``deliver_as`` is None.
        """
        ...

    def append_entry(self, custom_type: str, data: Any = None, /) -> str:
        """Store plain data in the session, outside the model's context; returns the entry's id.

        Raises:
            PluginError: The data is not JSON. A copy of it is stored.
        """
        ...

    def set_label(self, entry_id: str, label: str | None = None, /) -> str:
        """Label an entry of the session, or remove its label; return the id of the label entry."""
        ...

    async def set_session_name(self, name: str | None, /) -> None:
        """Name the session; None removes the name."""
        ...

    def get_session_name(self) -> str | None:
        """Return the session's name."""
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
        """Run a program, without a shell, and return its output and exit status.

        Args:
            command: The program.
            args: Its arguments.
            cwd: Where it runs; the session's working directory when None.
            signal: On abort, the program and all its child processes are killed.
            timeout: Seconds, after which the same happens.
            env: Variables in addition to those of this process.
        """
        ...

    # MCP servers

    def register_mcp_server(self, name: str, config: Mapping[str, Any], /) -> Callable[[], None]:
        """Register an MCP server for the plugin that connects to them; return a function that removes it.

        It replaces what this plugin registered under the name; if several plugins use the name, the last one wins.

        Args:
            name: Letters, digits, ``_`` and ``-``.
            config: An entry of ``mcpServers`` in ``mcp.json``; a copy is kept.

        Raises:
            PluginError: The name is not valid, or the configuration is not JSON.
        """
        ...

    def unregister_mcp_server(self, name: str, /) -> None:
        """Remove the MCP server that this plugin registered under a name, if there is one."""
        ...

    def get_mcp_servers(self) -> Sequence[McpServer]:
        """Return the registered MCP servers, of all plugins."""
        ...

    # Choices

    def get_active_tools(self) -> list[str]:
        """Return the names of the active tools, which the model can call."""
        ...

    def set_active_tools(self, names: Sequence[str], /) -> None:
        """Make these tools active from the next request on; unknown names are ignored.

        This is how a ``deferred`` tool is offered; a ``hidden`` one stays hidden. The session's branch keeps which
        deferred tools are active, for resuming, forks and moves in the tree.
        """
        ...

    def get_all_tools(self) -> list[ToolInfo]:
        """Return every registered tool, active or not."""
        ...

    async def get_commands(self) -> Sequence[CommandInfo]:
        """Return the slash commands, including prompt templates and skills."""
        ...

    async def set_model(self, model: Model | str, /) -> bool:
        """Select another model from the next run on; return False when its provider has no key.

        Raises:
            UserError: No model matches the name, or several do.
        """
        ...

    def get_thinking_level(self) -> ThinkingLevel:
        """Return the reasoning effort."""
        ...

    async def set_thinking_level(self, level: ThinkingLevel, /) -> None:
        """Set the reasoning effort from the next run on, limited to what the model supports."""
        ...

    async def emit(self, event: Any, /) -> None:
        """Emit an event to the session's subscribers; its class has a ``type`` and attrs fields."""
        ...
