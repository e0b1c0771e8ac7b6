"""Commands about the model: which one answers, and how hard it thinks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_tui.commands.table import Command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_tui.screen.talk import Talk

__all__ = ["COMMANDS"]


async def _model(talk: Talk, argument: str) -> None:
    port = talk.port
    if argument:
        name = await port.set_model(argument)
    else:
        references = port.models()
        if not references:
            talk.notice("No model can be used: sign in to a provider, or set its key.", "warning")
            return
        chosen = await talk.ui.select("Which model?", references)
        if chosen is None:
            return
        name = await port.set_model(chosen)
    talk.notice(f"Model: {name}")


async def _thinking(talk: Talk, argument: str) -> None:
    levels = talk.port.thinking_levels()
    level = argument or await talk.ui.select("How hard is the model to think?", levels)
    if level is None:
        return
    if level not in levels:
        talk.notice(f"{level!r} is no thinking level of this model. It has {', '.join(levels)}.", "warning")
        return
    await talk.port.set_thinking_level(level)
    talk.notice(f"Thinking level: {level}")


def _models(talk: Talk) -> Sequence[str]:
    return talk.port.models()


def _levels(talk: Talk) -> Sequence[str]:
    return talk.port.thinking_levels()


COMMANDS = {
    "model": Command("Choose the model: /model NAME", _model, _models),
    "thinking": Command("Choose how hard the model thinks: /thinking LEVEL", _thinking, _levels),
}
