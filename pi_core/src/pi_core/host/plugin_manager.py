"""pluggy's manager, which also checks each implementation: it reports invalid ones and registers the others."""

from __future__ import annotations

from types import FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import pluggy

from pi_core.agent.safe_text import format_exception, function_location
from pi_core.hooks.signatures import cannot_be_awaited, needed
from pi_hookspecs import UnknownName
from pi_hookspecs.specs import spec_modules

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["PluginManager"]

_MARKABLE = (FunctionType, MethodType, classmethod, staticmethod)
"""Types that can be hook implementations."""


class PluginManager(pluggy.PluginManager):
    """A plugin manager with pi's hook specifications.

    Args:
        report: Called with hook and message for each implementation that cannot be used.
    """

    def __init__(self, report: Callable[[str, str], None]) -> None:
        super().__init__("pi")
        self.granted: Callable[[str], bool] | None = None
        """Whether an implementation of a hook counts, of the plugin that is registered next; None counts all."""
        self._report = report
        self.is_marked = False
        """Whether the plugin that was registered last has marked a function as an implementation, usable or not."""
        self._implemented: set[str] = set()
        for module in spec_modules():
            self.add_hookspecs(module)

    def register(self, plugin: object, name: str | None = None) -> str | None:
        """Register a plugin, and return its name."""
        self._implemented, self.is_marked = set(), False
        return super().register(plugin, name)

    def implemented(self) -> list[pluggy.HookCaller]:
        """Return the hooks that the most recently registered plugin implements, in the order of the specifications.

        ``get_hookcallers`` returns the same, but looks through the implementations of every hook.
        """
        return [caller for name, caller in vars(self.hook).items() if name in self._implemented]

    def parse_hookspec_opts(self, module_or_class: Any, name: str) -> pluggy.HookspecOpts | None:
        """Return pluggy's options of a specification. pluggy is slower and reads attributes, which may run code."""
        options: pluggy.HookspecOpts | None = getattr(vars(module_or_class).get(name), "pi_spec", None)
        return options

    def parse_hookimpl_opts(self, plugin: object, name: str) -> pluggy.HookimplOpts | None:
        """Return pluggy's options of a valid implementation, else None."""
        if isinstance(plugin, ModuleType) and not issubclass(type(vars(plugin).get(name)), _MARKABLE):
            return None  # pluggy also returns None, but slowly: most names in a module are not functions
        try:
            options = super().parse_hookimpl_opts(plugin, name)
            if options is None:
                return None
            hook, function = options.get("specname") or name, getattr(plugin, name)
            self.is_marked = True
            if self.granted is not None and not self.granted(hook):
                return None
            problem = self._problem(function, hook, options)
        except Exception as error:  # noqa: BLE001 - reading a plugin's attribute may raise anything
            self._report(name, f"cannot be inspected: {format_exception(error)}")
            return None
        if problem is None:
            self._implemented.add(hook)
            return options
        if problem:
            self._report(hook, problem + function_location(function))
        return None

    def _problem(self, function: Callable[..., Any], hook: str, options: pluggy.HookimplOpts) -> str | None:
        """Return the problem of an implementation, ``""`` if it is silently ignored, or None if it is valid."""
        caller = getattr(self.hook, hook, None)
        if caller is None or not caller.has_spec():
            return "" if options["optionalhook"] else str(UnknownName("hook", hook, vars(self.hook)))
        if options["wrapper"] or options["hookwrapper"]:
            return "wrappers are not supported: hooks may be async, and a wrapper would end before the work starts"
        known = caller.spec.argnames
        positional, by_keyword, _ = needed(function)
        unknown = [each for each in positional if each not in known]
        if unknown:
            offered = f"only {', '.join(known)}: give its parameters these names" if known else "no arguments"
            return f"takes {', '.join(unknown)}, but the hook offers {offered}"
        if by_keyword:
            return f"takes {', '.join(by_keyword)} only by keyword, but hooks are called by position; remove the *"
        return cannot_be_awaited(caller.spec.function, function)
