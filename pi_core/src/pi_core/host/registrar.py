"""Registers plugin objects with pluggy, asks each what it registers, and keeps what can be used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from pi_core.agent.safe_text import safe_repr
from pi_core.host.gates import Gates, guarded_hooks
from pi_core.host.guarded import guarded
from pi_core.host.kinds import KINDS
from pi_core.host.plugin_manager import PluginManager

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from pi_core.host.breadcrumbs import Breadcrumbs
    from pi_core.host.records import PluginRecord
    from pi_core.host.registry import Registry

__all__ = ["Registrar"]


class Registrar:
    """Knows the plugin objects of one host, and which of them were not asked yet.

    Args:
        registry: Gets what they register.
        report: Called with what is wrong: plugin, step, message.
        load_seconds: How long a plugin may take in each step.
        crumbs: Say which plugin's code runs.

    Attributes:
        manager: The event hooks of the plugins.
        gates: Hooks that refuse, because their implementation cannot be asked.
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
        self._unasked: dict[str, list[tuple[str, PluginRecord]]] = {}
        self.manager = PluginManager(self._unusable)
        self.gates = Gates(report)

    def register(self, name: str, plugin: object, record: PluginRecord | None, *, describe: bool = False) -> bool:
        """Register a plugin; what it registers is asked at once, but of an indexed one when it is wanted.

        Args:
            name: The plugin's name.
            plugin: The module or instance.
            record: Of an installed plugin.
            describe: Fill in the record.

        Returns:
            Whether it is registered; else the reason was reported.
        """
        self._registering = name
        problem = _object_problem(plugin)
        if problem is not None:
            self._report(name, "import", problem)
            return False
        hooks: list[str] | None = None
        with self.guarded(name, "import", "looking for its hooks"):
            self.manager.register(plugin, name)
            hooks = [caller.name for caller in self.manager.get_hookcallers(plugin) or ()]
        if hooks is None:
            return False
        if not hooks:
            self._report(name, "import", "implements no hook; mark its functions with @hookimpl")
        if record is not None and describe:
            record.hooks = [hook for hook in hooks if hook not in KINDS]
            record.guards = guarded_hooks(hooks)
        for hook in hooks:
            if hook not in KINDS:
                continue
            if record is None or describe:
                self._ask(hook, name, record, describe=describe)
            else:  # the index knows that it can be used; what is never looked for is never made
                self._unasked.setdefault(hook, []).append((name, record))
        return True

    def withdraw(self, name: str) -> object | None:
        """Take a plugin away, with what it registered; return the object, where it could be registered."""
        self.gates.open(name)
        for hook in KINDS:
            self._registry.remove(hook, name)
        found = self.manager.get_plugin(name)
        return self.manager.unregister(found, name) if found is not None else None

    def asked(self, hook: str) -> Registry:
        """Return the registry, once the loaded plugins were asked for what they register under a hook."""
        for name, record in self._unasked.pop(hook, ()):
            with self._crumbs.at(name):
                self._ask(hook, name, record, describe=False)
        return self._registry

    def guarded(self, plugin: str, step: str, what: str, prefix: str = "") -> AbstractContextManager[None, bool]:
        """Run a plugin's code in the block: bounded in time, and whatever it raises is reported."""
        guard = guarded(lambda message: self._report(plugin, step, prefix + message), plugin, what, self._load_seconds)
        return cast("AbstractContextManager[None, bool]", guard)  # it swallows, which a generator's type cannot say

    # Inside

    def _unusable(self, hook: str, message: str) -> None:
        """Report an implementation that cannot be called; one that guards something refuses from now on."""
        self._report(self._registering, hook, message)
        self.gates.shut(self._registering, [hook], f"{hook} {message}")

    def _ask(self, hook: str, name: str, record: PluginRecord | None, *, describe: bool) -> None:
        """Ask one plugin what it registers under one hook, and keep what can be used."""
        seen: set[str] = set()
        things = iter(self._answer(hook, name))
        went_through = False
        while not went_through:  # a thing that cannot be looked at ends a guard, and the next guard goes on behind it
            with self.guarded(name, hook, hook):
                for thing in things:
                    self._keep(hook, name, thing, seen, record, describe=describe)
                went_through = True

    def _keep(
        self, hook: str, name: str, thing: Any, seen: set[str], record: PluginRecord | None, *, describe: bool
    ) -> None:
        """Register one object if it can be used; ``seen`` are the names that this plugin has registered so far."""
        kind = KINDS[hook]
        problem = kind.problem(thing)
        if problem is not None:
            self._report(name, hook, problem)
            return
        key = kind.key_of(thing)
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

    def _answer(self, hook: str, name: str) -> Sequence[Any]:
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
        """Write an object into the record; False when it is found to be unusable on the closer look."""
        import orjson

        problem = None
        described = KINDS[hook].describe(thing)
        try:
            orjson.dumps(described)
        except TypeError as error:
            problem = f"{KINDS[hook].name} {described['name']!r} cannot be described as JSON: {error}"
        if problem is None and hook == "register_tools":
            from pi_core.agent.validation import ArgumentValidator  # jsonschema is paid for only while indexing

            problem = ArgumentValidator().check_schema(thing)
        if problem is not None:
            self._report(name, hook, problem)
            return False
        same = [each for each in record.registers.get(hook, ()) if each["name"] != described["name"]]
        record.registers[hook] = [*same, described]
        return True


def _object_problem(plugin: object) -> str | None:
    if isinstance(plugin, type):
        return f"{plugin.__name__} is a class; a plugin is a module or an instance, made with @define(eq=False)"
    if type(plugin).__hash__ is None:
        return f"{safe_repr(plugin)} cannot be distinguished from its equals; define its class with @define(eq=False)"
    return None
