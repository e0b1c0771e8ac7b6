"""Records of plugins in the index, as plain data, which are available without importing the plugins."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pi_hookspecs.deferred import define, field, frozen
from pi_hookspecs.values import ReprMixin, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_core.settings import Settings

__all__ = ["BUILTIN", "PluginRecord", "Problem", "in_load_order", "required_plugins", "sentences_of"]

BUILTIN = "builtin:"
"""The beginning of a name that is no file but a built-in extension of the original, which the host handles."""


@frozen(eq=False, repr=False)
class Problem(Value):
    """A problem of a plugin, and the step in which it occurred: ``import``, a hook's name, or ``index``."""

    plugin: str
    step: str
    message: str

    def __str__(self) -> str:
        if self.plugin.startswith("("):  # "(settings)" and "(unknown)": the problem belongs to no plugin
            return f"{self.step}: {self.message}"
        return f"Plugin {self.plugin!r} ({self.step}): {self.message}"

    def same_as(self, other: Problem) -> bool:
        """Whether both are equal except for addresses of objects, which differ between processes."""
        if (self.plugin, self.step) != (other.plugin, other.step):
            return False
        return re.sub(_ADDRESS, "", self.message) == re.sub(_ADDRESS, "", other.message)


def sentences_of(problems: Iterable[Problem]) -> list[str]:
    """Return problems as sentences: what several plugins have in common, such as a missing program, is said once."""
    named: dict[tuple[str, str], list[Problem]] = {}
    for each in problems:
        known = named.setdefault((each.step, each.message), [])
        if each not in known:
            known.append(each)
    found = []
    for (step, message), same in named.items():
        names = [each.plugin for each in same if not each.plugin.startswith("(")]
        if len(names) == len(same) > 1:
            found.append(f"Plugins {', '.join(map(repr, names))} ({step}): {message}")
        else:
            found += map(str, same)
    return found


_ADDRESS = r"0x[0-9a-f]+"


@define(eq=False, repr=False)
class PluginRecord(ReprMixin):
    """A plugin in the index.

    Attributes:
        hooks: Names of the event hooks that it implements, and ``activate``.
        guards: Those hooks whose failure refuses, and, as ``register_services:KIND``, the services whose failure
            refuses, as of the last successful load. They refuse while the plugin cannot be loaded.
        registers: The objects that each registration hook returned, described as plain data with a ``name``.
        load_ms: Milliseconds to import the plugin and to call its registration hooks.
        problems: Problems that occurred while loading; the rest of the plugin works.
        rejected: Registered objects that cannot be used, as ``hook:name``; ``problems`` says why.
        loads: Whether the plugin could be imported.
        indexed: Whether the record is complete. False while the plugin is disabled and was never imported, or if its
            module cannot be found; then every start searches for it.
        when: The files, variables and settings of ``pi_when``, at least one of which must be present to load the hooks.
        grants: What its ``pi_plugin.json`` declares that it uses, and to which it is restricted; None without such a
            file.
        files: Files whose changes make this record stale, with their modification times in nanoseconds.
        is_default: Whether it belongs to what the distribution ``pluggypi`` installs (``discovery``). Such plugins are
            loaded before all others, so that others can replace their objects, and need no permission of the user.
    """

    name: str
    distribution: str
    version: str
    value: str
    hooks: list[str] = field(factory=list)
    guards: list[str] = field(factory=list)
    registers: dict[str, list[dict[str, Any]]] = field(factory=dict)
    load_ms: float = 0.0
    problems: list[Problem] = field(factory=list)
    rejected: list[str] = field(factory=list)
    loads: bool = True
    indexed: bool = True
    when: dict[str, list[str]] = field(factory=dict)
    grants: dict[str, Any] | None = None
    files: dict[str, int] = field(factory=dict)
    is_default: bool = False

    def names(self, hook: str) -> list[str]:
        """Return the names of the objects that one registration hook returned."""
        return [described["name"] for described in self.registers.get(hook, ())]

    def to_plain(self) -> dict[str, Any]:
        """Return the record as JSON data."""
        return {
            "name": self.name,
            "distribution": self.distribution,
            "version": self.version,
            "value": self.value,
            "hooks": self.hooks,
            "guards": self.guards,
            "registers": self.registers,
            "load_ms": self.load_ms,
            "problems": [[problem.plugin, problem.step, problem.message] for problem in self.problems],
            "rejected": self.rejected,
            "loads": self.loads,
            "indexed": self.indexed,
            "when": self.when,
            "grants": self.grants,
            "files": self.files,
            "is_default": self.is_default,
        }

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> PluginRecord:
        """Return the record from JSON data; raises ``TypeError`` or ``KeyError`` for other data."""
        problems = [Problem(*problem) for problem in plain["problems"]]
        record = cls(**{**plain, "problems": problems})
        for name, expected in _SHAPE.items():
            if not isinstance(getattr(record, name), expected):
                message = f"{name} of a plugin must be {expected}, not {getattr(record, name)!r:.60}"
                raise TypeError(message)
        return record


def in_load_order(records: dict[str, PluginRecord], order: Sequence[str]) -> dict[str, PluginRecord]:
    """Return default plugins, then others, each sorted by name; plugins in ``order`` swap places among themselves."""
    names = sorted(records, key=lambda name: (not records[name].is_default, name))
    wanted = [name for name in dict.fromkeys(order) if name in records]
    places = sorted(names.index(name) for name in wanted)
    for place, name in zip(places, wanted, strict=True):
        names[place] = name
    return {name: records[name] for name in names}


def required_plugins(settings: Settings) -> frozenset[str]:
    """Return the plugins without which no session starts, as required by the user or by a trusted project."""
    lists = [value for _, value in settings.each("plugins.required") if isinstance(value, list)]
    return frozenset(name for value in lists for name in value if isinstance(name, str))


_SHAPE: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("name", "distribution", "version", "value"), str),
    **dict.fromkeys(("hooks", "guards", "rejected"), list),
    **dict.fromkeys(("registers", "when", "files"), dict),
    **dict.fromkeys(("loads", "indexed", "is_default"), bool),
    "load_ms": (int, float),
    "grants": (dict, type(None)),
}
