"""The slash commands, for front ends that list them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.events._listed import listed
from pi_hookspecs.values import ReprMixin, Value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_hookspecs.completions import Completer
    from pi_hookspecs.resource_files import Resource, ResourceScope

__all__ = ["CommandInfo", "CommandsDiscoverEvent", "CommandsDiscoverResult", "SourceInfo"]


@frozen(kw_only=True, eq=False, repr=False)
class SourceInfo(Value):
    """The origin of a command or resource.

    Attributes:
        path: Its file; the plugin for what a plugin registered.
        source: How it was found, see ``ResourceFile.source``.
        scope: ``user``, ``project``, or ``temporary`` for this run.
        origin: ``package`` when it comes from a plugin.
        base_dir: The folder that it was found under.
    """

    path: str
    source: str
    scope: ResourceScope = "user"
    origin: Literal["top-level", "package"] = "top-level"
    base_dir: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class CommandInfo(Value):
    """Something that the user runs with ``/name``.

    Attributes:
        name: Without the slash: ``review``, ``skill:review``.
        description: One line; None if there is none.
        source: ``extension`` for a plugin's command, ``prompt``, ``skill``, or a plugin's own kind.
        location: ``user``, ``project``, or ``path`` if it was given for this run; None for a plugin's command.
        path: Its file; None for a plugin's command.
        argument_hint: The expected arguments, for display.
        complete: Completes the arguments of a command of ``commands_discover``, like that of a ``Command``; it is
            not sent to clients, and may be a different function each time.
    """

    name: str
    description: str | None = None
    source: str
    location: Literal["user", "project", "path"] | None = None
    path: str | None = None
    source_info: SourceInfo | None = None
    argument_hint: str | None = None
    complete: Completer | None = field(default=None, eq=False, repr=False, metadata={"wire": False})

    @classmethod
    def of_resource(
        cls, resource: Resource, *, name: str | None = None, argument_hint: str | None = None
    ) -> CommandInfo:
        """Return the command of a resource, under its own name unless ``name`` is given."""
        return cls(
            name=name or resource.name,
            description=resource.description or None,
            source=resource.kind,
            location="path" if resource.scope == "temporary" else resource.scope,
            path=resource.path,
            source_info=SourceInfo(
                path=resource.path,
                source=resource.source,
                scope=resource.scope,
                origin=resource.origin,
                base_dir=resource.base_dir,
            ),
            argument_hint=argument_hint,
        )


@frozen(kw_only=True, eq=False, repr=False)
class CommandsDiscoverEvent(ReprMixin):
    """A front end lists the slash commands."""

    type: ClassVar[Literal["commands_discover"]] = "commands_discover"


def _commands(commands: Iterable[CommandInfo]) -> tuple[CommandInfo, ...]:
    return listed(commands, "commands", "[CommandInfo(...)]")


@frozen(kw_only=True, eq=False, repr=False)
class CommandsDiscoverResult(Value):
    """The commands that ``expand_prompt`` of the same plugin expands."""

    commands: tuple[CommandInfo, ...] = field(default=(), converter=_commands)

    def problem(self, event: CommandsDiscoverEvent) -> str | None:
        """Return what is wrong with the list; None if nothing is."""
        del event
        answered: tuple[object, ...] = self.commands
        wrong = [each for each in answered if not isinstance(each, CommandInfo)]
        return f"returned {wrong[0]!r:.60}, which is not of type CommandInfo" if wrong else None
