"""Commands that change how pi works and looks: its settings and the theme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import PiError
from pi_tui.commands.chosen import choose, choose_while
from pi_tui.commands.model import choose_default_model, choose_level_of_model
from pi_tui.commands.table import Command
from pi_tui.selectors.picks import Option, Pick
from pi_tui.selectors.settings import ALL_SETTINGS, SettingChanged, SettingOpened, SettingSelector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_tui.screen.talk import Talk

__all__ = ["COMMANDS"]

_BY_MODEL = "modelThinkingLevels"


async def _settings(talk: Talk, _argument: str) -> None:
    lists = talk.lists
    selected: str | None = None
    everything = False
    while True:
        selector = SettingSelector(lists.settings(), selected, everything=everything)

        async def carry_out(outcome: SettingChanged, selector: SettingSelector = selector) -> None:
            try:
                lists.set_setting(outcome.name, outcome.value)
            except PiError as error:
                selector.problem = str(error)
            selector.take(lists.settings())

        outcome = await choose_while(talk, selector, carry_out, closed_by=SettingOpened)
        if outcome is None and not everything:
            return
        selected = ALL_SETTINGS if outcome is None else outcome.name
        if outcome is None or selected == ALL_SETTINGS:
            everything = outcome is not None
        elif selected == "theme":
            await _choose_theme(talk)
        elif selected == _BY_MODEL:
            await choose_level_of_model(talk)
        else:
            await choose_default_model(talk)


async def _theme(talk: Talk, argument: str) -> None:
    themes = talk.screen.themes
    await themes.load()  # finds new theme files
    unknown = [name for name in map(str.strip, argument.split("/")) if name and themes.get(name) is None]
    if not argument:
        await _choose_theme(talk)
    elif unknown:
        talk.notice(themes.no_theme(unknown[0]), "warning")
    else:
        _use_theme(talk, argument)


async def _choose_theme(talk: Talk) -> None:
    """Let the user choose a theme; the selected one is previewed."""
    themes = talk.screen.themes
    options = [Option(each.name, each.name, is_current=each.name == themes.current.name) for each in themes.all]
    try:
        outcome = await choose(talk, Pick("Theme", options, preview=lambda option: themes.preview(option.value)))
    finally:
        themes.preview(None)
    if outcome is not None:
        _use_theme(talk, outcome.value.value)


def _use_theme(talk: Talk, name: str) -> None:
    talk.lists.set_setting("theme", name)
    talk.screen.themes.use(name)
    talk.notice(f"Theme: {name}")


def _themes(talk: Talk) -> Sequence[str]:
    return [each.name for each in talk.screen.themes.all]


COMMANDS = {
    "settings": Command("Change settings", _settings),
    "theme": Command("Choose the theme: /theme NAME", _theme, _themes),
}
