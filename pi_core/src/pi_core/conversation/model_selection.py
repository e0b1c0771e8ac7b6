"""Sets the current model and reasoning effort, cycles through them, and stores them in the session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from attrs import frozen

import pi_hookspecs  # as in compaction.py
from pi_core.models.thinking import clamp_thinking_level, thinking_levels

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_core.conversation.runtime import Runtime
    from pi_hookspecs import Model, ThinkingLevel

__all__ = ["ModelCycle", "ModelSelection", "ScopedModel"]


@frozen
class ScopedModel:
    """A model to cycle through, and its thinking level; None keeps the current level."""

    model: Model
    thinking_level: ThinkingLevel | None = None


@frozen(kw_only=True)
class ModelCycle:
    """The result of cycling."""

    model: Model
    thinking_level: ThinkingLevel
    is_scoped: bool


class ModelSelection:
    """Selects the model and thinking level of a conversation.

    Args:
        runtime: The objects that all parts share.

    Attributes:
        scoped: The models to cycle through; if empty, all usable models.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.scoped: tuple[ScopedModel, ...] = ()

    def set_scope(self, models: Iterable[ScopedModel]) -> None:
        """Cycle only through these models; an empty sequence means all available models."""
        self.scoped = tuple(models)

    async def set_model(
        self, model: Model, source: Literal["set", "cycle", "restore"] = "set", *, persist: bool | None = None
    ) -> None:
        """Set the model; see ``AgentSession.set_model``."""
        runtime = self._runtime
        runtime.models.check(model)
        previous = runtime.agent.state.model
        runtime.agent.set_model(model)
        if source != "restore" and (previous is None or previous.reference != model.reference):
            runtime.manager.append_model_change(model.provider, model.id)
        if self._persists(persist):
            runtime.settings.set("defaultProvider", model.provider)
            runtime.settings.set("defaultModel", model.id)
        if runtime.hooks.listens("model_select"):
            event = pi_hookspecs.ModelSelectEvent(model=model, previous_model=previous, source=source)
            await runtime.hooks.notify(event, runtime.ctx)
        await self.set_level(runtime.agent.state.thinking_level, persist=False, note=source != "restore")

    async def set_level(self, level: ThinkingLevel, *, persist: bool | None = None, note: bool = True) -> None:
        """Set the reasoning effort; see ``AgentSession.set_thinking_level``."""
        runtime = self._runtime
        model, previous = runtime.agent.state.model, runtime.agent.state.thinking_level
        level = clamp_thinking_level(model, level) if model is not None else level
        if self._persists(persist):
            runtime.settings.set("defaultThinkingLevel", level)
        if level == previous:
            return
        runtime.agent.set_thinking_level(level)
        if note:
            runtime.manager.append_thinking_level_change(level)
        if runtime.hooks.listens("thinking_level_select"):
            event = pi_hookspecs.ThinkingLevelSelectEvent(level=level, previous_level=previous)
            await runtime.hooks.notify(event, runtime.ctx)
        await runtime.emit(pi_hookspecs.ThinkingLevelChangedEvent(level=level))

    async def cycle_model(self, direction: Literal["forward", "backward"] = "forward") -> ModelCycle | None:
        """Select the next scoped model, or the next available model; None if there is no other model."""
        runtime = self._runtime
        models = self.scoped or tuple(ScopedModel(model) for model in runtime.models.available())
        others = [each for each in models if runtime.models.is_configured(each.model.provider)]
        current = runtime.agent.state.model
        here = current.reference if current is not None else None
        place = next((number for number, each in enumerate(others) if each.model.reference == here), -1)
        if not others or (len(others) == 1 and place == 0):
            return None
        step = 1 if direction == "forward" else -1
        chosen = others[(place + step) % len(others) if place >= 0 else 0]
        await self.set_model(chosen.model, "cycle", persist=False)
        if chosen.thinking_level is not None:
            await self.set_level(chosen.thinking_level, persist=False)
        level = runtime.agent.state.thinking_level
        return ModelCycle(model=chosen.model, thinking_level=level, is_scoped=bool(self.scoped))

    async def cycle_level(self) -> ThinkingLevel | None:
        """Select the next thinking level of the model; None if it has no other level."""
        levels = self.levels()
        if len(levels) < 2:  # noqa: PLR2004 - one is not a choice
            return None
        here = self._runtime.agent.state.thinking_level
        level = levels[(levels.index(here) + 1) % len(levels) if here in levels else 0]
        await self.set_level(level, persist=False)
        return level

    def levels(self) -> tuple[ThinkingLevel, ...]:
        """Return the thinking levels of the model; see ``AgentSession.get_available_thinking_levels``."""
        return thinking_levels(self._runtime.required_model())

    def supports_thinking(self) -> bool:
        """Return whether the model supports reasoning."""
        model = self._runtime.agent.state.model
        return model is not None and model.reasoning

    def supports_xhigh(self) -> bool:
        """Return whether the model supports the level ``xhigh``."""
        return self._runtime.agent.state.model is not None and "xhigh" in self.levels()

    def _persists(self, persist: bool | None) -> bool:  # noqa: FBT001 - passed on as it came
        if persist is not None:
            return persist
        return self._runtime.settings.get_bool("persistModelChoice", default=False)
