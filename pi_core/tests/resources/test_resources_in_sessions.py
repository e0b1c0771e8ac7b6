"""Resources in a session: plugins add paths, ``ctx.resources`` finds them, problems are reported."""

from __future__ import annotations

import pytest

from pi_core import PluginHost, Settings, create_agent_session
from pi_core.conversation.resources import reload_resources
from pi_hookspecs import ResourcesDiscoverResult, hookimpl
from pi_testing import text


class Brings:
    """Names paths, and looks for themes when the session has begun."""

    def __init__(self, *paths):
        self.paths = paths
        self.reasons = []

    @hookimpl
    async def resources_discover(self, event, ctx):
        self.reasons.append(event.reason)
        return ResourcesDiscoverResult(theme_paths=[str(path) for path in self.paths])

    @hookimpl
    async def turn_end(self, event, ctx):
        self.found = await ctx.resources.load("theme")


@pytest.fixture
async def create(tmp_path, pi_agent_dir, script):
    made = []

    def make(plugin):
        settings = Settings.in_memory({}, agent_dir=pi_agent_dir)
        session = create_agent_session(
            cwd=tmp_path,
            host=PluginHost(settings, installed=False),
            plugins={"script": script, "brings": plugin},
            settings=settings,
            model=script.model,
            environ={"HOME": str(tmp_path)},
        )
        made.append(session)
        return session

    yield make
    for session in made:
        await session.dispose()


async def test_plugins_add_paths_and_read_the_resources(create, script, tmp_path):
    (tmp_path / "sea.json").write_text('{"colors": {}}')
    plugin = Brings(tmp_path / "sea.json")
    script.turn(text("a"))

    await create(plugin).prompt("hi")

    assert [(each.name, each.source) for each in plugin.found.resources] == [("sea", "plugin:brings")]
    assert plugin.reasons == ["startup"]


async def test_unusable_files_are_reported_to_subscribers(create, script, recorder, tmp_path):
    plugin = Brings(tmp_path / "gone.json")
    script.turn(text("a"))
    session = create(plugin)
    session.subscribe(recorder)

    await session.prompt("hi")

    [reported] = [event for event in recorder.events if event.type == "extension_error"]
    assert reported.error == f"{tmp_path}/gone.json: does not exist, though plugin brings names it"


async def test_a_reload_calls_the_hooks_again(create):
    plugin = Brings()
    session = create(plugin)
    await session.start()

    await reload_resources(session)

    assert plugin.reasons == ["startup", "reload"]
