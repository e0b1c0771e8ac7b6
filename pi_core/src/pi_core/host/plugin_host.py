"""``PluginHost``: the installed plugins of one process, each loaded on its own and only when it is needed."""

from __future__ import annotations

import time
from functools import cached_property, reduce
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pi_core.hooks.dispatcher import HookDispatcher, Timeouts
from pi_core.host.breadcrumbs import Breadcrumbs
from pi_core.host.discovery import find_origin, find_plugins, fingerprint, source_files, unchanged
from pi_core.host.guarded import LOAD_SECONDS
from pi_core.host.index import IndexFile
from pi_core.host.records import DEFAULT_PLUGINS, PluginRecord, Problem
from pi_core.host.registrar import Registrar
from pi_core.host.registry import Registered, Registry
from pi_hookspecs import UnknownName

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pi_core.agent_session.plugin_api import PluginAPI
    from pi_core.extensions import LocalExtensions
    from pi_core.hooks.reports import HookFailure, HookTrace
    from pi_core.settings import Settings

__all__ = ["PluginHost"]

SHORTEST_TIMEOUT = 0.001
"""Seconds; a timeout of nothing would let no plugin answer at all."""


class PluginHost:
    """Finds, indexes, orders and loads plugins, and knows what they registered.

    Args:
        settings: Order, preferences, disabled plugins and timeouts; those of the current directory when None.
        disabled: Names of further plugins to leave out.
        installed: False looks at no entry points; only what ``add`` brings is there.
    """

    def __init__(
        self, settings: Settings | None = None, *, disabled: Iterable[str] = (), installed: bool = True
    ) -> None:
        if settings is None:
            from pi_core.settings import Settings

            settings = Settings.load()
        self.settings = settings
        self.disabled = frozenset(disabled) | frozenset(settings.get_str_list("plugins.disabled"))
        self.problems: list[Problem] = []
        self._installed = installed
        self._index = IndexFile(settings.agent_dir)
        self._added: list[str] = []
        self.extensions: LocalExtensions | None = None
        """The plugins without packaging, once somebody has looked for them."""
        self.activated: dict[str, PluginAPI] = {}
        """Plugins that were activated before there was a session; the next session takes them over."""
        self._loaded: set[str] = set()
        self.load_seconds = settings.get_number("hooks.timeout", LOAD_SECONDS, minimum=SHORTEST_TIMEOUT)
        """How long a plugin may take to be imported, to register or to activate itself."""
        self._crumbs = Breadcrumbs(settings.agent_dir / "cache")
        self._registry = Registry(settings.get_object("plugins.prefer"), self.rank)
        self._registrar = Registrar(self._registry, self._report, self.load_seconds, self._crumbs)
        self._by_name: dict[str, dict[str, list[PluginRecord]]] = {}
        self._record_changes = 0

    # What is installed

    @cached_property
    def records(self) -> dict[str, PluginRecord]:
        """Every installed plugin by name, in load order; from the index, which is brought up to date first."""
        if not self._installed:
            return {}
        marks = fingerprint()
        stored = self._index.read(marks)
        records, problems = stored if stored is not None else self._find()
        by_name = {record.name: record for record in records}
        self.__dict__["records"] = _in_load_order(by_name, self.settings.get_str_list("plugins.order"))
        aside = self._set_aside(by_name)
        stale = [record for record in records if self._is_stale(record)]
        for record in stale:
            self._look_into(record)
        if stale or aside or stored is None:
            self._index.write(marks, records, problems)
        self.problems = [*problems, *self.problems]
        for record in records:
            if record.name not in self.disabled and record not in stale:
                self.problems += record.problems
        self._check_disabled()
        return self.__dict__["records"]  # type: ignore[no-any-return]

    def indexed(self) -> list[PluginRecord]:
        """Return the enabled plugins that an index up to date knows; never imports one, and never writes."""
        if not self._installed:
            return []
        if "records" in self.__dict__:
            records = list(self.records.values())
        else:
            records = (self._index.read(fingerprint()) or ([], []))[0]
        return [each for each in records if each.name not in self.disabled and not self._is_stale(each)]

    def rank(self, plugin: str) -> int:
        """Return a plugin's place in load order; those added by hand come last, in the order of adding."""
        names = [*self.records, *self._added]
        return names.index(plugin) if plugin in names else len(names)

    def registering(self, hook: str, name: str | None = None) -> list[PluginRecord]:
        """Return the enabled plugins that register something under a hook, or this very name, in load order."""
        by_name = self.registered_names(hook)
        if name is not None:
            return by_name.get(name, [])
        return list({record.name: record for records in by_name.values() for record in records}.values())

    def registered_names(self, hook: str) -> dict[str, list[PluginRecord]]:
        """Return the enabled plugins that register each name under a hook, in load order, as the index has it."""
        known = self._by_name.get(hook)
        if known is None:
            known = {}
            for record in self.records.values():
                for name in record.names(hook) if record.name not in self.disabled else ():
                    known.setdefault(name, []).append(record)
            self._by_name[hook] = known
        return known

    @property
    def changes(self) -> int:
        """A number that grows whenever what plugins register may be different from before."""
        return self._record_changes + self._registry.changes

    def owners(self, hook: str) -> dict[str, str]:
        """Return which plugin each registered name means, as the index has it; imports nothing that is indexed."""
        found = self.registered_names(hook).items()
        return {name: self._registry.choice(hook, name, [each.name for each in records]) for name, records in found}

    # Loading

    def load(self, *names: str) -> None:
        """Import plugins; what fails is reported, the rest works. What they register is asked when it is wanted."""
        for name in names:
            record = self.records.get(name)
            if record is None or name in self.disabled or name in self._loaded:
                continue
            self._loaded.add(name)
            if not (record.loads and self._load(record)):
                self._shut_gates(record)

    def load_listeners(self) -> None:
        """Load every plugin that implements an event hook or ``activate``: a session needs them all.

        One that guards something and cannot be loaded any more refuses from then on.
        """
        self.load(*(record.name for record in self.records.values() if record.hooks or record.guards))

    def add(self, plugin: object, name: str) -> None:
        """Add a plugin object by hand: a local extension, a test's plugin.

        Raises:
            ValueError: The name is taken.
        """
        if name in self.records or name in self._added:
            message = f"A plugin named {name!r} is there already"
            raise ValueError(message)
        self._added.append(name)
        self._registrar.register(name, plugin, None)

    def added(self) -> list[str]:
        """Return the names of the plugins that were added by hand, in load order."""
        return list(self._added)

    def has(self, name: str) -> bool:
        """Whether a plugin of this name is installed or was added."""
        return name in self.records or name in self._added

    def remove(self, name: str) -> object | None:
        """Take a plugin away that ``add`` brought, with what it registered; returns it, where it could be used."""
        self._added.remove(name)
        return self._withdraw(name)

    def replace(self, name: str, plugin: object) -> object | None:
        """Put another object in place of a plugin that ``add`` brought; returns the one before."""
        before = self._withdraw(name)
        self._registrar.register(name, plugin, None)
        return before

    def _withdraw(self, name: str) -> object | None:
        self.problems = [problem for problem in self.problems if problem.plugin != name]
        return self._registrar.withdraw(name)

    def register(self, hook: str, plugin: str, thing: object) -> Callable[[], None]:
        """Register an object for all sessions at run time; returns how to take it away."""
        return self._registry.add(hook, plugin, thing)

    def choice(self, hook: str, name: str, plugins: Sequence[str]) -> str:
        """Return which of these plugins, given in load order, a name means."""
        return self._registry.choice(hook, name, plugins)

    def report(self, plugin: str, step: str, message: str) -> None:
        """Keep what went wrong with a plugin, for whoever shows ``problems``."""
        self._report(plugin, step, message)

    def find(self, hook: str, name: str) -> Registered | None:
        """Return what a name means under a registration hook, loading the plugins that register it.

        ``plugin:name`` finds what another plugin's registration of the same name hides.
        """
        owner, _, plain = name.partition(":")
        for record in self.registering(hook, name):
            self.load(record.name)
        found = self._registrar.asked(hook).get(hook, name)
        if found is None and plain:
            self.load(*(record.name for record in self.registering(hook, plain) if record.name == owner))
            found = self._registrar.asked(hook).get(hook, name)
        return found

    def find_all(self, hook: str) -> dict[str, Registered]:
        """Return everything that is registered under a hook, by name, loading whoever registers it."""
        self.load(*(record.name for record in self.registering(hook)))
        return self._registrar.asked(hook).winners(hook)

    def registrations(self, hook: str) -> list[Registered]:
        """Return what the loaded plugins registered under a hook, losers included."""
        return self._registrar.asked(hook).all(hook)

    def activations(self) -> list[tuple[str, Callable[..., Any]]]:
        """Return the ``activate`` functions of the loaded plugins, in load order."""
        found = [(each.plugin_name, each.function) for each in self._registrar.manager.hook.activate.get_hookimpls()]
        return sorted(found, key=lambda pair: self.rank(pair[0]))

    def dispatcher(
        self, report: Callable[[HookFailure], None], trace: Callable[[HookTrace], None] | None = None
    ) -> HookDispatcher:
        """Return a new dispatcher over the loaded plugins; each session has its own."""
        timeouts = Timeouts(
            default=self.settings.get_number("hooks.timeout", None, minimum=SHORTEST_TIMEOUT),
            plugins=self._seconds("plugins"),
            hooks=self._seconds("specs"),
        )
        return HookDispatcher(
            self._registrar.manager,
            report=report,
            rank=self.rank,
            timeouts=timeouts,
            trace=trace,
            shut_by=self._registrar.gates.shut_by,
        )

    def look_again(self, name: str) -> PluginRecord:
        """Try again to load an installed plugin that could not be loaded, and return what is known of it now.

        A process of its own tries first: the plugin may end the process that loads it.

        Raises:
            UnknownName: No such plugin is installed.
        """
        if name not in self.records:
            raise UnknownName("plugin", name, self.records, "pi plugins lists them")
        record = self.records[name]
        if record.loads and record.indexed:
            return record
        self.problems = [problem for problem in self.problems if problem.plugin != name]
        died = self._try(record)
        if died is None:
            self._look_into(record)
        else:
            self._leave_out(record, died)
            self.problems += record.problems
        marks = fingerprint()
        _, problems = self._index.read(marks) or ([], [])
        self._index.write(marks, list(self.records.values()), problems)
        return record

    # Inside

    def _seconds(self, kind: str) -> dict[str, float]:
        """Read ``hooks.<kind>.<name>.timeout`` of every name that has one."""
        read = self.settings.get_number
        names = self.settings.get_object(("hooks", kind))
        found = {name: read(("hooks", kind, name, "timeout"), None, minimum=SHORTEST_TIMEOUT) for name in names}
        return {name: seconds for name, seconds in found.items() if seconds is not None}

    def _is_stale(self, record: PluginRecord) -> bool:
        """Whether to look into a plugin (again)."""
        return record.name not in self.disabled and not (record.indexed and unchanged(record.files))

    def _find(self) -> tuple[list[PluginRecord], list[Problem]]:
        """Return what is installed, not looked into yet, with the hooks that it was known to guard."""
        records, problems = find_plugins()
        known = self._index.guards()
        for record in records:
            record.guards = known.get((record.name, record.distribution), [])
        return records, problems

    def _set_aside(self, records: dict[str, PluginRecord]) -> list[PluginRecord]:
        """Leave out the plugins that pi died in before, unless a process of their own can load them; return them."""
        aside = []
        for name, times in self._crumbs.left_behind().items():
            record = records.get(name)
            if record is None or name in self.disabled:
                continue
            died = self._try(record)
            if died is not None or times > 1:
                self._leave_out(record, died or "twice in a row")
                aside.append(record)
        return aside

    def _try(self, record: PluginRecord) -> str | None:
        from pi_core.host.trial import how_it_died

        return how_it_died(record.value, self.load_seconds)

    def _leave_out(self, record: PluginRecord, how: str) -> None:
        """Describe a plugin as one that cannot be loaded, until it changes."""
        message = (
            f"not loaded: loading it ends the process ({how}). It is left out until it changes;"
            f" pi plugins retry {record.name} tries it again"
        )
        record.rejected, record.registers, record.hooks = [], {}, []
        record.problems = [Problem(record.name, "import", message)]
        record.loads, record.indexed = False, True
        record.files = source_files(record.value)
        self._forget_names()

    def _look_into(self, record: PluginRecord) -> None:
        """Fill in a record by loading its plugin."""
        started = time.perf_counter()
        before = len(self.problems)
        record.problems, record.rejected, record.registers, record.hooks = [], [], {}, []
        self._loaded.add(record.name)
        unmet = self._unmet(record)
        if unmet is not None:
            self._report(record.name, "import", f"not loaded: it {unmet}")
        record.loads = unmet is None and self._load(record, describe=True)
        if not record.loads:
            self._shut_gates(record)
        record.load_ms = round((time.perf_counter() - started) * 1000, 1)
        record.problems = self.problems[before:]
        record.files = source_files(record.value)
        # A plugin that is not there, or that ran out of time, may do better at the next start.
        timed_out = record.load_ms >= self.load_seconds * 1000
        record.indexed = record.loads or not (timed_out or find_origin(record.value) is None)
        self._forget_names()

    def _forget_names(self) -> None:
        self._by_name.clear()
        self._record_changes += 1

    def _unmet(self, record: PluginRecord) -> str | None:
        from pi_core.host.requirements import unmet_requirement  # paid for only while indexing

        return unmet_requirement(record.distribution)

    def _load(self, record: PluginRecord, *, describe: bool = False) -> bool:
        """Import a plugin and register it; return whether it could be imported."""
        with self._crumbs.at(record.name):
            plugin = self._import(record)
            if plugin is not None and not self._registrar.register(record.name, plugin, record, describe=describe):
                self._shut_gates(record)
        return plugin is not None

    def _import(self, record: PluginRecord) -> object | None:
        module, _, path = record.value.partition(":")
        plugin: object | None = None
        with self._registrar.guarded(record.name, "import", f"importing {module}", "not loaded: "):
            start: object = import_module(module)
            plugin = reduce(getattr, filter(None, path.split(".")), start)
            if plugin is None:
                self._report(record.name, "import", f"not loaded: {record.value} is None")
        return plugin

    def _shut_gates(self, record: PluginRecord) -> None:
        """Let the hooks refuse in which a plugin that cannot be loaded was known to decide."""
        said = [each.message for each in self.problems if (each.plugin, each.step) == (record.name, "import")]
        why = said[-1].removeprefix("not loaded: ") if said else "not loaded"
        self._registrar.gates.shut(record.name, record.guards, why)

    def _check_disabled(self) -> None:
        for name in sorted(self.disabled - set(self.records)):
            self._report("(settings)", "plugins.disabled", str(UnknownName("plugin", name, self.records)))

    def _report(self, plugin: str, step: str, message: str) -> None:
        problem = Problem(plugin, step, message)
        if not any(problem.same_as(known) for known in self.problems):  # the index told it, and loading found it again
            self.problems.append(problem)


def _in_load_order(records: dict[str, PluginRecord], order: Sequence[str]) -> dict[str, PluginRecord]:
    """Default plugins first, then the others, each by name; those that ``order`` names trade places to obey it."""
    names = sorted(records, key=lambda name: (name not in DEFAULT_PLUGINS, name))
    wanted = [name for name in dict.fromkeys(order) if name in records]
    places = sorted(names.index(name) for name in wanted)
    for place, name in zip(places, wanted, strict=True):
        names[place] = name
    return {name: records[name] for name in names}
