"""Which model answers and how hard it thinks: set, cycled through, and noted in the session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from attrs import frozen

import pi_hookspecs  # as in compaction.py
from pi_core.models.thinking import clamp_thinking_level, thinking_levels

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_core.conversation.session import AgentSession
    from pi_hookspecs import Model, ThinkingLevel

__all__ = ["Choices", "ModelCycle", "ScopedModel"]


@frozen
class ScopedModel:
    """A model to cycle through, and the thinking level that it is to have; None keeps the present one."""

    model: Model
    thinking_level: ThinkingLevel | None = None


@frozen(kw_only=True)
class ModelCycle:
    """What cycling came to."""

    model: Model
    thinking_level: ThinkingLevel
    is_scoped: bool


class Choices:
    """Chooses for a session.

    Args:
        session: Which one.
    """

    def __init__(self, session: AgentSession) -> None:
        self._session = session
        self.scoped: tuple[ScopedModel, ...] = ()

    def scope(self, models: Iterable[ScopedModel]) -> None:
        """Cycle through these models only; none means all that can be used."""
        self.scoped = tuple(models)

    async def set_model(self, model: Model, source: Literal["set", "cycle", "restore"], *, persist: bool) -> None:
        """Let another model answer; see ``AgentSession.set_model``."""
        session = self._session
        session.models.check(model)
        previous = session.model
        session.agent.set_model(model)
        if source != "restore" and (previous is None or previous.reference != model.reference):
            session.session_manager.append_model_change(model.provider, model.id)
        if persist:
            session.settings.set("defaultProvider", model.provider)
            session.settings.set("defaultModel", model.id)
        if session.hooks.listens("model_select"):
            event = pi_hookspecs.ModelSelectEvent(model=model, previous_model=previous, source=source)
            await session.hooks.notify(event, session.ctx)
        await self.set_level(session.thinking_level, persist=False, note=source != "restore")

    async def set_level(self, level: ThinkingLevel, *, persist: bool, note: bool = True) -> None:
        """Let the model think more or less; see ``AgentSession.set_thinking_level``.

        Args:
            level: How hard.
            persist: Whether it goes into the settings.
            note: Whether it goes into the session: not where it comes from there.
        """
        session = self._session
        model, previous = session.model, session.thinking_level
        level = clamp_thinking_level(model, level) if model is not None else level
        if persist:
            session.settings.set("defaultThinkingLevel", level)
        if level == previous:
            return
        session.agent.set_thinking_level(level)
        if note:
            session.session_manager.append_thinking_level_change(level)
        if session.hooks.listens("thinking_level_select"):
            event = pi_hookspecs.ThinkingLevelSelectEvent(level=level, previous_level=previous)
            await session.hooks.notify(event, session.ctx)
        await session.tell(pi_hookspecs.ThinkingLevelChangedEvent(level=level))

    async def cycle_model(self, direction: Literal["forward", "backward"]) -> ModelCycle | None:
        """Go to the next model, of those scoped or of all that can be used; None where there is no other."""
        session = self._session
        models = self.scoped or tuple(ScopedModel(model) for model in session.models.available())
        others = [each for each in models if session.models.is_configured(each.model.provider)]
        here = session.model.reference if session.model is not None else None
        place = next((number for number, each in enumerate(others) if each.model.reference == here), -1)
        if not others or (len(others) == 1 and place == 0):
            return None
        step = 1 if direction == "forward" else -1
        chosen = others[(place + step) % len(others) if place >= 0 else 0]
        await self.set_model(chosen.model, "cycle", persist=False)
        if chosen.thinking_level is not None:
            await self.set_level(chosen.thinking_level, persist=False)
        return ModelCycle(model=chosen.model, thinking_level=session.thinking_level, is_scoped=bool(self.scoped))

    async def cycle_level(self) -> ThinkingLevel | None:
        """Go to the next thinking level that the model has; None where it has no other."""
        levels = self.levels()
        if len(levels) < 2:  # noqa: PLR2004 - one is no choice
            return None
        here = self._session.thinking_level
        level = levels[(levels.index(here) + 1) % len(levels) if here in levels else 0]
        await self.set_level(level, persist=False)
        return level

    def levels(self) -> tuple[ThinkingLevel, ...]:
        """Return the thinking levels that the model has."""
        return thinking_levels(self._session.required_model())
