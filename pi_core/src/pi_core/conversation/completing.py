"""Completions by plugins while the user types: of a command's arguments and of mentions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_core.agent.safe_text import safe_repr
from pi_core.hooks.drawing import DrawingGuard
from pi_hookspecs import Completion

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from pi_core.conversation.runtime import Runtime
    from pi_core.hooks.drawing import DrawingSlot

__all__ = ["PluginCompletions"]

_SECONDS = 2.0
"""How long an ``async`` completion may take."""


class PluginCompletions:
    """Asks plugins for completions of the typed text.

    Args:
        runtime: The objects that all parts share.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._guard = DrawingGuard(runtime.report_plugin_error)

    async def arguments(self, name: str, text: str) -> tuple[Completion, ...]:
        """Return completions of the arguments of a plugin's command, or of a command from ``commands_discover``.

        Exceptions of a plugin are reported. If a plugin raises or takes longer than 2 seconds, it has no completions.

        Args:
            name: The command, without the slash.
            text: The arguments typed so far.
        """
        slot, answer = self._call(name, text)
        if slot is None:
            slot, answer = await self._call_discovered(name, text)
        if slot is not None and hasattr(answer, "__await__"):
            answer = await slot.wait(_awaited(answer, text), _SECONDS)
        return answer or ()

    def words(self, name: str, text: str) -> tuple[str, ...]:
        """Return the values of ``arguments`` to code that is not ``async``; empty for an ``async`` completion."""
        answer = self._call(name, text)[1]
        if hasattr(answer, "__await__"):
            getattr(answer, "close", bool)()
            return ()
        return tuple(each.value for each in answer or ())

    async def mentions(self, text: str) -> tuple[Completion, ...]:
        """Return plugins' completions of a mention.

        Args:
            text: The text typed after the ``@``.
        """
        hooks = self._runtime.hooks
        if "complete_mention" not in hooks.implemented:
            return ()
        from pi_hookspecs import CompleteMentionEvent
        from pi_hookspecs.specs import interface

        answer = await hooks.call(interface.complete_mention, CompleteMentionEvent(text=text), self._runtime.ctx)
        return () if answer is None else tuple([_whole(each, text) for each in answer.completions])

    def _call(self, name: str, text: str) -> tuple[DrawingSlot | None, Any]:
        """Call a command's completer. Return its slot and its completions or an awaitable; None without a completer."""
        found = self._runtime.registrations.find("register_commands", name)
        if found is None or found.thing.complete is None:
            return None, None
        complete = found.thing.complete
        slot = self._guard.named(found.plugin, f"the completion of /{name}", found.thing)
        return slot, slot.run(lambda: _checked(complete(text), text), complete)[1]

    async def _call_discovered(self, name: str, text: str) -> tuple[DrawingSlot | None, Any]:
        """Like ``_call``, for a command that no plugin registered but a plugin lists."""
        from pi_core.conversation.commands import PluginCommands

        found = next((each for each in await PluginCommands(self._runtime).infos() if each.name == name), None)
        if found is None or found.complete is None:
            return None, None
        complete = found.complete
        slot = self._guard.named("commands_discover", f"the completion of /{name}", self)
        return slot, slot.run(lambda: _checked(complete(text), text), complete)[1]


async def _awaited(answer: Awaitable[Any], typed: str) -> tuple[Completion, ...]:
    checked: tuple[Completion, ...] = _checked(await answer, typed)
    return checked


def _checked(answer: Any, typed: str) -> Any:
    """Return a completer's result as completions of all that is typed; an awaitable is returned unchanged.

    Raises:
        TypeError: The result is neither.
    """
    if hasattr(answer, "__await__"):
        return answer
    if answer is None:
        return ()
    if isinstance(answer, list | tuple) and all(isinstance(each, str | Completion) for each in answer):
        return tuple([Completion(each) if isinstance(each, str) else _whole(each, typed) for each in answer])
    message = f"it returned {safe_repr(answer)}, which is not a list of strings or Completion values"
    raise TypeError(message)


def _whole(offer: Completion, typed: str) -> Completion:
    """Return a completion that replaces a part of what is typed as one of all of it, which front ends insert."""
    if offer.replaces is None:
        return offer
    start, end = offer.replaces
    label = offer.label if offer.label is not None else offer.value
    return evolve(offer, value=f"{typed[:start]}{offer.value}{typed[end:]}", label=label, replaces=None)
