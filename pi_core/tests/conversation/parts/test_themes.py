"""``Themes`` alone: which themes can be used, and what is said of the others."""

from __future__ import annotations

import pytest

from pi_core.conversation.themes import Themes
from pi_hookspecs import REQUIRED_THEME_ROLES, Theme

PLAIN = dict.fromkeys(REQUIRED_THEME_ROLES, "#112233")


@pytest.fixture
def themes_of(runtime_of, plugin):
    def make(*themes):
        return Themes(runtime_of(plugin(register_themes=lambda: [*themes])))

    return make


async def test_a_theme_of_a_plugin_has_every_role_resolved(themes_of):
    themes = themes_of(Theme("tide", colors={**PLAIN, "accent": "wave"}, vars={"wave": "#0088ff"}))
    found = {each.name: each for each in await themes.all()}

    assert found["tide"].colors["accent"] == "#0088ff"
    assert found["tide"].colors.keys() >= set(REQUIRED_THEME_ROLES)


async def test_a_theme_that_cannot_be_resolved_is_reported_once_and_left_out(themes_of, recorder):
    themes = themes_of(Theme("tide", colors={**PLAIN, "accent": "no colour"}))

    assert [each.name for each in await themes.all() + await themes.all() if each.name == "tide"] == []
    assert ["no colour" in each.error for each in recorder.of("extension_error")] == [True]
