"""Slash commands, options and settings of plugins, which most starts need.

Names are shared by all plugins. Two of the same name are no error: the later plugin in load order wins, settings can
prefer another, and the other one is available as ``plugin:name`` where the user gives a name: in a slash command,
``--mode``, ``--tools``; a tool delegates to it by ``ctx.execute_tool``.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.values import ReprMixin, Value

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from pi_hookspecs.completions import Completer
    from pi_hookspecs.context import PiContext
    from pi_hookspecs.views import SettingsView

__all__ = ["Command", "Flag", "PluginSetting", "ProjectFile", "ProjectMay", "Touch"]

Touch: TypeAlias = Literal["files", "programs", "network", "settings"]
"""What a slash command may use besides the conversation: files that it reads or writes, programs that it starts or
ends, hosts other than the model's, and settings or remembered decisions of the user."""

ProjectMay: TypeAlias = (
    'Literal["set", "nothing", "enable", "disable", "lower", "add", "restrict", "narrow"] | tuple[str, ...]'
)
"""What the settings file of a trusted project may do to a setting of the user.

``set`` it to any value; ``nothing``; ``enable`` or ``disable`` a switch (``disable``: or the
entries of an object, by false); ``lower`` a number; ``add`` items to a list;
``restrict``: ``add`` items that allow nothing, which are neither a name that begins with ``!`` nor an object whose
``action`` is ``allow``; ``narrow`` a list to some of its items. A tuple has the values of a choice, strictest first: a
project may choose one that is stricter than the user's. A value that is not permitted is left out and reported.
"""


@frozen(eq=False, repr=False)
class Command(ReprMixin):
    """A slash command: ``handler(args, ctx)`` gets the text after its name. Runs immediately, even during an answer.

    Attributes:
        name: Without the slash.
        handler: Plain or ``async``. The user reads the message of a ``UserError`` that it raises, such as one of
            ``ctx.settings.set``; any other exception is reported as a failure of the plugin.
        description: One line, for lists.
        complete: Gets the arguments typed so far, returns the completed arguments: texts, or ``Completion`` values
            with a description. Plain, and done within 100 ms, or ``async`` and done within 2 seconds; front ends call
            ``session.completions.arguments(name, text)``.
        touches: What it may use besides the conversation; empty if nothing. A front end for other people (a web
            application, a read-only server) refuses commands that touch more than it permits, and, under any limit,
            those with None, which declare nothing.
    """

    name: str
    handler: Callable[[str, PiContext], Awaitable[None] | None] = field(kw_only=True)
    description: str = field(default="", kw_only=True)
    complete: Completer | None = field(default=None, kw_only=True)
    touches: Sequence[Touch] | None = field(default=None, kw_only=True)


@frozen(eq=False, repr=False)
class Flag(Value):
    """A command line option ``--name``: a boolean flag, or one with a string value. Read with ``get_flag``."""

    name: str
    type: Literal["boolean", "string"] = field(default="boolean", kw_only=True)
    default: bool | str | None = field(default=None, kw_only=True)
    description: str = field(default="", kw_only=True)


@frozen(eq=False, repr=False)
class PluginSetting(Value):
    """A setting of a plugin in ``settings.json``: validated, listed and changed like pi's own, read with ``read``.

    Attributes:
        name: Its dotted name; its first part should be the plugin's name: ``deploys.perDay``. The part ``*`` is any
            name: ``deploys.of.*.perDay``.
        schema: JSON schema (2020-12) of its values, with their ``default``.
        description: One line, for lists.
        protected: Only the user and this plugin may change it: for settings with which another plugin could disable
            a guard.
        project: What a trusted project's ``.pi/settings.json`` may do to it. None: ``nothing`` if it is protected,
            else ``set``.
        variable: An environment variable that also sets it, with precedence over both files: ``1`` or ``0`` for true or
            false, one of the schema's words, the text of a string, and JSON for other types. Since: 1.2.
    """

    name: str
    schema: dict[str, Any] = field(factory=dict, kw_only=True)
    description: str = field(default="", kw_only=True)
    protected: bool = field(default=False, kw_only=True)
    project: ProjectMay | None = field(default=None, kw_only=True)
    variable: str | None = field(default=None, kw_only=True)

    @property
    def default(self) -> Any:
        """The default in its schema; None if there is none."""
        return self.schema.get("default")

    @property
    def project_may(self) -> ProjectMay:
        """What a project may do to it, decided."""
        return self.project or ("nothing" if self.protected else "set")

    def read(self, settings: SettingsView, *names: str, default: Any = ...) -> Any:
        """Return the value in force; the default if it is not set, or not of the schema's type.

        A value of a wrong type is reported to the user. Reading needs no registration.

        Args:
            settings: The settings, such as ``ctx.settings``.
            names: The names for which each ``*`` of the setting's name stands.
            default: Another default than the schema's, such as the value of a more general setting.

        Since: 1.2.
        """
        given = iter(names)
        key = tuple(next(given) if step == "*" else step for step in self.name.split(".")) if names else self.name
        default = copy.deepcopy(self.default) if default is ... else default
        kind = self.schema.get("type")
        choices = self.schema.get("enum")
        if choices and all(isinstance(each, str) for each in choices):
            return settings.get_choice(key, choices, default)
        kinds = [each for each in kind if each != "null"] if isinstance(kind, list) else [kind]
        return (_READERS.get(kinds[0], _value) if len(kinds) == 1 else _value)(settings, key, default, self.schema)


def _value(settings: SettingsView, key: str | Sequence[str], default: Any, schema: Mapping[str, Any]) -> Any:
    value, choices = settings.get(key, default), schema.get("enum")
    fits = choices is None or any(type(value) is type(each) and value == each for each in choices)
    return value if fits else default


def _number(settings: SettingsView, key: str | Sequence[str], default: Any, schema: Mapping[str, Any]) -> Any:
    value = settings.get_number(key, default, minimum=schema.get("minimum"))
    return int(value) if value is not None and "integer" in schema["type"] else value


def _list(settings: SettingsView, key: str | Sequence[str], default: Any, schema: Mapping[str, Any]) -> Any:
    if schema.get("items", {}).get("type") != "string":
        return _value(settings, key, default, schema)
    return None if default is None and settings.get(key) is None else settings.get_str_list(key, default or ())


_READERS: dict[str | None, Callable[[SettingsView, Any, Any, Mapping[str, Any]], Any]] = {
    "boolean": lambda settings, key, default, _schema: settings.get_bool(key, default),
    "string": lambda settings, key, default, _schema: settings.get_str(key, default),
    "integer": _number,
    "number": _number,
    "array": _list,
}
"""How values of each JSON type are read; of other types, any value is returned."""


@frozen(eq=False, repr=False)
class ProjectFile(Value):
    """A file or folder of a project that the plugin runs or follows because it exists.

    Attributes:
        name: Its path below any folder of the project, with ``/``: ``AGENTS.md``, ``.claude/agents``. For a folder,
            everything below it counts.
    """

    name: str
