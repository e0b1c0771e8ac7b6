"""The tools of a session, and which of them a selection by name or pattern activates."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from attrs.converters import optional

from pi_hookspecs import UnknownName
from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pi_core.host import PluginHost
    from pi_hookspecs import Tool, ToolInfo

__all__ = ["CODING_TOOLS", "READ_ONLY_TOOLS", "ToolSelection", "Toolbox", "with_mcp_tools"]

_NEVER_OFFERED = ("hidden", "code")
"""Exposures of tools that only other tools call."""

_OF_SERVERS = ("mcp__*", "*_mcp_resource*", "tool_searc[h]")
"""The tools of MCP servers, and the tools that find them; patterns, since a name without a tool causes a warning."""


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


@frozen(eq=False, repr=False)
class ToolSelection(Value):
    """The tools that the user selected.

    Attributes:
        wanted: Names, and patterns with ``*``, ``?`` or ``[``; ``+name`` adds to and ``-name`` removes from the tools
            that are active by default, or that other items name. None selects the tools that are active by default.
        excluded: Names and patterns of tools that are not offered, even if ``wanted`` names them.
    """

    wanted: tuple[str, ...] | None = field(converter=optional(_once))
    excluded: tuple[str, ...] = field(default=(), converter=_once)

    def names(self, known: Sequence[str], default: Sequence[str]) -> list[str]:
        """Return the selected names in order of the selection.

        Args:
            known: All tools.
            default: The tools that are active by default.
        """
        wanted = self.wanted or ()
        changes = all(item[:1] in ("+", "-") for item in wanted)
        names = list(default) if self.wanted is None or (wanted and changes) else []
        for item in wanted:
            if item.startswith("-"):
                names = [name for name in names if not fnmatchcase(name, item[1:])]
            else:
                names += _meant(item.removeprefix("+"), known)
        return [name for name in dict.fromkeys(names) if self.allows(name)]

    def removes(self, name: str) -> bool:
        """Whether an item ``-name`` removes a tool."""
        return any(item.startswith("-") and fnmatchcase(name, item[1:]) for item in self.wanted or ())

    def allows(self, name: str) -> bool:
        """Whether a tool is not excluded."""
        return not any(fnmatchcase(name, each) for each in self.excluded)

    def exact_names(self) -> list[str]:
        """Return the names without wildcards, each of which should be the name of a tool."""
        return [name for item in (*(self.wanted or ()), *self.excluded) if not _is_pattern(name := item.lstrip("+-"))]


def with_mcp_tools(selected: Sequence[str] | None) -> Sequence[str] | None:
    """Return the selected tools and all tools of MCP servers, which are chosen by configuring servers, or by name."""
    only_changes = all(item[:1] in ("+", "-") for item in selected or ())
    if selected is None or only_changes or any(item.lstrip("+-").startswith("mcp__") for item in selected):
        return selected
    return [*selected, *_OF_SERVERS]


def _meant(item: str, known: Sequence[str]) -> list[str]:
    return [name for name in known if fnmatchcase(name, item)] if _is_pattern(item) else [item]


def _is_pattern(item: str) -> bool:
    return any(sign in item for sign in "*?[")


READ_ONLY_TOOLS = ("read", "grep", "find", "ls")
"""The tools that ``read_only_tools=True`` selects."""

CODING_TOOLS = (*READ_ONLY_TOOLS, "bash", "powershell", "edit", "write", "process")
"""The tools among which the setting ``defaultTools`` selects."""


class Toolbox:
    """Tools of plugins, tools of the program, tools added at run time; of two with the same name the later wins.

    Args:
        host: The host in which plugins registered their tools.
        names: The user's selection, see ``ToolSelection``; None offers every tool that is active by default.
        custom: Tools of the program; they are offered regardless of the selection.
        excluded: Names and patterns of tools that are not offered.
        default: The setting ``defaultTools``: which of the coding tools are active by default, in the grammar of
            ``ToolSelection``; None for their own choice.
    """

    def __init__(
        self,
        host: PluginHost,
        names: Sequence[str] | None = None,
        custom: Sequence[Tool] = (),
        excluded: Sequence[str] = (),
        default: Sequence[str] | None = None,
    ) -> None:
        self._host = host
        self._default = ToolSelection(default)
        self._selection = ToolSelection(names, excluded)
        self._custom = tuple(custom)
        self._chosen: list[str] | None = None
        self.loaded: tuple[str, ...] = ()
        """Names of the deferred tools that were activated; some may not be registered yet, or no longer."""
        self._added: dict[object, tuple[str, Tool]] = {}
        self._added_by_name: dict[str, list[tuple[str, Tool]]] = {}
        self._changes = 0
        self._active: tuple[object, tuple[Tool, ...]] = (None, ())
        self._listed: tuple[object, tuple[ToolInfo, ...]] = (None, ())

    @property
    def excluded(self) -> tuple[str, ...]:
        """Names and patterns of the tools that are never active."""
        return self._selection.excluded

    @property
    def warnings(self) -> list[str]:
        """Warnings about selected names without a tool, after plugins have added their tools."""
        exact_names = dict.fromkeys([*self._selection.exact_names(), *self._default.exact_names()])
        return [str(UnknownName("tool", name, self._known())) for name in exact_names if self.find(name) is None]

    def active(self) -> tuple[Tool, ...]:
        """Return the active tools; determined again only after a registration or selection."""
        if self._active[0] != (self._host.changes, self._changes):
            active = self._determine_active()  # this may load plugins
            self._active = (self._host.changes, self._changes), active
        return self._active[1]

    def _determine_active(self) -> tuple[Tool, ...]:
        tools: dict[str, Tool] = {}
        wanted = named = self._chosen
        if wanted is None or named is None:
            wanted = self._selection.names(self._known(), self._default_names())
            named = [*self._selection.exact_names(), *self._default.exact_names()]
        for name in wanted:
            tool = self.find(name)
            if tool is not None and (tool.exposure == "direct" or name in named):
                tools[tool.name] = tool
        for name in self.loaded:
            if self._is_deferred(name) and (tool := self.find(name)) is not None and self._selection.allows(tool.name):
                tools.setdefault(tool.name, tool)
        for tool in self._custom:
            if tool.name in tools or (self._chosen is None and tool.exposure == "direct"):
                tools[tool.name] = tool
        return tuple(tool for tool in tools.values() if tool.exposure not in _NEVER_OFFERED)

    def for_nested_call(self, name: str, active: Sequence[Tool]) -> Tool | None:
        """Return the tool that another tool calls by this name; None if it may not be called.

        Tools that are offered to the model may be called, as well as another plugin's tool of the same name, as
        ``plugin:name``, and hidden tools, but no tools that the user excluded.
        """
        offered = {tool.name: tool for tool in active}
        if name in offered:
            return offered[name]
        tool = self.find(name)
        if tool is None or not (self._selection.allows(tool.name) and self._selection.allows(name)):
            return None
        return tool if tool.name in offered or tool.exposure in _NEVER_OFFERED else None

    def overridden(self, name: str, by: Tool | None = None) -> Tool | None:
        """Return the tool of another plugin that a tool has replaced.

        Args:
            name: The tool's name.
            by: The tool that has replaced it; the offered tool if this is None or has another name.
        """
        tools = self._by_precedence(name)
        if by is None or by.name != name:
            by = next((tool for tool in self.active() if tool.name == name), tools[0] if tools else None)
        if by is None or by not in tools:
            return None
        owner = self.owner(by)
        return next((each for each in tools[tools.index(by) + 1 :] if self.owner(each) != owner), None)

    def select(self, names: Sequence[str]) -> None:
        """Activate exactly these tools, in this order; excluded tools stay excluded.

        A loaded tool that is currently not registered stays loaded, because it could not be among the names.
        """
        self._changes += 1
        self._chosen = [name for name in dict.fromkeys(names) if self._selection.allows(name)]
        absent = [name for name in self.loaded if self.find(name) is None]
        self.loaded = tuple(dict.fromkeys([*filter(self._is_deferred, self._chosen), *absent]))

    @property
    def chosen(self) -> tuple[str, ...] | None:
        """The selected tools; None while those are active that are by default, or that the user selected."""
        return None if self._chosen is None else tuple(self._chosen)

    def unchosen_custom(self) -> list[str]:
        """Return the tools of the program that are not selected."""
        return [tool.name for tool in self._custom if tool.name not in (self._chosen or ())]

    def reselect(self, names: Sequence[str], without: Sequence[str], loaded: Sequence[str]) -> bool:
        """Activate a stored selection, changed as the user's own selection says; return whether that changes anything.

        Args:
            names: The stored selection.
            without: The program's tools that it does not contain; others of the program are new, and are added.
            loaded: The deferred tools among them.
        """
        wanted = self._selection.wanted
        if wanted is not None and not all(item[:1] in ("+", "-") for item in wanted):
            self.load(loaded)
            return True
        new = [tool.name for tool in self._custom if tool.exposure == "direct" and tool.name not in without]
        chosen = self._selection.names(self._known(), [*names, *new])
        if chosen == self._chosen and self.loaded == tuple(loaded):
            return False
        self._changes += 1
        self._chosen, self.loaded = chosen, tuple(dict.fromkeys(loaded))
        return True

    def load(self, names: Sequence[str]) -> None:
        """Activate exactly these deferred tools, as soon as they are registered."""
        self._changes += 1
        self.loaded = tuple(dict.fromkeys(names))
        if self._chosen is not None:
            self._chosen = [name for name in self._chosen if name in self.loaded or not self._is_deferred(name)]

    def all(self) -> list[Tool]:
        """Return all tools that can be activated, by name."""
        found = (self.find(name) for name in sorted(self._known()))
        return [tool for tool in found if tool is not None]

    def find(self, name: str) -> Tool | None:
        """Return the tool with a name, which may be ``plugin:name``; None if there is none."""
        if added := self._added_by_name.get(name):
            return added[-1][1]
        found = self._host.find("register_tools", name)
        if found is not None:
            registered: Tool = found.thing
            return registered
        return next((tool for tool in self._custom if tool.name == name), None)

    def infos(self) -> tuple[ToolInfo, ...]:
        """Return all tools as plugins see them, by name; recomputed only after a registration or selection."""
        if self._listed[0] != (self._host.changes, self._changes):
            active, found = {tool.name for tool in self.active()}, self.all()  # these may load plugins
            infos = tuple(self.info(tool, active=tool.name in active) for tool in found)
            self._listed = (self._host.changes, self._changes), infos
        return self._listed[1]

    def info(self, tool: Tool, *, active: bool = True) -> ToolInfo:
        """Return a tool as plugins see it.

        Args:
            tool: The tool.
            active: Whether it is offered to the model.
        """
        from pi_hookspecs import ToolAnnotations, ToolInfo

        return ToolInfo(
            name=tool.name,
            label=tool.label,
            description=tool.description,
            parameters=tool.parameters,
            plugin=self.owner(tool),
            active=active,
            annotations=tool.annotations or ToolAnnotations(),
            output_schema=tool.output_schema,
            exposure=tool.exposure,
            namespace=tool.namespace,
        )

    def add(self, tool: Tool, plugin: str) -> Callable[[], None]:
        """Add a tool; return a function that removes it."""
        entry, key = (plugin, tool), object()
        names = (tool.name, f"{plugin}:{tool.name}")
        self._changes += 1
        self._added[key] = entry
        for name in names:  # a plugin may add hundreds of tools, and each is looked up whenever one is added
            self._added_by_name.setdefault(name, []).append(entry)

        def remove() -> None:
            if self._added.pop(key, None) is not None:
                self._changes += 1
                for name in names:
                    self._added_by_name[name].remove(entry)

        return remove

    def may_be_active(self, tool: Tool, plugin: str) -> bool:
        """Whether a tool of a plugin can be active, or shares its name with another tool.

        If not, adding or removing it leaves the active tools as they are, and they need not be determined again.
        """
        if tool.exposure == "direct" or self.find(tool.name) not in (tool, None):
            return True
        wanted = self._selection.exact_names() if self._chosen is None else self._chosen
        return not {tool.name, f"{plugin}:{tool.name}"}.isdisjoint([*wanted, *self.loaded])

    def owner(self, tool: Tool) -> str | None:
        """Return the plugin that a tool comes from; None for a tool of the program."""
        for plugin, added in self._added_by_name.get(tool.name, ()):
            if added is tool:
                return plugin
        registered = self._host.registrations("register_tools")
        return next((each.plugin for each in registered if each.thing is tool), None)

    def _default_names(self) -> list[str]:
        described = [
            each
            for record in self._host.registering("register_tools")
            for each in record.registers["register_tools"]
            if each["default_active"] and each["exposure"] == "direct"  # a plugin with deferred tools is not imported
        ]
        loaded = [each.name for each in self._host.registrations("register_tools") if each.thing.default_active]
        added = [tool.name for _, tool in self._added.values() if tool.default_active]
        names = list(dict.fromkeys([each["name"] for each in described] + loaded + added))
        if self._default.wanted is None:
            return names
        coding = self._default.names(self._known(), [name for name in names if name in CODING_TOOLS])
        others = [name for name in names if name not in CODING_TOOLS and not self._default.removes(name)]
        return list(dict.fromkeys(coding + others))

    def _is_deferred(self, name: str) -> bool:
        tool = self.find(name)
        return tool is not None and tool.exposure == "deferred"

    def _by_precedence(self, name: str) -> list[Tool]:
        """Return every tool with a name: from the program, added at run time, then registered by plugins."""
        found = self._host.find("register_tools", name)  # loads all plugins that register it
        winner: list[Tool] = [found.thing] if found is not None else []
        registered = [each.thing for each in reversed(self._host.registrations("register_tools"))]
        added = [tool for _, tool in reversed(self._added.values())]
        same = [tool for tool in (*self._custom, *added, *winner, *registered) if tool.name == name]
        return list(dict.fromkeys(same))

    def _known(self) -> list[str]:
        records = self._host.registering("register_tools")
        described = [name for record in records for name in record.names("register_tools")]
        loaded = [each.name for each in self._host.registrations("register_tools")]
        own = [tool.name for tool in (*(tool for _, tool in self._added.values()), *self._custom)]
        return list(dict.fromkeys([*described, *loaded, *own]))
