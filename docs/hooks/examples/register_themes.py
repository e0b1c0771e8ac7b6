"""A theme: a colour for each role, with variables for colours that several roles share."""

from pi_hookspecs import REQUIRED_THEME_ROLES, Theme, hookimpl

COLORS = dict.fromkeys(REQUIRED_THEME_ROLES, "")  # the terminal's own


@hookimpl
def register_themes():
    dusk = {**COLORS, "accent": "amber", "mdHeading": "amber", "error": "#ff5f5f", "muted": 244}
    return [Theme(name="dusk", vars={"amber": "#ffb000"}, colors=dusk, appearance="dark")]


# Test


async def test_example(pi_session):
    (theme,) = await pi_session.themes.all()

    assert theme.colors["mdHeading"] == "#ffb000"
    assert theme.colors["thinkingMax"] == ""
