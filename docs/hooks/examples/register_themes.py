"""A theme: colours by role, and names for those that several roles share."""

from pi_hookspecs import Theme, hookimpl


@hookimpl
def register_themes():
    return [Theme(name="dusk", vars={"amber": "#ffb000"}, colors={"accent": "amber", "error": "#ff5f5f"})]


# Shown by


async def shown(pi_host):
    theme = pi_host.find("register_themes", "dusk").thing

    assert theme.vars[theme.colors["accent"]] == "#ffb000"
