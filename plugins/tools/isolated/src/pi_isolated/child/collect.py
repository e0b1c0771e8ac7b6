"""Collects what a Python plugin implements: its hooks, tools and commands, as pi's own process would find them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import define, field

from pi_core import PluginManager
from pi_core.hooks.signatures import adapt, parameters
from pi_hookspecs import PluginError, answers_of
from pi_hookspecs.specs import all_hookspecs
from pi_hookspecs.values import ReprMixin
from pi_isolated.ready import DELTA_HOOKS

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs import Command, Tool

__all__ = ["Implementations", "collect"]

_REGISTRATIONS = ("register_tools", "register_commands", "activate")


@define(eq=False, repr=False)
class Implementations(ReprMixin):
    """The functions of a plugin.

    Attributes:
        plugin: The plugin's name.
        hooks: Functions of event and context by hook.
        tools: Tools by name.
        commands: Handlers and descriptions by name.
        left_out: What needs pi's own process.
    """

    plugin: str
    hooks: dict[str, Callable[[Any, Any], Any]] = field(factory=dict)
    tools: dict[str, Tool] = field(factory=dict)
    commands: dict[str, tuple[Callable[..., Any], str]] = field(factory=dict)
    left_out: list[str] = field(factory=list)

    def add_hook(self, hook: str, function: Callable[[Any, Any], Any]) -> None:
        """Add the function of a hook.

        Raises:
            PluginError: There is one; how their answers combine is decided in pi's process, by plugin.
        """
        if hook in self.hooks:
            raise PluginError(self.plugin, f"a plugin in a separate process can have only one handler of {hook}")
        self.hooks[hook] = function

    def ready(self) -> dict[str, Any]:
        """Return the contents of the first message."""
        hooks = {name: {"delta": True} if name in DELTA_HOOKS else {} for name in self.hooks}
        tools = [
            {"name": each.name, "description": each.description, "parameters": dict(each.parameters)}
            for each in self.tools.values()
        ]
        commands = [{"name": name, "description": text} for name, (_, text) in self.commands.items()]
        return {"hooks": hooks, "registers": {"tools": tools, "commands": commands}}


def collect(plugin: object, name: str) -> Implementations:
    """Return what a plugin implements.

    Raises:
        PluginError: An implementation cannot be called.
    """
    found = Implementations(name)

    def refuse(hook: str, problem: str) -> None:
        raise PluginError(name, f"{hook} {problem}")

    manager = PluginManager(refuse)
    manager.register(plugin, name)
    for caller in manager.implemented():
        implementation = caller.get_hookimpls()[0]
        function: Any = implementation.function
        spec = all_hookspecs().get(caller.name)
        if caller.name == "activate":
            function(_Registering(name, found))
        elif caller.name == "register_tools":
            found.tools |= {each.name: each for each in function()}
        elif caller.name == "register_commands":
            found.commands |= {each.name: _handler_of(each) for each in function()}
        elif spec is not None and answers_of(spec) is not None:
            found.add_hook(caller.name, adapt(function, tuple(implementation.argnames)))
        else:
            found.left_out.append(caller.name)
    return found


def _handler_of(command: Command) -> tuple[Callable[..., Any], str]:
    return command.handler, command.description


class _Registering:
    """``pi`` for ``activate``: hooks, tools and commands can be registered."""

    def __init__(self, plugin: str, found: Implementations) -> None:
        self.plugin = plugin
        self._found = found

    def on(self, event: str, handler: Any = None, /) -> Any:
        """Handle an event."""
        if handler is None:
            return lambda function: (self.on(event, function), function)[1]
        self._found.add_hook(event, adapt(handler, parameters(handler)))
        return self._stay

    def register_tool(self, tool: Any = None, /, **how: Any) -> Any:
        """Add a tool."""
        from pi_hookspecs import Tool
        from pi_hookspecs import tool as decorate

        if tool is None:
            return lambda function: self.register_tool(decorate(**how)(function))
        made = tool if isinstance(tool, Tool) else decorate(**how)(tool)
        self._found.tools[made.name] = made
        return self._stay

    def register_command(
        self, name: str, handler: Any = None, /, *, description: str = "", complete: Any = None
    ) -> Any:
        """Add a slash command."""
        del complete  # is asked at each key
        if handler is None:
            return lambda function: (self.register_command(name, function, description=description), function)[1]
        self._found.commands[name] = (handler, description)
        return self._stay

    def __getattr__(self, name: str) -> Any:
        raise PluginError(self.plugin, f"pi.{name} cannot be used by a plugin in a separate process")

    @staticmethod
    def _stay() -> None:
        """Do nothing: what was registered stays while the process runs."""
