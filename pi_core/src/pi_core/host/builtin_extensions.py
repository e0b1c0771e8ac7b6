"""The original's built-in extensions, which are plugins here: what ``builtin:NAME`` means in ``extensions`` and ``-e``.

They are on by default. ``-builtin:NAME`` in any settings file switches one off, and so does ``--no-extensions``; only
``-e builtin:NAME`` of the same run switches it on again, since what the user has switched off must not start because a
project's file says so.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from pi_core.host.records import BUILTIN
from pi_hookspecs import UnknownName, UserError
from pi_hookspecs.deferred import frozen
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pi_core.host.plugin_host import PluginHost
    from pi_core.settings import Settings

__all__ = ["SwitchedOff", "check_builtins", "is_builtin", "switched_off"]

_PLUGINS = {
    "mcp": "mcp",
    "llama.cpp": "provider-llamacpp",
    "codemode": "codemode",
    "tool-search": "mcp",
}
"""The plugin that has each of them."""
_WHOLE = ("mcp", "llama.cpp", "codemode")
"""Those that are a plugin of their own."""
_TOOLS = {"tool-search": "tool_searc[h]"}
"""The patterns of tools that are not offered; patterns, since a name without a tool causes a warning."""
_MODELS = {"llama.cpp": "llama-cpp"}


@frozen(eq=False, repr=False)
class SwitchedOff(Value):
    """The built-in extensions of a run that are off, by name with the reason; and what is wrong with the settings."""

    reasons: Mapping[str, str]
    problems: tuple[str, ...] = ()

    @property
    def plugins(self) -> dict[str, str]:
        """The plugins that are off, with the reason."""
        return {_PLUGINS[name]: why for name, why in self.reasons.items() if name in _WHOLE}

    @property
    def tools(self) -> tuple[str, ...]:
        """Patterns of tools that are off."""
        return tuple(_TOOLS[name] for name in self.reasons if name in _TOOLS)

    @property
    def models(self) -> frozenset[str]:
        """The providers whose own row is off; one of models.json stays."""
        return frozenset(_MODELS[name] for name in self.reasons if name in _MODELS)


def is_builtin(text: str) -> bool:
    """Whether an entry of ``extensions``, or the argument of ``-e``, names a built-in extension."""
    return text.lstrip("+-! ").startswith(BUILTIN)


def switched_off(settings: Settings, given: Iterable[str], *, discover: bool) -> SwitchedOff:
    """Return what is off in a run.

    Args:
        settings: The setting ``extensions`` of each file.
        given: The arguments of ``-e``.
        discover: Whether extensions other than those of ``-e`` are on.
    """
    reasons = {} if discover else dict.fromkeys(_PLUGINS, "--no-extensions")
    problems = []
    entries = [*_entries(settings)]
    for origin, sign, pattern in entries:
        matching = [name for name in _PLUGINS if (fnmatchcase(name, pattern) if sign == "!" else name == pattern)]
        if not matching:
            problems.append(f"extensions in {origin}: {UnknownName('built-in extension', pattern, _PLUGINS)}")
        if sign in ("-", "!"):
            reasons |= dict.fromkeys(matching, f"{sign}{BUILTIN}{pattern} of extensions in {origin}")
    on = {each.removeprefix(BUILTIN) for each in given}
    off = {name: why for name, why in reasons.items() if name not in on}
    for origin, sign, name in entries if discover else ():
        if sign == "+" and name in off and origin not in off[name]:
            problems.append(f"extensions in {origin}: +{BUILTIN}{name} is ignored, because of {off[name]}")
    return SwitchedOff(off, tuple(problems))


def check_builtins(given: Iterable[str], host: PluginHost) -> None:
    """Raise an error for a built-in extension after ``-e`` that cannot be had.

    Raises:
        UserError: Its name is unknown, its plugin is not installed, or the user has disabled the plugin.
    """
    for text in given:
        if not is_builtin(text):
            continue
        name = text.removeprefix(BUILTIN)
        plugin = _PLUGINS.get(name)
        if plugin is None:
            raise UnknownName("built-in extension", name, _PLUGINS, f"There are {', '.join(_PLUGINS)}")
        if plugin in host.disabled:
            raise UserError(f"{text} cannot be used: the plugin {plugin!r} is disabled (plugins.disabled or --disable)")
        if plugin not in host.records and name not in _MODELS:
            from pi_core.host.advice import install_command

            raise UserError(f"{text} is not installed: {install_command(plugin)} adds it")


def _entries(settings: Settings) -> Iterator[tuple[str, str, str]]:
    """Yield origin, sign and name of each entry about built-in extensions."""
    for origin, entries in settings.each("extensions"):
        for each in entries if isinstance(entries, list | tuple) else ():
            if isinstance(each, str) and is_builtin(each):
                sign = each[:1] if each[:1] in ("+", "-", "!") else "+"
                yield origin, sign, each.lstrip("+-! ").strip().removeprefix(BUILTIN)
