"""Registers plugin objects with pluggy, calls their registration hooks, and keeps the valid results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from pi_core.agent.safe_text import safe_repr
from pi_core.host.gates import Gates, guarded_hooks, guarded_services
from pi_core.host.guarded import guarded
from pi_core.host.kinds import KINDS
from pi_core.host.plugin_manager import PluginManager

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence
    from contextlib import AbstractContextManager

    from pi_core.host.breadcrumbs import Breadcrumbs
    from pi_core.host.records import PluginRecord
    from pi_core.host.registry import Registry

__all__ = ["Registrar"]


class Registrar:
    """Registers the plugin objects of one host, and calls their registration hooks when they are needed.

    Args:
        registry: Gets the registrations.
        report: Called with plugin, step and message for each problem.
        load_seconds: The deadline of each step.
        crumbs: Records which plugin's code runs.

    Attributes:
        manager: pluggy's manager with the plugins' hook implementations.
        gates: Hooks that refuse because their implementation cannot be called.
    """

    def __init__(
        self,
        registry: Registry,
        report: Callable[[str, str, str], None],
        load_seconds: float,
        crumbs: Breadcrumbs,
    ) -> None:
        self._registry = registry
        self._report = report
        self._load_seconds = load_seconds
        self._crumbs = crumbs
        self._registering = ""
        self._pending: dict[str, list[tuple[str, PluginRecord]]] = {}
        self.manager = PluginManager(self._report_unusable)
        self.gates = Gates(report)

    def register(self, name: str, plugin: object, record: PluginRecord | None, *, describe: bool = False) -> bool:
        """Register a plugin. Its registration hooks are called at once, or, if it is indexed, when they are needed.

        Args:
            name: The plugin's name.
            plugin: The module or instance.
            record: The record of an installed plugin.
            describe: Whether to fill in the record.

        Returns:
            Whether the plugin is registered; if not, the reason has been reported.
        """
        self._registering = name
        problem = _object_problem(plugin)
        if problem is not None:
            self._report(name, "import", problem)
            return False
        hooks: list[str] | None = None
        grants = record.grants if record is not None else None
        with self.guarded(name, "import", "looking for its hooks"):
            self.manager.granted = _hook_filter(grants) if grants is not None else None
            self.manager.register(plugin, name)
            hooks = [caller.name for caller in self.manager.implemented()]
        if hooks is None:
            return False
        if not hooks and not self.manager.is_marked:
            self._report(name, "import", "implements no hook; mark its functions with @hookimpl")
        self._report_deprecated(name)
        if record is not None and describe:
            record.hooks = [hook for hook in hooks if hook not in KINDS]
            record.guards = guarded_hooks(hooks)
        for hook in hooks:
            if hook not in KINDS:
                continue
            if record is None or describe:
                self._call_hook(hook, name, record, describe=describe)
            else:  # the index has its registrations; unused ones are never created
                self._pending.setdefault(hook, []).append((name, record))
        if record is not None and describe:
            record.guards += guarded_services(record.names("register_services"))
        return True

    def is_loaded(self, name: str) -> bool:
        """Whether a plugin's object is registered."""
        return self.manager.get_plugin(name) is not None

    def plugin_object(self, name: str) -> object | None:
        """Return a plugin's object; None if none is registered."""
        found: object | None = self.manager.get_plugin(name)
        return found

    def absent_guards(self, installed: Container[str]) -> dict[str, list[str]]:
        """Return, for each installed plugin without a registered object, the hooks that refuse on its behalf."""
        found: dict[str, list[str]] = {}
        for hook, plugins in self.gates.refusing.items():
            for name in plugins:
                if name in installed and not self.is_loaded(name):
                    found.setdefault(name, []).append(hook)
        return found

    def withdraw(self, name: str) -> object | None:
        """Remove a plugin and its registrations; return its object if it was registered."""
        self.gates.clear(name)
        for hook in KINDS:
            self._registry.remove(hook, name)
        found = self.manager.get_plugin(name)
        return self.manager.unregister(found, name) if found is not None else None

    def registry_of(self, hook: str, only: Container[str] | None = None) -> Registry:
        """Return the registry, after calling the pending implementations of a registration hook.

        Args:
            hook: The registration hook.
            only: The plugins whose implementations are called; those of the others stay pending.
        """
        pending = self._pending.pop(hook, [])
        for name, record in pending:
            if only is not None and name not in only:
                self._pending.setdefault(hook, []).append((name, record))
                continue
            with self._crumbs.at(name):
                self._call_hook(hook, name, record, describe=False)
        return self._registry

    def guarded(self, plugin: str, step: str, what: str, prefix: str = "") -> AbstractContextManager[None, bool]:
        """Return a block for a plugin's code, with a deadline, that reports its exceptions."""
        guard = guarded(lambda message: self._report(plugin, step, prefix + message), plugin, what, self._load_seconds)
        return cast("AbstractContextManager[None, bool]", guard)  # it suppresses exceptions

    # Internals

    def _report_unusable(self, hook: str, message: str) -> None:
        """Report an implementation that cannot be called; if it guards a hook, the hook refuses from now on."""
        self._report(self._registering, hook, message)
        self.gates.refuse(self._registering, [hook], f"{hook} {message}")

    def _report_deprecated(self, name: str) -> None:
        """Report the deprecated hooks that the most recently registered plugin implements."""
        for caller in self.manager.implemented():
            mark = getattr(caller.spec.function, "pi_deprecated", None) if caller.spec is not None else None
            if mark is not None:
                from pi_core.hooks.deprecations import place_of

                function = next(each.function for each in caller.get_hookimpls() if each.plugin_name == name)
                self._report(name, caller.name, f"the hook {mark} ({place_of(function)})")

    def _call_hook(self, hook: str, name: str, record: PluginRecord | None, *, describe: bool) -> None:
        """Call a registration hook of one plugin, and register the valid objects that it returns."""
        seen: set[str] = set()
        things = iter(self._returned_by(hook, name))
        finished = False
        while not finished:  # an object that raises ends the block, and the loop continues with the next object
            with self.guarded(name, hook, hook):
                for thing in things:
                    self._register_one(hook, name, thing, seen, record, describe=describe)
                finished = True

    def _register_one(
        self, hook: str, name: str, thing: Any, seen: set[str], record: PluginRecord | None, *, describe: bool
    ) -> None:
        """Register one object if it is valid; ``seen`` contains the names that this plugin has registered so far."""
        kind = KINDS[hook]
        problem = kind.problem(thing)
        if problem is not None:
            self._report(name, hook, problem)
            return
        key = kind.key_of(thing)
        if hook == "register_tools" and record is not None and record.grants is not None:
            from pi_core.host.grants import is_granted, not_granted  # few plugins have grants

            if not is_granted(record.grants, "tools", key):
                self._report(name, hook, f"tool {key!r} {not_granted('tools', key)}")
                return
        if record is not None and not describe and f"{hook}:{key}" in record.rejected:
            return
        if record is not None and describe and not self._describe(hook, name, thing, record):
            record.rejected.append(f"{hook}:{key}")
            return
        if key in seen:
            self._report(name, hook, f"registers {kind.name} {key!r} twice; the later one is used")
            self._registry.remove(hook, name, key)
        seen.add(key)
        self._registry.add(hook, name, thing)

    def _returned_by(self, hook: str, name: str) -> Sequence[Any]:
        function = next(
            each.function for each in getattr(self.manager.hook, hook).get_hookimpls() if each.plugin_name == name
        )
        with self.guarded(name, hook, hook):
            answer = function()
            if hasattr(answer, "__await__"):
                getattr(answer, "close", bool)()
                self._report(name, hook, "is async; a registration hook is a plain function that returns a list")
            elif isinstance(answer, str | bytes | dict) or not hasattr(type(answer), "__iter__"):
                if answer is not None:
                    self._report(name, hook, f"returned {safe_repr(answer)}, not a list")
            else:
                return list(answer)
        return ()

    def _describe(self, hook: str, name: str, thing: Any, record: PluginRecord) -> bool:
        """Write the description of an object into the record; return False if it turns out to be invalid."""
        import orjson

        problem = None
        described = KINDS[hook].describe(thing)
        try:
            orjson.dumps(described)
        except TypeError as error:
            problem = f"{KINDS[hook].name} {described['name']!r} cannot be described as JSON: {error}"
        if problem is None and hook == "register_tools":
            from pi_core.agent.validation import ArgumentValidator  # only while indexing

            problem = ArgumentValidator().check_schema(thing)
        if problem is not None:
            self._report(name, hook, problem)
            return False
        same = [each for each in record.registers.get(hook, ()) if each["name"] != described["name"]]
        record.registers[hook] = [*same, described]
        return True


def _hook_filter(grants: Mapping[str, Any]) -> Callable[[str], bool]:
    """Return a function that returns whether the grants permit a hook."""
    from pi_core.host.grants import is_granted  # few plugins have grants

    return lambda hook: is_granted(grants, "hooks", hook)


def _object_problem(plugin: object) -> str | None:
    if isinstance(plugin, type):
        return f"{plugin.__name__} is a class; a plugin is a module or an instance, made with @define(eq=False)"
    if type(plugin).__hash__ is None:
        return f"{safe_repr(plugin)} cannot be distinguished from its equals; define its class with @define(eq=False)"
    return None
