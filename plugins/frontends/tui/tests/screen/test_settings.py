"""Settings and the theme in place of the editor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pi_core import PluginHost, Settings
from pi_tui.selectors.settings import SettingSelector
from pi_tui.session.setting_rows import _LABELS, _MENU, read_settings

if TYPE_CHECKING:
    from pi_core import AgentSession


@pytest.fixture
def pi_session(pi_session: AgentSession) -> AgentSession:
    """Return the session; the settings of pi's plugins are known in it."""
    PluginHost(Settings.in_memory()).declare_settings(pi_session.settings)
    return pi_session


async def test_a_setting_is_found_and_changed(desk, pi_session: AgentSession) -> None:
    async with desk((100, 40)) as user:
        await user.type("/settings", "enter")
        await user.sees("Enter or Space to change")
        await user.press(*"sizes", *("backspace",) * 5, *"blockImages")
        await user.sees("Keep images from the model", "off", "The default")
        await user.press("enter")
        await user.sees("Keep images from the model  on")
        await user.press("escape")

    assert pi_session.settings.get_bool("images.blockImages", default=False) is True


async def test_an_emptied_value_is_the_default_again(desk, pi_session: AgentSession) -> None:
    pi_session.settings.set("localServersTimeoutMs", 7)

    async with desk((100, 40)) as user:
        await user.type("/settings", "enter")
        await user.press(*"localServersTimeoutMs")
        await user.sees("→ localServersTimeoutMs", "7")
        await user.press("enter", "ctrl+u", "enter")
        await user.when(lambda: "The default" in user.text and "  7" not in user.text)
        await user.press("escape")

    assert pi_session.settings.get("localServersTimeoutMs") is None


async def test_a_theme_is_previewed_and_left_again(
    desk, pi_session: AgentSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLORFGBG", raising=False)

    async with desk((100, 40)) as user:
        await user.type("/theme", "enter")
        await user.sees("→ dark ✓")
        await user.press("down")
        await user.when(lambda: user.app.painter.palette.name == "light")
        await user.press("escape")
        await user.when(lambda: user.app.painter.palette.name == "dark")

    assert pi_session.settings.get("theme") is None


async def test_a_theme_is_chosen_from_the_settings_which_come_back(desk, pi_session: AgentSession) -> None:
    async with desk((100, 40)) as user:
        await user.type("/settings", "enter")
        await user.type("name of the theme")
        await user.sees("→ Look  Theme")
        await user.press("enter")
        await user.sees("→ dark ✓")
        await user.press("down", "enter")
        await user.sees("→ Look    Theme", "light", "Enter or Space to change")
        await user.press("escape")

        assert user.app.painter.palette.name == "light"
    assert pi_session.settings.get("theme") == "light"


@pytest.mark.parametrize("name", ["light", "light/dark"])
async def test_a_theme_is_named(desk, pi_session: AgentSession, name: str) -> None:
    async with desk() as user:
        await user.type(f"/theme {name}", "enter")
        await user.sees(f"Theme: {name}")

    assert pi_session.settings.get("theme") == name


async def test_a_theme_that_there_is_not_is_explained(desk) -> None:
    async with desk() as user:
        await user.type("/theme pink", "enter")

        await user.sees("There is no usable theme 'pink'. Use one of dark, light, system.")


async def test_the_menu_has_what_people_change_in_words_and_leads_to_all_settings(desk) -> None:
    async with desk((100, 64)) as user:
        await user.type("/settings", "enter")
        menu = await user.sees("→ Model", "Model of new sessions", "Look    Theme", "Compact long conversations")
        assert "packages.installer" not in menu
        assert "localServersTimeoutMs" not in menu

        await user.press("up")
        await user.sees("→         All settings ...")
        await user.press("enter")
        await user.sees("acp.terminal", "bash.keepBackground")
        await user.press("escape")
        await user.sees("→         All settings ...", "Compact long conversations")
        await user.press("escape")
        await user.when(lambda: "All settings" not in user.text)


async def test_a_search_of_the_menu_finds_all_settings_by_words_and_names(desk) -> None:
    async with desk((100, 40)) as user:
        await user.type("/settings", "enter")
        await user.type("localServers")
        await user.sees("localServersTimeoutMs")
        await user.press("ctrl+u")
        await user.type("dangerous commands")
        await user.sees("Ask before dangerous commands  off", "guardrails.enabled · The default")


async def test_the_model_of_new_sessions_is_chosen_from_the_models(desk, pi_session: AgentSession) -> None:
    assert pi_session.model is not None
    async with desk((100, 40)) as user:
        await user.type("/settings", "enter")
        await user.sees("→ Model")
        await user.press("enter")
        await user.sees("Enter to select")
        await user.press("enter")
        await user.sees("now the default of new sessions")
        await user.press("escape")

    assert pi_session.settings.get("defaultModel") == pi_session.model.id


async def test_the_effort_of_a_model_is_chosen_from_the_models_and_the_levels(desk, pi_session: AgentSession) -> None:
    assert pi_session.model is not None
    reference = pi_session.model.reference
    async with desk((100, 60)) as user:
        await user.type("/settings", "enter")
        await user.sees("→ Model")
        await user.press(*"Reasoning effort by", "enter")
        await user.sees("Enter to select")
        await user.press("enter")
        await user.sees(f"Reasoning effort of new sessions with {reference}", "not set: as for other models")
        await user.press(*"high", "enter")
        await user.sees(f"Thinking level of {reference} in new sessions: high")
        await user.sees("Reasoning effort by model", "1 set")
        await user.press("escape")

    assert pi_session.settings.get("modelThinkingLevels") == {reference: "high"}


def test_the_settings_of_the_menu_exist() -> None:
    named = [name for names in _MENU.values() for name in names]
    assert {*named} <= {each.name for each in PluginHost(Settings.in_memory()).known_settings}
    assert len(named) < 40


@pytest.mark.parametrize(("name", "label"), _LABELS.items())
def test_a_setting_is_found_by_its_label_in_the_original(pi_session: AgentSession, name: str, label: str) -> None:
    selector = SettingSelector(read_settings(pi_session.settings))
    selector.field.paste(label.lower())
    selector.searched()

    assert name in [row.name for row in selector.choices.found]
