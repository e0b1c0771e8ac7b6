"""Themes of files and plugins on the screen: found, followed, previewed, and chosen by the terminal's background."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pi_hookspecs import REQUIRED_THEME_ROLES, Theme, UserError, hookimpl
from pi_tui.driver import TerminalReply

if TYPE_CHECKING:
    from pathlib import Path

    from pi_core import AgentSession

LIGHT_BACKGROUND = "\x1b]11;rgb:ffff/ffff/ffff\x1b\\"


@pytest.fixture
def stored(pi_session: AgentSession):
    """Write a theme file of the user, and return its path."""
    folder = pi_session.settings.agent_dir / "themes"
    folder.mkdir(parents=True, exist_ok=True)

    def write(name: str, accent: str, **colors: str) -> Path:
        file = folder / f"{name}.json"
        file.write_text(json.dumps({"name": name, "colors": {**plain(accent), **colors}}, indent=1))
        return file

    return write


def plain(accent: str) -> dict[str, str | int]:
    return {**dict.fromkeys(REQUIRED_THEME_ROLES, "#808080"), "accent": accent}


async def test_a_theme_file_is_listed_and_used(desk, pi_session: AgentSession, stored) -> None:
    stored("sea", "#00ff7f")

    async with desk() as user:
        await user.type("/theme sea", "enter")
        await user.sees("Theme: sea")

        assert user.app.themes.current.colors["accent"] == "#00ff7f"
        assert user.app.interface.theme.name == "sea"
        assert [each.name for each in user.app.interface.get_all_themes()] == ["dark", "light", "sea", "system"]
    assert pi_session.settings.get("theme") == "sea"


async def test_a_theme_follows_its_file_and_the_last_good_one_stays(desk, pi_session: AgentSession, stored) -> None:
    file = stored("sea", "#00ff7f")
    pi_session.settings.set("theme", "sea")

    async with desk((100, 30)) as user:
        await user.app.themes.load()
        assert user.app.themes.is_watched

        file.write_text(file.read_text().replace("#00ff7f", "blue"))
        await user.app.themes.follow()
        await user.sees("Theme 'sea'", "accent: 'blue' is neither a colour nor the name of a variable")
        broken = user.app.themes.current.colors["accent"]
        file.write_text(file.read_text().replace('"blue"', '"#0000ff"'))
        await user.app.themes.follow()

        assert (broken, user.app.themes.current.colors["accent"]) == ("#00ff7f", "#0000ff")


async def test_a_file_that_is_no_json_keeps_the_theme_and_is_named_with_its_line(
    desk, pi_session: AgentSession, stored
) -> None:
    file = stored("sea", "#00ff7f")
    pi_session.settings.set("theme", "sea")

    async with desk((200, 30)) as user:
        await user.app.themes.load()
        file.write_text('{"name": "sea",\n oops')
        await user.app.themes.follow()
        await user.sees(f"{file}:2: not valid JSON")

        assert user.app.themes.current.colors["accent"] == "#00ff7f"


async def test_a_file_in_another_folder_is_followed_too(desk, pi_session: AgentSession, tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"name": "mine", "colors": plain("#00ff7f")}))
    pi_session.resources.extend("theme", [str(file)], "tests")
    pi_session.settings.set("theme", "mine")

    async with desk() as user:
        await user.app.themes.load()
        file.write_text(file.read_text().replace("#00ff7f", "#00007f"))
        await user.app.themes.follow()

        assert user.app.themes.current.colors["accent"] == "#00007f"


@pytest.mark.parametrize("setting", ["sea", None])
async def test_a_session_that_begins_has_its_themes(
    desk, pi_session: AgentSession, stored, setting: str | None
) -> None:
    stored("sea", "#00ff7f")
    if setting is not None:
        pi_session.settings.set("theme", setting)

    async with desk() as user:
        await pi_session.reload()
        await user.when(lambda: user.app.interface.get_theme("sea") is not None)

        assert user.app.themes.current.name == (setting or "dark")


async def test_files_are_looked_at_only_while_the_theme_comes_from_one(desk, stored) -> None:
    stored("sea", "#00ff7f")

    async with desk() as user:
        watched = []
        for name in ("dark", "sea", "light"):
            await user.app.themes.load()
            user.app.themes.use(name)
            watched.append(user.app.themes._watch is not None)

    assert watched == [False, True, False]


async def test_an_unknown_theme_of_the_settings_is_reported_at_the_start(desk, pi_session: AgentSession) -> None:
    pi_session.settings.set("theme", "pink")

    async with desk((100, 24)) as user:
        user.app.load_themes()

        await user.sees("There is no usable theme 'pink'. Use one of dark, light, system.")
        assert user.app.painter.palette.name == "dark"


@pytest.mark.parametrize(("setting", "shown"), [(None, "light"), ("light/system", "light"), ("dark", "dark")])
async def test_the_background_of_the_terminal_decides_where_the_setting_does_not(
    desk, pi_session: AgentSession, setting: str | None, shown: str
) -> None:
    if setting is not None:
        pi_session.settings.set("theme", setting)

    async with desk() as user:
        user.app.post_message(TerminalReply(LIGHT_BACKGROUND))
        await user.pilot.pause()

        assert user.app.painter.palette.name == shown


class Themed:
    """A plugin with a theme, which a command displays."""

    @hookimpl
    def register_themes(self) -> list[Theme]:
        return [Theme("brand", colors=plain("deep"), vars={"deep": "#123456"})]


@pytest.mark.pi(plugins=[Themed()])
async def test_a_plugin_displays_its_theme_until_the_user_chooses_one(desk, pi_session: AgentSession) -> None:
    async with desk() as user:
        await user.app.themes.load()
        ui = user.app.interface
        ui.set_theme("brand")
        of_plugin = user.app.themes.current.colors["accent"]
        await user.type("/theme light", "enter")
        await user.sees("Theme: light")

        assert (of_plugin, user.app.painter.palette.name) == ("#123456", "light")


async def test_a_theme_as_a_value_is_resolved_or_refused(desk) -> None:
    async with desk() as user:
        user.app.interface.set_theme(Theme("own", colors=plain("#abc")))

        assert user.app.themes.current.colors["accent"] == "#aabbcc"
        with pytest.raises(UserError, match="Theme 'few' cannot be used: it has no colour for"):
            user.app.interface.set_theme(Theme("few", colors={"accent": 1}))
        with pytest.raises(UserError, match="There is no usable theme 'pink'"):
            user.app.interface.set_theme("pink")


async def test_without_colours_there_is_no_theme_for_plugins(desk) -> None:
    async with desk(environ={"TERM": "xterm", "NO_COLOR": "1"}) as user:
        assert user.app.interface.theme is None
        assert user.app.painter.palette.depth == "none"
