"""Hooks that refuse because a plugin that guards them cannot be loaded.

A guard that crashes refuses, and so does a guard that is missing: if a plugin implemented ``tool_call`` when it was
last loaded, and cannot be imported now, the tool calls that it guards must not be allowed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import OnFailure, answers_of
from pi_hookspecs.specs import all_hookspecs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

__all__ = ["Gates", "guarded_hooks", "guarded_services", "hooks_named_in"]

_REFUSING_SERVICES = ("Launcher", "ToolOperations")
"""Services that decide about starting programs and about work on this machine; a missing one refuses both."""


def guarded_hooks(hooks: Iterable[str]) -> list[str]:
    """Return the given hooks whose failure counts as a refusal."""
    specs = all_hookspecs()
    found = ((hook, answers_of(specs[hook])) for hook in hooks if hook in specs)
    return [hook for hook, answers in found if answers is not None and answers.on_failure is OnFailure.REFUSE]


def hooks_named_in(files: Iterable[Path]) -> list[str]:
    """Return the hooks whose failure refuses and that source files name; all of them if a file cannot be read.

    For plugins that cannot be loaded and were never loaded before: their source is all that is known of them.
    """
    import re

    every = guarded_hooks(all_hookspecs())
    named: set[str] = set()
    for file in files:
        try:
            text = file.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return every
        named.update(re.findall(rf"\b(?:{'|'.join(every)})\b", text))
    return [hook for hook in every if hook in named]


def guarded_services(kinds: Iterable[str]) -> list[str]:
    """Return the given kinds of services whose failure refuses, as entries of ``PluginRecord.guards``."""
    return [f"register_services:{kind}" for kind in kinds if kind in _REFUSING_SERVICES]


class Gates:
    """Records which hooks refuse for which plugins, and why.

    Args:
        report: Called with plugin, hook and message for each hook that refuses.

    Attributes:
        refusing: For each hook, the plugins that refuse in it, each with the reason. Dispatchers read it when they
            compile.
    """

    def __init__(self, report: Callable[[str, str, str], None]) -> None:
        self._report = report
        self.refusing: dict[str, dict[str, str]] = {}

    def refuse(self, plugin: str, hooks: Iterable[str], why: str) -> None:
        """Make the given hooks refuse for a plugin if their failures refuse; other hooks are ignored."""
        for hook in guarded_hooks(hooks):
            self.refusing.setdefault(hook, {})[plugin] = why
            message = f"refuses, because the plugin cannot run. Fix it, or disable it with --disable {plugin}"
            self._report(plugin, hook, message)

    def clear(self, plugin: str) -> None:
        """Remove the refusals of a plugin that was removed or replaced."""
        for plugins in self.refusing.values():
            plugins.pop(plugin, None)
