"""``PluginHost``: the installed plugins of a process, each loaded in isolation and only when needed."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pi_core.host.breadcrumbs import Breadcrumbs
from pi_core.host.discovery import find_plugins, fingerprint, unchanged
from pi_core.host.guarded import LOAD_SECONDS, SHORTEST_TIMEOUT
from pi_core.host.index import IndexFile
from pi_core.host.loader import Loader
from pi_core.host.records import PluginRecord, Problem, in_load_order, required_plugins
from pi_core.host.registrar import Registrar
from pi_core.host.registry import Registered, Registry
from pi_core.host.waiting import WaitingPlugins
from pi_hookspecs import PluginError, UnknownName

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pi_core.hooks.dispatcher import HookDispatcher
    from pi_core.hooks.reports import HookFailure
    from pi_core.host.activated import ActivatedPlugin
    from pi_core.host.builtin_extensions import SwitchedOff
    from pi_core.host.extensions import LocalExtensions
    from pi_core.host.watch import Watch
    from pi_core.settings import Settings
    from pi_core.settings.declared import DeclaredSetting
    from pi_core.settings.schema_info import KnownSettings
    from pi_hookspecs import HookTrace

__all__ = ["PluginHost"]

_MODELS, _SETTINGS = "register_models", "register_settings"


class PluginHost:
    """Finds, indexes, orders and loads plugins, and keeps their registrations.

    Args:
        settings: Order, preferences, disabled plugins, timeouts; None loads the current directory's settings.
        disabled: Names of further plugins to disable; ``left_out`` has those excluded by a policy, with reasons.
        installed: False ignores entry points, so that the only plugins are those added with ``add``.
        builtins: The built-in extensions of the original (``builtin:NAME``) that this run switches on.
        no_builtins: Whether the others of them are off.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        disabled: Iterable[str] = (),
        installed: bool = True,
        on_load: Callable[[str, float | None], None] | None = None,
        builtins: Iterable[str] = (),
        no_builtins: bool = False,
    ) -> None:
        if settings is None:
            from pi_core.settings import Settings

            settings = Settings.load()
        self.settings = settings
        self.builtins, self.no_builtins = tuple(builtins), no_builtins
        self.switched_off: SwitchedOff | None = self._switched_off()
        """The built-in extensions of the original that are off; None if the user says nothing about them."""
        self.disabled_for_run = frozenset(disabled)
        self.disabled = self.disabled_for_run | frozenset(settings.get_str_list("plugins.disabled"))
        if self.switched_off is not None:
            self.disabled |= self.switched_off.plugins.keys()
        self.left_out: dict[str, str] = {}
        self.problems: list[Problem] = []
        self.joins_packages = False  # whether a reload looks for newly installed packages
        self.installed = installed
        self._index = IndexFile(settings.agent_dir)
        self._added: list[str] = []
        self.extensions: LocalExtensions | None = None
        """The local extensions; None until they are loaded."""
        self.activated: dict[str, ActivatedPlugin] = {}
        """The ``pi`` of plugins that were activated before a session; the next session binds them."""
        self.load_seconds = settings.get_number("hooks.timeout", LOAD_SECONDS, minimum=SHORTEST_TIMEOUT)
        """The deadline for importing, registering and activating a plugin, in seconds."""
        self.crumbs = Breadcrumbs(settings.agent_dir / "cache", self.is_default)
        """Which plugins are being loaded, to detect crashes."""
        self._registry = Registry(settings.get_object("plugins.prefer"), self.rank, self._forget_service_kinds)
        self._registrar = Registrar(self._registry, self._report, self.load_seconds, self.crumbs)
        self._loader = Loader(
            self._registrar, self.crumbs, self._report, lambda: self.problems, self.load_seconds, on_load=on_load
        )
        self.load_times: Mapping[str, float] = self._loader.times  # milliseconds, for plugins loaded in this process
        self._by_name: dict[str, dict[str, list[PluginRecord]]] = {}
        self._record_changes = 0
        self._found: dict[tuple[str, str], tuple[int, Registered]] = {}
        self._services: dict[str, tuple[int, list[Registered]]] = {}
        self._declared: tuple[int, tuple[DeclaredSetting, ...]] | None = None
        self._waiting = WaitingPlugins(settings)
        self.watch: Watch | None = None  # audits the plugins' files, programs and connections if enabled
        for problem in self.switched_off.problems if self.switched_off is not None else ():
            self._report("(settings)", "extensions", problem)
        if any(value is True for _, value in settings.each("plugins.watch")):  # a project can only enable it
            from pi_core.host.watch import Watch

            self.watch = Watch(self)

    # Installed plugins

    @cached_property
    def records(self) -> dict[str, PluginRecord]:
        """Every installed plugin by name, in load order; read from the index after updating it."""
        if not self.installed:
            return {}
        marks = fingerprint()
        stored = self._index.read(marks)
        records, problems = stored if stored is not None else self._find()
        by_name = {record.name: record for record in records}
        self._apply_policy(by_name)
        self.__dict__["records"] = in_load_order(by_name, self.settings.get_str_list("plugins.order"))
        enabled = {each.name: each for each in records if each.name not in self.disabled}
        excluded = self._loader.exclude_crashing(enabled)
        stale = [record for record in records if self._is_stale(record)]
        for record in stale:
            self._loader.index_plugin(record)
            self.forget_names()
        if stale or excluded or stored is None:
            self._index.write(marks, records, problems)
        self.problems = [*problems, *self.problems]
        for record in records:
            if record.name not in self.disabled and record not in stale:
                self.problems += record.problems
        self._check_disabled()
        self.declare_settings(self.settings)
        return self.__dict__["records"]  # type: ignore[no-any-return]

    def _switched_off(self) -> SwitchedOff | None:
        if not self.no_builtins and not self.settings.each("extensions"):
            return None
        from pi_core.host.builtin_extensions import switched_off  # most users have no such setting

        return switched_off(self.settings, self.builtins, discover=not self.no_builtins)

    def _apply_policy(self, records: Mapping[str, PluginRecord]) -> None:
        if any(map(self.settings.each, ("plugins.allow", "packages.deny", "packages"))):
            from pi_core.host.policy import left_out  # most users do not set any of these

            self.left_out = left_out(records, self.settings)
            self.disabled |= self.left_out.keys()

    @property
    def held(self) -> dict[str, dict[str, Any]]:
        """The grants of each plugin that is restricted to certain grants, by plugin name."""
        return {name: each.grants for name, each in self.records.items() if each.grants is not None}

    def absent_guards(self, installed: Container[str]) -> dict[str, list[str]]:
        """Return, for each installed plugin without a registered object, the hooks that refuse on its behalf."""
        return self._registrar.absent_guards(installed)

    def is_default(self, name: str) -> bool:
        """Whether a plugin is installed with the distribution ``pluggypi``; False before the plugins are found."""
        record = self.__dict__.get("records", {}).get(name)
        return record is not None and record.is_default

    def is_loaded(self, name: str) -> bool:
        """Whether a plugin's object is registered."""
        return self._registrar.is_loaded(name)

    def indexed(self) -> list[PluginRecord]:
        """Return the enabled plugins whose records in the index are up to date, without importing or writing."""
        if not self.installed:
            return []
        if "records" in self.__dict__:
            records = list(self.records.values())
        else:
            records = (self._index.read(fingerprint()) or ([], []))[0]
        return [each for each in records if each.name not in self.disabled and not self._is_stale(each)]

    def rank(self, plugin: str) -> int:
        """Return a plugin's position in load order; plugins added with ``add`` come last, in the order of adding."""
        names = [*self.records, *self._added]
        return names.index(plugin) if plugin in names else len(names)

    def registering(self, hook: str, name: str | None = None) -> list[PluginRecord]:
        """Return the enabled plugins that register an object, or one of this name, under a hook, in load order."""
        by_name = self.registered_names(hook)
        if name is not None:
            return by_name.get(name, [])
        return list({record.name: record for records in by_name.values() for record in records}.values())

    def registered_names(self, hook: str) -> dict[str, list[PluginRecord]]:
        """Return, for each name registered under a hook, the enabled plugins in load order, from the index."""
        known = self._by_name.get(hook)
        if known is None:
            known = {}
            for record in self.records.values():
                for name in record.names(hook) if record.name not in self.disabled else ():
                    if not self._is_off(hook, name):
                        known.setdefault(name, []).append(record)
            self._by_name[hook] = known
        return known

    def _is_off(self, hook: str, name: str) -> bool:
        """Whether a provider's own row is off, with the built-in extension that brings it in the original."""
        return self.switched_off is not None and hook == _MODELS and name in self.switched_off.models

    @property
    def changes(self) -> int:
        """A number that increases whenever registrations may have changed."""
        return self._record_changes + self._registry.changes

    @cached_property
    def service_kinds(self) -> frozenset[str]:
        """The kinds of services that plugins provide, according to the index; cached until the registrations change."""
        added = {each.name for each in self._registry.all("register_services")}
        guarded = {guard.partition(":")[2] for record in self._enabled() for guard in record.guards if ":" in guard}
        return frozenset(added | guarded | self.registered_names("register_services").keys())

    def _enabled(self) -> list[PluginRecord]:
        return [record for record in self.records.values() if record.name not in self.disabled]

    def owners(self, hook: str) -> dict[str, str]:
        """Return the plugin that each registered name resolves to, from the index, without importing plugins."""
        found = self.registered_names(hook).items()
        return {name: self._registry.choice(hook, name, [each.name for each in records]) for name, records in found}

    # Loading

    def load(self, *names: str) -> None:
        """Import plugins and report failures. Their registration hooks are called later, when they are needed."""
        for name in names:
            record = self.records.get(name)
            if record is not None and name not in self.disabled:
                self._loader.load(record)

    def load_listeners(
        self, cwd: Path | None = None, settings: Settings | None = None, flags: Mapping[str, object] | None = None
    ) -> None:
        """Load every plugin that implements an event hook or ``activate``, as a session requires.

        A plugin whose ``pi_when`` condition is not met is not loaded. If it was already loaded for another reason (to
        be indexed, or for an object that it registers by name), its event hooks and its ``activate`` are not used. If
        a plugin that guards a hook can no longer be loaded, the calls that it guards are refused from then on.

        Args:
            cwd: The session's working directory, for ``pi_when``. None uses the current directory.
            settings: The session's settings, for ``pi_when``. None uses the settings of this host.
            flags: The values of plugin options given to the session, for ``pi_when``.
        """
        listening = [record for record in self.records.values() if record.hooks or record.guards]
        wanted = self._waiting.wanted(listening, cwd, settings, flags)
        self.load(*wanted)
        for record in listening:
            if record.when and record.name not in wanted and record.name not in self.disabled:
                self._report_idle(record, settings or self.settings)

    def _report_idle(self, record: PluginRecord, settings: Settings) -> None:
        """Report settings that have no effect, because the one next to them that switches the plugin on is not set."""
        switches = {name for name in record.when.get("settings", ()) if "." in name}
        for group in {name.rpartition(".")[0] for name in switches}:
            values = settings.get_object(group)
            names = {f"{group}.{key}" for key, value in values.items() if value is not None}
            if names and not names & switches:  # one that is set to false is known to be off
                others, waits = ", ".join(sorted(names)), " or ".join(sorted(switches))
                why = f"the plugin {record.name!r} is off until {waits} is set"
                self._report("(settings)", "settings", f"{others} has no effect: {why}.")

    def is_wanted(
        self,
        record: PluginRecord,
        cwd: Path | None = None,
        settings: Settings | None = None,
        flags: Mapping[str, object] | None = None,
    ) -> bool:
        """Return whether a plugin has no ``pi_when``, or a condition that the session meets."""
        return self._waiting.is_wanted(record, cwd, settings, flags)

    def why_no_command(self, name: str) -> str | None:
        """Return why a slash command of an installed plugin is not available here; None if no plugin has it.

        A plugin has it if its name, a command in the index, or a setting ``NAME.enabled`` that it waits for says so.

        Since: 1.1.
        """
        from pi_core.host.conditions import describe_condition

        for record in self.records.values():
            commands, switches = record.names("register_commands"), record.when.get("settings", ())
            if name != record.name and name not in commands and f"{name}.enabled" not in switches:
                continue
            if record.name in self.disabled:
                reasons = self.switched_off.plugins if self.switched_off is not None else {}
                why = reasons.get(record.name, "plugins.disabled")
                return f"/{name} is not available: the plugin {record.name!r} is disabled ({why})."
            if not self.is_wanted(record):
                condition = describe_condition(record.when).replace(".../", "")
                return f"/{name} is not available here: the plugin {record.name!r} waits for {condition}."
        return None

    def add(self, plugin: object, name: str) -> None:
        """Add a plugin object, such as a local extension or the plugin of a test.

        Raises:
            ValueError: The name is already in use.
        """
        if name in self.records or name in self._added:
            message = f"A plugin named {name!r} is already registered"
            raise ValueError(message)
        self._added.append(name)
        self._registrar.register(name, plugin, None)

    def added(self) -> list[str]:
        """Return the names of the plugins added with ``add``, in load order."""
        return list(self._added)

    def has(self, name: str) -> bool:
        """Whether a plugin of this name is installed or was added."""
        return name in self.records or name in self._added

    def plugin_object(self, name: str) -> object | None:
        """Return a plugin's object; None if none is registered."""
        return self._registrar.plugin_object(name)

    def remove(self, name: str) -> object | None:
        """Remove a plugin that was added with ``add``, and its registrations; return it if it had been registered."""
        self._added.remove(name)
        return self._withdraw(name)

    def replace(self, name: str, plugin: object) -> object | None:
        """Replace the object of a plugin that was added with ``add``; return the previous object."""
        before = self._withdraw(name)
        self._registrar.register(name, plugin, None)
        return before

    def _withdraw(self, name: str) -> object | None:
        self.problems = [problem for problem in self.problems if problem.plugin != name]
        return self._registrar.withdraw(name)

    def register(self, hook: str, plugin: str, thing: Any) -> Callable[[], None]:
        """Register an object for all sessions at run time; return a function that removes it."""
        return self._registry.add(hook, plugin, thing)

    def choice(self, hook: str, name: str, plugins: Sequence[str]) -> str:
        """Return the plugin to which a name resolves, among these plugins in load order."""
        return self._registry.choice(hook, name, plugins)

    def report(self, plugin: str, step: str, message: str) -> None:
        """Add a problem of a plugin to ``problems``, which front ends print."""
        self._report(plugin, step, message)

    def find(self, hook: str, name: str) -> Registered | None:
        """Return the registration that a name resolves to under a hook, loading the plugins that register it.

        ``plugin:name`` finds a registration that another plugin's registration of the same name hides.
        """
        known = self._found.get((hook, name))
        if known is not None and known[0] == self.changes:
            return known[1]
        found = self._look_up(hook, name)
        if found is not None:
            self._found[hook, name] = self.changes, found
        return found

    def _look_up(self, hook: str, name: str) -> Registered | None:
        if self._is_off(hook, name):
            return None
        owner, _, plain = name.partition(":")
        for record in self.registering(hook, name):
            self.load(record.name)
        found = self._registrar.registry_of(hook).get(hook, name)
        if found is None and plain:
            self.load(*(record.name for record in self.registering(hook, plain) if record.name == owner))
            found = self._registrar.registry_of(hook).get(hook, name)
        return found

    def find_all(self, hook: str) -> dict[str, Registered]:
        """Return all objects registered under a hook, by name, loading the plugins that register them."""
        self.load(*(record.name for record in self.registering(hook)))
        return self._registrar.registry_of(hook).winners(hook)

    def registrations(self, hook: str) -> list[Registered]:
        """Return all registrations of the loaded plugins under a hook, including hidden ones."""
        found = self._registrar.registry_of(hook).all(hook)
        return [each for each in found if not self._is_off(hook, each.name)] if self.switched_off is not None else found

    def declare_settings(self, settings: Settings) -> None:
        """Make the settings that plugins declare known; from then on, their rules limit the project's file."""
        settings.declare(self._declared_settings, frozenset(self._setting_variables()))

    def _setting_variables(self) -> Iterator[str]:
        """Yield the environment variables that set settings of plugins, without making their declarations."""
        for record in self.records.values():
            for each in record.registers.get(_SETTINGS, ()):
                if each["variable"]:
                    yield each["variable"]
        for one in self._registry.all(_SETTINGS):
            if one.thing.variable:
                yield one.thing.variable

    @property
    def known_settings(self) -> KnownSettings:
        """Pi's own settings and those that plugins declare, from the index."""
        from pi_core.settings.schema_info import KnownSettings

        return KnownSettings(self._declared_settings())

    def _declared_settings(self) -> tuple[DeclaredSetting, ...]:
        from pi_core.host.declared_settings import declared_settings

        if self._declared is None or self._declared[0] != self.changes:
            records = self.records.values()  # what they register need not be created: the index describes it
            self._declared = self.changes, declared_settings(records, self._registry.all(_SETTINGS))
        return self._declared[1]

    def project_files(self) -> tuple[str, ...]:
        """Return the names of files that decide, merely by existing in a project, what programs do later."""
        from pi_core.host.project_files import project_files

        hook = "register_project_files"
        installed = (name for record in self.records.values() for name in record.names(hook))
        return project_files(installed, (each.name for each in self.registrations(hook)))

    def services(self, kind: str) -> list[Registered]:
        """Return every plugin's services of one kind, in load order, with the preferred service last.

        Raises:
            PluginError: A plugin that provides such a service cannot be loaded.
        """
        known = self._services.get(kind)
        if known is None or known[0] != self.changes:
            found = self._find_services(kind)
            known = self._services[kind] = self.changes, found
        return known[1]

    def _find_services(self, kind: str) -> list[Registered]:
        guard = f"register_services:{kind}"
        known = {each.name for each in self.registering("register_services", kind)}
        providers = [each.name for each in self._enabled() if each.name in known or guard in each.guards]
        self.load(*providers)
        registry = self._registrar.registry_of("register_services", providers)  # others would be imported for nothing
        found = [each for each in registry.all("register_services") if each.name == kind]
        names = [each.plugin for each in found]
        for name in providers:
            if name not in names:
                message = f"Plugin {name!r} provides {kind} but cannot be loaded. Fix or disable it; see 'pi plugins'."
                raise PluginError(name, message)
        if names:
            preferred = registry.choice("register_services", kind, names)
            found.sort(key=lambda each: each.plugin == preferred)
        return found

    def activations(self) -> list[tuple[str, Callable[..., Any]]]:
        """Return the ``activate`` functions of the loaded plugins, in load order."""
        called = self._registrar.manager.hook.activate.get_hookimpls()
        found = [(each.plugin_name, each.function) for each in called if each.plugin_name not in self._waiting.names]
        return sorted(found, key=lambda pair: self.rank(pair[0]))

    def dispatcher(
        self, report: Callable[[HookFailure], None], trace: Callable[[HookTrace], None] | None = None
    ) -> HookDispatcher:
        """Return a new dispatcher over the loaded plugins; each session has its own."""
        from pi_core.hooks.dispatcher import HookDispatcher  # not needed without a session
        from pi_core.host.deadlines import deadlines_of
        from pi_core.host.owners import CodeOwners

        made = HookDispatcher(
            self._registrar.manager,
            report=report,
            rank=self.rank,
            timeouts=deadlines_of(self.settings),
            trace=trace,
            refusing=self._registrar.gates.refusing,
            left_out=self._waiting.names,
            owners=CodeOwners(self),
        )
        for hook, cycle in made.cycles():  # reported while no front end could listen
            self._report(cycle[0], hook, f"before= and after= form a cycle ({' -> '.join(cycle)}); load order decides")
        names = {*self.records, *self.added()}
        for hook, plugin, other in made.neighbours():
            near = () if other in names else UnknownName("plugin", other, names).nearest
            if near:  # others may be installed later
                self._report(plugin, hook, f"before= or after= names {other!r}: did you mean {' or '.join(near)}?")
        return made

    def look_again(self, name: str) -> PluginRecord:
        """Try again to load an installed plugin that could not be loaded, and return its record.

        It is first loaded in another process, because the plugin may crash the process that loads it.

        Raises:
            UnknownName: No such plugin is installed.
        """
        if name not in self.records:
            raise UnknownName("plugin", name, self.records, "pi plugins lists them")
        record = self.records[name]
        if record.loads and record.indexed:
            return record
        self.problems = [problem for problem in self.problems if problem.plugin != name]
        self._loader.look_again(record)
        self.forget_names()
        marks = fingerprint()
        _, problems = self._index.read(marks) or ([], [])
        self._index.write(marks, list(self.records.values()), problems)
        return record

    def find_more(self) -> None:
        """Find plugins that became importable when the import path was extended; known plugins stay unchanged."""
        new = {each.name: each for each in find_plugins()[0] if not self.has(each.name)}
        self._apply_policy(new)
        self.__dict__["records"] = in_load_order(self.records | new, self.settings.get_str_list("plugins.order"))
        for record in filter(self._is_stale, new.values()):
            self._loader.index_plugin(record)
        self.forget_names()

    # Internals

    def _is_stale(self, record: PluginRecord) -> bool:
        """Whether a plugin must be indexed, or indexed again."""
        return record.name not in self.disabled and not (record.indexed and unchanged(record.files))

    def _find(self) -> tuple[list[PluginRecord], list[Problem]]:
        """Return the installed plugins, not yet indexed, with the hooks that they are known to guard."""
        records, problems = find_plugins()
        known = self._index.guards()
        for record in records:
            record.guards = known.get((record.name, record.distribution), [])
        return records, problems

    def forget_names(self) -> None:
        """Discard cached names, because records have changed."""
        self._by_name.clear()
        self._forget_service_kinds()
        self._record_changes += 1

    def _forget_service_kinds(self) -> None:
        self.__dict__.pop("service_kinds", None)

    def _check_disabled(self) -> None:
        for name in sorted(self.disabled - set(self.records) - required_plugins(self.settings)):
            self._report("(settings)", "plugins.disabled", str(UnknownName("plugin", name, self.records)))

    def _report(self, plugin: str, step: str, message: str) -> None:
        from pi_core.base.secret_redaction import SecretRedaction  # a plugin may fail before there is a session

        secrets = SecretRedaction(os.environ, self.settings.agent_dir / "auth.json")
        problem = Problem(plugin, step, secrets.redact_known(message))
        if not any(problem.same_as(known) for known in self.problems):  # known from the index
            self.problems.append(problem)
