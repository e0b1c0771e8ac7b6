"""The themes of plugins and those of files are one list."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pi_hookspecs import REQUIRED_THEME_ROLES, Theme, hookimpl


class Brings:
    """A plugin with these themes."""

    def __init__(self, *themes):
        self._themes = themes

    @hookimpl
    def register_themes(self):
        return self._themes


def colors(color="#112233"):
    return dict.fromkeys(REQUIRED_THEME_ROLES, color)


@pytest.fixture
def stored(tmp_path):
    """Write a theme file, and return its path."""

    def write(name, **data):
        file = tmp_path / f"{name}.json"
        file.write_text(json.dumps({"name": name, "colors": colors(), **data}))
        return str(file)

    return write


async def test_files_and_plugins_are_one_list_in_which_files_win(session_of, stored):
    plugin = Brings(Theme("sea", colors=colors("deep"), vars={"deep": "#004488"}), Theme("night", colors=colors(0)))
    session = session_of(plugin)
    session.runtime.resources.extend("theme", [stored("night", appearance="dark"), stored("day")], "tests")

    themes = {each.name: each for each in await session.themes.all()}

    assert [*themes] == ["day", "night", "sea"]
    assert themes["sea"].colors["accent"] == "#004488"
    assert (themes["night"].colors["accent"], themes["night"].appearance) == ("#112233", "dark")


async def test_a_theme_that_cannot_be_used_is_left_out_and_reported_once(session_of, recorder):
    broken = Theme("broken", colors={**colors("a"), "text": ""}, vars={"a": "b", "b": "a"})
    session = session_of(Brings(broken, Theme("few", colors={"accent": 1}), Theme("good", colors=colors())))

    for _ in range(2):
        assert [each.name for each in await session.themes.all()] == ["good"]

    messages = [event.error for event in recorder.of("extension_error")]
    assert len(messages) == 2
    assert "Theme 'broken' cannot be used: " in messages[0]
    assert " and 49 more: the variables a -> b -> a form a cycle" in messages[0]
    assert "Theme 'few' cannot be used: it has no colour for bashMode, border" in messages[1]
    assert {event.extension_path for event in recorder.of("extension_error")} == {"plugin-0"}


async def test_a_role_that_seems_to_be_misspelt_is_reported_and_its_theme_used(session_of, recorder):
    extra = Theme("extra", colors={**colors(), "acccent": 1, "searchMatchbg": 2, "ofALaterVersion": 3})
    session = session_of(Brings(extra))

    for _ in range(2):
        assert [each.name for each in await session.themes.all()] == ["extra"]

    [event] = recorder.of("extension_error")
    assert (
        "Theme 'extra' has a colour that nothing uses: acccent: there is no such role, did you mean accent"
        in event.error
    )
    assert "searchMatchbg: there is no such role, did you mean searchMatchBg" in event.error
    assert "ofALaterVersion" not in event.error


async def test_what_is_wrong_in_a_file_is_reported_with_its_file_and_line(session_of, stored, recorder):
    file = stored("mine", colors={**colors(), "error": "see"}, export={"error": "#fff", "pageBg": 300})
    text = json.dumps(json.loads(Path(file).read_text()), indent=1)
    Path(file).write_text(text)
    session = session_of()
    session.runtime.resources.extend("theme", [file], "tests")

    assert await session.themes.all() == ()

    lines = text.splitlines()
    error = 1 + next(number for number, line in enumerate(lines) if '"see"' in line)
    page = 1 + next(number for number, line in enumerate(lines) if "300" in line)
    [event] = recorder.of("extension_error")
    assert event.error.startswith(f"Theme 'mine' ({file!r}) cannot be used: line {error}, error: 'see' is neither")
    assert f"; line {page}, pageBg: 300 is not a colour" in event.error


async def test_a_theme_that_is_broken_again_is_reported_again(session_of, stored, recorder):
    session = session_of()
    session.runtime.resources.extend("theme", [stored("mine", appearance="dim")], "tests")

    for appearance in ("dim", "dark", "dim"):
        stored("mine", appearance=appearance)
        await session.themes.all()

    assert len(recorder.of("extension_error")) == 2
