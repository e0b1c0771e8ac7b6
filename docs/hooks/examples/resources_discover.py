"""Adds themes from a folder that a team shares."""

from pi_hookspecs import ResourcesDiscoverResult, hookimpl


@hookimpl
def resources_discover(event, ctx):
    return ResourcesDiscoverResult(theme_paths=[str(ctx.cwd / "team" / "themes")])


# Test


async def test_example(pi_session, tmp_path):
    (tmp_path / "team" / "themes").mkdir(parents=True)
    (tmp_path / "team" / "themes" / "dusk.json").write_text('{"colors": {"accent": "#ffb000"}}')

    themes = await pi_session.resources.load("theme")

    assert themes.get("dusk").data["colors"] == {"accent": "#ffb000"}
