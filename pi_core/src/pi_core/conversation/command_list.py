"""What the user can call with a slash in a session, from everybody who knows of something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import CommandInfo, CommandsDiscoverEvent, SourceInfo
from pi_hookspecs.specs import agent as agent_specs

if TYPE_CHECKING:
    from typing import Any

__all__ = ["command_list"]

_ORDER = ("prompt", "skill")
"""Sources in the order of the contract; others follow."""


async def command_list(session: Any) -> tuple[CommandInfo, ...]:
    """Return plugins' commands, then what stands for a text; one of a name, the one that a prompt would call."""
    found = [_of_plugin(each.plugin, each.thing) for each in session.registered.find_all("register_commands").values()]
    if session.hooks.listens("commands_discover"):
        answer = await session.hooks.call(agent_specs.commands_discover, CommandsDiscoverEvent(), session.ctx)
        texts = () if answer is None else answer.commands
        found += sorted(texts, key=lambda each: _ORDER.index(each.source) if each.source in _ORDER else len(_ORDER))
    named: dict[str, CommandInfo] = {}
    for each in found:
        named.setdefault(each.name, each)
    return tuple(named.values())


def _of_plugin(plugin: str, command: Any) -> CommandInfo:
    return CommandInfo(
        name=command.name,
        description=command.description or None,
        source="extension",
        source_info=SourceInfo(path=plugin, source=f"plugin:{plugin}", origin="package"),
    )
