"""Gates that stay shut: hooks whose failure refuses, of plugins that cannot be asked.

A guard that crashes refuses, and so does one that is not there any more: a plugin that decided about tool calls when it
could last be loaded, and cannot be imported now, must not open its gate by being absent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import OnFailure, answers_of
from pi_hookspecs.specs import all_hookspecs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["Gates", "guarded_hooks"]


def guarded_hooks(hooks: Iterable[str]) -> list[str]:
    """Return those of these hooks whose failure counts as a refusal."""
    specs = all_hookspecs()
    found = ((hook, answers_of(specs[hook])) for hook in hooks if hook in specs)
    return [hook for hook, answers in found if answers is not None and answers.on_failure is OnFailure.REFUSE]


class Gates:
    """Which hooks refuse for which plugins, and why.

    Args:
        report: Called with plugin, hook and message when a gate is shut.

    Attributes:
        refusing: For each hook the plugins that refuse in it, each with the reason. Dispatchers read it when
            they compile.
    """

    def __init__(self, report: Callable[[str, str, str], None]) -> None:
        self._report = report
        self.refusing: dict[str, dict[str, str]] = {}

    def shut(self, plugin: str, hooks: Iterable[str], why: str) -> None:
        """Let a plugin refuse in those of these hooks whose failure refuses; the others are left as they are."""
        for hook in guarded_hooks(hooks):
            self.refusing.setdefault(hook, {})[plugin] = why
            message = f"refuses, since the plugin cannot be asked. Mend it, or leave it out with --disable {plugin}"
            self._report(plugin, hook, message)

    def open(self, plugin: str) -> None:
        """Forget a plugin, which was taken away or replaced."""
        for plugins in self.refusing.values():
            plugins.pop(plugin, None)
