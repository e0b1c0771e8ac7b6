"""Calls plugins for front ends: commands, shortcuts, renderers. Errors are reported, not raised."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_core.hooks.acting import acting
from pi_core.hooks.containment import reported
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from pi_core.conversation.runtime import Runtime
    from pi_hookspecs import CommandInfo, Shortcut

__all__ = ["PluginCommands"]

_ORDER = ("prompt", "skill")
"""Sources of commands in the order of the contract; others follow."""


class PluginCommands:
    """Finds and calls plugins' registrations for front ends.

    Args:
        runtime: The objects that all parts share.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def run(self, text: str) -> bool:
        """Run a slash command; return False if the text is not a known command.

        Raises:
            UserError: The front end does not permit what the command touches.
        """
        name, _, arguments = text.removeprefix("/").partition(" ")
        found = self._runtime.registrations.find("register_commands", name) if text.startswith("/") else None
        if found is not None:
            why = self._refusal(found.thing)
            if why is not None:
                raise UserError(f"/{name} is not available here: {why}.")
            handler = found.thing.handler
            await self._call(found.plugin, ("command", f"/{name}"), handler, arguments.strip(), self._runtime.ctx)
        return found is not None

    async def infos(self) -> tuple[CommandInfo, ...]:
        """Return the slash commands that a prompt can use; see ``AgentSession.get_commands``."""
        from pi_hookspecs import CommandsDiscoverEvent
        from pi_hookspecs.specs import agent as agent_specs

        runtime = self._runtime
        registered = runtime.registrations.find_all("register_commands").values()
        found = [_info_of(each.plugin, each.thing) for each in registered if self._refusal(each.thing) is None]
        if runtime.hooks.listens("commands_discover"):
            answer = await runtime.hooks.call(agent_specs.commands_discover, CommandsDiscoverEvent(), runtime.ctx)
            texts = () if answer is None else answer.commands
            found += sorted(texts, key=lambda each: _ORDER.index(each.source) if each.source in _ORDER else len(_ORDER))
        named: dict[str, CommandInfo] = {}
        for each in found:
            named.setdefault(each.name, each)
        return tuple(named.values())

    def flag(self, name: str) -> bool | str | None:
        """Return a command line option's value, else its default; None for an unknown option."""
        given = self._runtime.front_end.flags.get(name)
        if given is not None:
            return given
        found = self._runtime.registrations.find("register_flags", name)
        if found is None:
            return None
        default: bool | str | None = found.thing.default
        return bool(default) if found.thing.type == "boolean" else default

    def shortcuts(self) -> tuple[Shortcut, ...]:
        """Return plugins' keyboard shortcuts with their plugins, for front ends with a keyboard."""
        found = self._runtime.registrations.find_all("register_shortcuts").values()
        return tuple(evolve(each.thing, plugin=each.plugin) for each in found)

    async def press_key(self, key: str) -> bool:
        """Call the handler of a plugin's shortcut; return False if no plugin uses this key."""
        from pi_hookspecs import canonical_key

        found = self._runtime.registrations.find("register_shortcuts", canonical_key(key))
        if found is not None:
            await self._call(found.plugin, ("shortcut", key), found.thing.handler, self._runtime.ctx)
        return found is not None

    def _refusal(self, command: Any) -> str | None:
        """Return why the front end does not permit a command; None if it does."""
        permitted = self._runtime.front_end.command_limits
        if permitted is None:
            return None
        if command.touches is None:
            return "it does not declare what it touches, and this front end limits its users"
        more = [each for each in command.touches if each not in permitted]
        return f"it touches {' and '.join(more)}, which this front end does not permit" if more else None

    async def _call(self, plugin: str, what: tuple[str, str], handler: Any, *arguments: Any) -> None:
        step, name = what
        report = self._runtime.report_plugin_error
        refusal = self._runtime.hooks.refusal_of(plugin)
        if refusal is not None:
            report(plugin, step, f"{name}: {refusal}")
            return
        with acting(plugin), reported(report, plugin, step, f"in {step} {name}", handler):
            try:
                waiting: Any = handler(*arguments)
                if hasattr(waiting, "__await__"):  # other return values are ignored
                    await waiting
            except UserError as error:  # a mistake of the user, not a failure of the plugin
                message = str(error)
                report(plugin, step, message if name in message else f"{name}: {message}")


def _info_of(plugin: str, command: Any) -> CommandInfo:
    from pi_hookspecs import CommandInfo, SourceInfo

    return CommandInfo(
        name=command.name,
        description=command.description or None,
        source="extension",
        source_info=SourceInfo(path=plugin, source=f"plugin:{plugin}", origin="package"),
    )
