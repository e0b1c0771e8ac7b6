"""``pi``: one plugin's registrations and actions in one session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pi_core.conversation.handles import Handle, unbound_parts
from pi_core.plugin_api.arguments import (
    check_delivery,
    check_event,
    check_event_object,
    check_message,
    check_session_name,
    check_text,
    entry_data,
    flag_name,
    texts,
    user_content,
)
from pi_core.plugin_api.callbacks import FunctionRenderer, NoticeHandler
from pi_core.plugin_api.deprecated_use import noting_api
from pi_core.plugin_api.event_bus import PluginEvents
from pi_core.plugin_api.registrations import BeforeSession, Registration, checked
from pi_hookspecs import MissingKey, PluginError, Tool

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from pathlib import Path

    from pi_core.conversation.parts import Parts
    from pi_core.host import PluginHost
    from pi_core.models.registry import ModelRegistry
    from pi_core.plugin_api.registrations import What
    from pi_hookspecs import (
        AbortSignal,
        AssistantMessage,
        CommandInfo,
        Completer,
        CustomMessage,
        ExecResult,
        Login,
        McpServer,
        Model,
        ProviderInfo,
        StreamFunction,
        ThinkingLevel,
        ToolInfo,
        Touch,
        VirtualModel,
    )
    from pi_hookspecs.messages import UserContent

    Add = Callable[[Parts], Callable[[], None]]

__all__ = ["PluginAPI", "pi_of"]

_NOTICES = {"auto_compaction_start": "compaction_start", "auto_compaction_end": "compaction_end"}
"""Names of events that plugins can handle like hooks, and the notice that each refers to."""


class PluginAPI(Handle):
    """Implements ``PiAPI``.

    It is created before there is a session, for ``activate``; registrations are queued until ``bind`` is called.
    """

    _parts: Parts
    activation = (0.0, 0.0, False)  # the type that ActivatedPlugin declares

    def __init__(self, plugin: str) -> None:
        self.plugin = plugin
        self.flags: list[Any] = []
        self._parts = unbound_parts()
        self._bound = False
        self._registrations: list[Registration[Any]] = []
        self._providers: dict[str, Registration[Parts | BeforeSession]] = {}

    # Life cycle

    def bind(self, parts: Parts) -> None:
        """Make the queued registrations with the parts of a session, and enable all other methods."""
        self._parts, self._bound = parts, True
        parts.runtime.plugins.handles.add(self)
        for registration in tuple(self._registrations):
            try:
                registration.bind(parts)
            except Exception as error:  # noqa: BLE001 - some mistakes are only found now
                parts.runtime.report_plugin_error(self.plugin, "activate", str(error))

    def bind_providers(self, host: PluginHost, models: ModelRegistry) -> int:
        """Register only the providers, before there is a session; return their number.

        Raises:
            UserError: A provider's configuration is not valid.
        """
        before = BeforeSession(host=host, models=models)
        providers = [each for each in self._providers.values() if each in self._registrations]
        for registration in providers:
            registration.bind(before)
        return len(providers)

    def withdraw(self) -> None:
        """Remove all registrations."""
        for registration in tuple(self._registrations):
            registration.remove()

    def registered(self) -> list[What]:
        """Return the current registrations, in order."""
        return [each.what for each in self._registrations]

    def register_by(self, what: What, handler: Any, add_of: Callable[[Any], Add]) -> Any:
        """Register ``add_of(handler)``; without a handler return a decorator that does."""
        if handler is not None:
            return self._register(what, add_of(handler))

        def decorate(function: Any) -> Any:
            self._register(what, add_of(function))
            return function

        return decorate

    def _register(self, what: What, add: Add) -> Callable[[], None]:
        registration = Registration(what, add, self._forget)
        self._keep(registration)
        return registration.remove

    def when_bound(self, what: What, do: Callable[[], None]) -> None:
        """Do something now, or, while ``activate`` runs, as soon as there is a session."""

        def add(_parts: object) -> Callable[[], None]:
            do()
            return lambda: None

        if self._bound:
            do()
        else:
            self._register(what, add)

    def _keep(self, registration: Registration[Any]) -> None:
        if self._bound:
            registration.bind(self._parts)
        self._registrations.append(registration)

    def _forget(self, registration: Registration[Any]) -> None:
        if registration in self._registrations:
            self._registrations.remove(registration)

    def _add(self, hook: str, thing: Any) -> Add:
        thing = checked(hook, self.plugin, thing)
        return lambda parts: parts.runtime.registrations.add(hook, self.plugin, thing)

    # Registrations

    def on(self, event: str, handler: Any = None, /) -> Any:
        """Handle an event: ``pi.on("turn_end", handler)`` or ``@pi.on("turn_end")``."""
        from pi_core.hooks.signatures import cannot_be_awaited, parameters

        check_text("pi.on", "event", event)
        notice = _NOTICES.get(event)
        spec = check_event(event) if notice is None else None

        def add_of(function: Callable[..., Any]) -> Add:
            parameters(function)  # a handler with a wrong signature raises here, at the plugin's call
            if spec is not None and (problem := cannot_be_awaited(spec, function)):
                raise TypeError(f"The handler of {event} {problem}")
            if notice is not None:
                notices = frozenset({notice})
                return lambda parts: parts.runtime.events.add(
                    NoticeHandler(parts.runtime, self.plugin, function), notices
                )
            return lambda parts: parts.runtime.hooks.add(self.plugin, event, function)

        return self.register_by(("hook", event), handler, add_of)

    def register_tool(self, *given: Any, **how: Any) -> Any:
        """Add a tool from the next request on; as a decorator, create the tool from a function."""
        from pi_hookspecs.tools import tool as make_tool

        if not given:
            return lambda function: self._tool_of(make_tool(**how)(function))
        (tool,) = given
        if not isinstance(tool, Tool) and callable(tool):
            return self._tool_of(make_tool(**how)(tool))
        checked("register_tools", self.plugin, tool)
        if how:
            raise PluginError(
                self.plugin, f"tool {tool.name!r} is already a Tool; set {', '.join(how)} where it is created"
            )
        return self._register(("tool", tool.name), lambda parts: parts.tools.add(tool, self.plugin))

    def _tool_of(self, tool: Tool) -> Tool:
        self.register_tool(tool)
        return tool

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
        """Add the slash command ``/name``: ``handler(args, ctx)``."""
        from pi_hookspecs import Command

        check_text("pi.register_command", "name", name)
        if not name or name != name.strip() or name.startswith("/") or any(map(str.isspace, name)):
            raise PluginError(self.plugin, f"command {name!r} cannot be typed: use a name without slashes and spaces")

        def add_of(function: Any) -> Add:
            command = Command(name=name, handler=function, description=description, complete=complete, touches=touches)
            return self._add("register_commands", command)

        return self.register_by(("command", name), handler, add_of)

    def register_shortcut(self, key: str, handler: Any = None, /, *, description: str = "") -> Any:
        """Add a key of interactive front ends: ``handler(ctx)``."""
        from pi_hookspecs import Shortcut

        check_text("pi.register_shortcut", "key", key)

        def add_of(function: Any) -> Add:
            return self._add("register_shortcuts", Shortcut(name=key, handler=function, description=description))

        return self.register_by(("shortcut", key), handler, add_of)

    def register_flag(
        self,
        name: str,
        /,
        *,
        type: type[bool | str] | Literal["boolean", "string"] = "boolean",  # noqa: A002 - the contract's name
        default: bool | str | None = None,
        description: str = "",
    ) -> Callable[[], None]:
        """Add the option ``--name`` to the command line."""
        from pi_hookspecs import Flag

        check_text("pi.register_flag", "name", name)
        plain = flag_name(self.plugin, name)
        kinds: dict[Any, Literal["boolean", "string"]] = {bool: "boolean", str: "string"}
        kind = kinds.get(type, type)
        if kind not in ("boolean", "string"):
            raise PluginError(self.plugin, f"flag {name!r}: type is {type!r}, which is neither bool nor str")
        flag = Flag(name=plain, type=kind, default=default, description=description)
        self.flags.append(flag)
        return self._register(("flag", flag.name), self._add("register_flags", flag))

    def get_flag(self, name: str, /) -> bool | str | None:
        """Return the value of an option on the command line, else its default."""
        return self._parts.commands.flag(name.removeprefix("--"))

    def register_provider(
        self,
        provider_id: str,
        config: Mapping[str, Any] | ProviderInfo | VirtualModel,
        /,
        *,
        stream: StreamFunction | None = None,
        login: Login | None = None,
    ) -> Callable[[], None]:
        """Add a provider, or change a known one."""
        self.unregister_provider(provider_id)
        if login is not None:
            checked("register_logins", self.plugin, login)

        def add(target: Parts | BeforeSession) -> Callable[[], None]:
            known = target if isinstance(target, BeforeSession) else target.runtime
            remove = known.models.register_provider(provider_id, config, stream, plugin=self.plugin)
            sign_out = known.host.register("register_logins", self.plugin, login) if login is not None else None

            def take_back() -> None:
                remove()
                if sign_out is not None:
                    sign_out()

            return take_back

        registration = Registration(("provider", provider_id), add, self._forget)
        self._keep(registration)
        self._providers[provider_id] = registration
        return registration.remove

    def unregister_provider(self, provider_id: str, /) -> None:
        """Remove this plugin's registrations of a provider."""
        registration = self._providers.pop(provider_id, None)
        if registration is not None:
            registration.remove()

    def register_mcp_server(self, name: str, config: Mapping[str, Any], /) -> Callable[[], None]:
        """Register an MCP server for the plugin that connects to them."""
        from pi_core.conversation.mcp_servers import checked_server

        server = checked_server(self.plugin, name, config)
        self.unregister_mcp_server(name)
        return self._register(("mcp_server", name), lambda parts: parts.mcp_servers.add(server))

    def unregister_mcp_server(self, name: str, /) -> None:
        """Remove the MCP server that this plugin registered under a name."""
        for registration in [each for each in self._registrations if each.what == ("mcp_server", name)]:
            registration.remove()

    def get_mcp_servers(self) -> tuple[McpServer, ...]:
        """Return the registered MCP servers."""
        return self._parts.mcp_servers.all()

    def register_message_renderer(self, custom_type: str, renderer: Any = None, /) -> Any:
        """Render custom messages and entries of a type: ``renderer(value, *, width, expanded)`` returns lines.

        A ``ToolRenderer`` displays the tool that it names.
        """
        from pi_hookspecs import Renderer, ToolRenderer

        check_text("pi.register_message_renderer", "custom_type", custom_type)

        def add_of(given: Any) -> Add:
            if not isinstance(given, Renderer | ToolRenderer):
                given = FunctionRenderer.of(self.plugin, custom_type, given)
            return self._add("register_renderers", given)

        kind = "tool renderer" if isinstance(renderer, ToolRenderer) else "renderer"
        return self.register_by((kind, custom_type), renderer, add_of)

    def observe_hooks(self, observer: Any = None, /) -> Any:
        """Call ``observer(trace)`` after each call of a hook."""
        from pi_core.hooks.observers import Observer

        def add_of(given: Any) -> Add:
            Observer(self.plugin, given)  # raises if it is not a plain function, even while activate runs
            return lambda parts: parts.runtime.hooks.observe(self.plugin, given)

        return self.register_by(("observer", "hooks"), observer, add_of)

    @property
    def events(self) -> PluginEvents:
        """The event bus for plain data between plugins."""
        return PluginEvents(self.plugin, self.register_by, lambda: self._parts.bus)

    # Messages

    def send_message(
        self,
        message: CustomMessage,
        /,
        *,
        trigger_turn: bool = False,
        deliver_as: Literal["steer", "followUp", "nextTurn"] | None = None,
    ) -> Awaitable[AssistantMessage | None]:
        """Send a message; awaiting the result waits for the answer."""
        check_message(message)
        check_delivery(deliver_as, "steer", "followUp", "nextTurn")
        return self._parts.outbox.send_message_of(
            self.plugin, message, trigger_turn=trigger_turn, deliver_as=deliver_as
        )

    def send_user_message(
        self, content: str | Sequence[UserContent], /, *, deliver_as: Literal["steer", "followUp"] | None = None
    ) -> Awaitable[AssistantMessage | None]:
        """Send a message as the user; awaiting the result waits for the answer."""
        check_delivery(deliver_as, "steer", "followUp")
        return self._parts.outbox.send_user_message_of(self.plugin, user_content(content), deliver_as)

    # Entries of the session, and its name

    def append_entry(self, custom_type: str, data: Any = None, /) -> str:
        """Store plain data in the session, outside the model's context; return the entry's id."""
        data = entry_data(self.plugin, custom_type, data)
        return self._parts.runtime.manager.append_custom_entry(custom_type, data)

    def set_label(self, entry_id: str, label: str | None = None, /) -> str:
        """Label an entry of the session; None removes the label. Return the id of the new label entry."""
        return self._parts.runtime.manager.append_label_change(entry_id, label)

    async def set_session_name(self, name: str | None, /) -> None:
        """Name the session; None removes the name."""
        check_session_name(name)
        await self._parts.switcher.set_name(name)

    def get_session_name(self) -> str | None:
        """Return the session's name; None if it has none."""
        return self._parts.runtime.manager.name

    # Programs

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
        """Run a program, without a shell, and return what it printed and how it ended."""
        from pi_core.conversation.spawning import exec_program

        runtime = self._parts.runtime
        args, folder = texts("pi.exec", "arguments", args), runtime.cwd / (cwd or "")
        return await exec_program(runtime.ctx, command, args, folder, env, signal=signal, timeout=timeout)

    # Tools, commands and models

    def get_active_tools(self) -> list[str]:
        """Return the names of the active tools."""
        return self._parts.tools.names()

    def set_active_tools(self, names: Sequence[str], /) -> None:
        """Activate these tools, and no others, from the next request on."""
        self._parts.tools.select(texts("set_active_tools", "names", names))

    def get_all_tools(self) -> list[ToolInfo]:
        """Return all tools that can be activated."""
        return self._parts.tools.infos()

    async def get_commands(self) -> Sequence[CommandInfo]:
        """Return plugins' commands, prompt templates and skills."""
        return await self._parts.commands.infos()

    async def set_model(self, model: Model | str, /) -> bool:
        """Use another model from the next run on; False when its provider has no key."""
        parts = self._parts
        try:
            await parts.models.set_model(parts.runtime.models.find(model) if isinstance(model, str) else model)
        except MissingKey:
            return False
        return True

    def get_thinking_level(self) -> ThinkingLevel:
        """Return the current reasoning effort."""
        return self._parts.runtime.agent.state.thinking_level

    async def set_thinking_level(self, level: ThinkingLevel) -> None:
        """Change the reasoning effort from the next run on, as far as the model supports it."""
        await self._parts.models.set_level(level)

    async def emit(self, event: Any, /) -> None:
        """Call the session's subscribers with an event; its class has a ``type`` and attrs fields."""
        check_event_object(event)
        await self._parts.runtime.emit(event)


def pi_of(host: PluginHost, plugin: str) -> PluginAPI:
    """Return a new ``pi`` for a plugin; if it has grants, members that they do not name raise when they are used."""
    cls: type[PluginAPI] = noting_api(PluginAPI)
    record = host.records.get(plugin)
    if record is not None and record.grants is not None:
        from pi_core.plugin_api.held import held_api  # few plugins have grants

        cls = held_api(cls, host, plugin)
    return cls(plugin)
