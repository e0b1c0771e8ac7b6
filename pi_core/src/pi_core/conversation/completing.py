"""Completions that plugins offer while the user types: of a command's arguments, and of mentions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_core.agent.safe_text import safe_repr
from pi_core.hooks.drawing import DrawingGuard
from pi_hookspecs import Completion

if TYPE_CHECKING:
    from pi_core.conversation.runtime import Runtime
    from pi_core.hooks.drawing import DrawingSlot

__all__ = ["PluginCompletions"]

_SECONDS = 2.0
"""How long an ``async`` completion may take."""


class PluginCompletions:
    """Asks plugins what the typed text could become.

    Args:
        runtime: The objects that all parts share.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._guard = DrawingGuard(runtime.report_plugin_error)

    async def arguments(self, name: str, text: str) -> tuple[Completion, ...]:
        """Return the completions of the arguments of a plugin's command.

        What a plugin raises is reported; it then has none, as it has if it takes longer than 2 seconds.

        Args:
            name: The command, without the slash.
            text: The arguments typed so far.
        """
        called = self._call(name, text)
        if called is None:
            return ()
        plugin, slot, answer = called
        if hasattr(answer, "__await__"):
            answer = await slot.wait(answer, _SECONDS)
        return self._checked(answer, plugin, slot)

    def words(self, name: str, text: str) -> tuple[str, ...]:
        """Return the values of ``arguments`` to code that is not ``async``; empty for an ``async`` completion."""
        called = self._call(name, text)
        if called is None:
            return ()
        plugin, slot, answer = called
        if hasattr(answer, "__await__"):
            getattr(answer, "close", bool)()
            return ()
        return tuple(each.value for each in self._checked(answer, plugin, slot))

    async def mentions(self, text: str) -> tuple[Completion, ...]:
        """Return plugins' completions of a mention.

        Args:
            text: What is typed after the ``@``.
        """
        hooks = self._runtime.hooks
        if "complete_mention" not in hooks.implemented:
            return ()
        from pi_hookspecs import CompleteMentionEvent
        from pi_hookspecs.specs import interface

        answer = await hooks.call(interface.complete_mention, CompleteMentionEvent(text=text), self._runtime.ctx)
        return () if answer is None else tuple(answer.completions)

    def _call(self, name: str, text: str) -> tuple[str, DrawingSlot, Any] | None:
        """Call the completer of a command; return its plugin, its slot, and what it returned; None without one."""
        found = self._runtime.registrations.find("register_commands", name)
        if found is None or found.thing.complete is None:
            return None
        slot = self._guard.named(found.plugin, f"the completion of /{name}", found.thing)
        return found.plugin, slot, slot.call(found.thing.complete, text)[1]

    def _checked(self, answer: Any, plugin: str, slot: DrawingSlot) -> tuple[Completion, ...]:
        if answer is None:
            return ()
        if isinstance(answer, list | tuple) and all(isinstance(each, str | Completion) for each in answer):
            return tuple(Completion(each) if isinstance(each, str) else each for each in answer)
        problem = f"it answered {safe_repr(answer)}, which is no list of texts or Completion values"
        message = f"Plugin {plugin!r} failed in {slot.what}: {problem}"
        self._runtime.report_plugin_error(plugin, "drawing", message)
        return ()
