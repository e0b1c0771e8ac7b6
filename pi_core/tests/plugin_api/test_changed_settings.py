"""``ctx.settings.set``: settings are validated, written and in force at once, and no guard is switched off silently."""

from __future__ import annotations

import json

import pytest

from pi_core import PluginHost, Settings, create_agent_session
from pi_hookspecs import ChangeableSettings, Command, PluginSetting, StaleObject, UnknownName, UserError, hookimpl

PER_DAY = PluginSetting("budgets.perDay", schema={"type": "number", "minimum": 0}, protected=True)
COLOUR = PluginSetting("lamp.colour", schema={"enum": ["red", "green"]})


class Declares:
    def __init__(self, *settings, command="go", key=None):
        self.settings, self.command, self.key = settings, command, key

    @hookimpl
    def register_settings(self):
        return self.settings

    @hookimpl
    def register_commands(self):
        async def handler(args, ctx):
            await ctx.settings.set(self.key, json.loads(args))

        return [Command(self.command, handler=handler)]


@pytest.fixture
def trust():
    """Whether the project of this test is trusted."""
    return True


@pytest.fixture
def plugins():
    return {"budgets": Declares(PER_DAY, command="own", key="budgets.perDay"), "lamp": Declares(COLOUR)}


@pytest.fixture
def place(tmp_path):
    """The two files."""

    class Place:
        user, project = tmp_path / "agent" / "settings.json", tmp_path / "here" / ".pi" / "settings.json"

        @staticmethod
        def read(file):
            return json.loads(file.read_text()) if file.exists() else None

    return Place


@pytest.fixture
async def started(script, recorder, plugins, trust, tmp_path):
    """Return a session with the plugins and these options."""
    made = []

    def start(*, overrides=None, **options):
        here = tmp_path / "here"
        here.mkdir(exist_ok=True)
        settings = Settings.load(here, tmp_path / "agent", trust=trust, environ={}, overrides=overrides)
        host = PluginHost(settings, installed=False)
        all_plugins = {"script": script, **plugins}
        session = create_agent_session(
            cwd=here, settings=settings, host=host, plugins=all_plugins, model=script.model, **options
        )
        session.subscribe(recorder)
        made.append(session)
        return session

    yield start
    for session in made:
        await session.dispose()


@pytest.fixture
def ctx(started):
    return started().ctx


async def test_a_setting_is_written_to_the_users_own_file_and_in_force_at_once(ctx, place):
    in_force = await ctx.settings.set("thinkingBudgets.low", 7)

    assert in_force is True
    assert ctx.settings.get_number("thinkingBudgets.low", 3) == 7
    assert place.read(place.user) == {"thinkingBudgets": {"low": 7}}
    assert isinstance(ctx.settings, ChangeableSettings)


async def test_a_plugin_reads_where_a_setting_is_set(ctx, place):
    await ctx.settings.set("theme", "dark")
    await ctx.settings.set("theme", "light", scope="project")

    assert ctx.settings.each("theme") == [(str(place.user), "dark"), (str(place.project), "light")]


async def test_what_others_wrote_is_kept(ctx, place):
    place.user.parent.mkdir(exist_ok=True)
    place.user.write_text('{"unknown": 1, "thinkingBudgets": {"high": 9}}')
    await ctx.settings.set(("thinkingBudgets", "low"), 7)

    assert place.read(place.user) == {"unknown": 1, "thinkingBudgets": {"high": 9, "low": 7}}


async def test_a_setting_is_written_for_a_trusted_project(ctx, place):
    await ctx.settings.set("theme", "dark", scope="project")

    assert (place.read(place.project), place.read(place.user)) == ({"theme": "dark"}, None)
    assert ctx.settings.get("theme") == "dark"


@pytest.mark.parametrize("trust", [False])
async def test_nothing_is_written_for_a_project_that_is_not_trusted(ctx, place):
    with pytest.raises(UserError, match="is not trusted"):
        await ctx.settings.set("theme", "dark", scope="project")

    assert place.read(place.project) is None


async def test_a_value_that_the_command_line_overrides_is_written_and_not_in_force(started, place):
    in_force = await started(overrides={"theme": "light"}).ctx.settings.set("theme", "dark")

    assert in_force is False
    assert place.read(place.user) == {"theme": "dark"}


@pytest.mark.parametrize(
    ("key", "nearest"), [("sessionStores", "sessionStore"), ("lamp.color", "lamp.colour"), ("them", "theme")]
)
async def test_an_unknown_setting_is_refused_with_the_nearest_names(ctx, place, key, nearest):
    with pytest.raises(UnknownName, match="Unknown setting") as raised:
        await ctx.settings.set(key, 1)

    assert nearest in raised.value.nearest
    assert place.read(place.user) is None


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("httpIdleTimeoutMs", "many", "must be a whole number"),
        ("lamp.colour", "blue", "'lamp.colour' must be red or green, not \"blue\""),
        ("theme", 3, "must be a string"),
        ("lamp", {"colour": "red"}, "Unknown setting"),
        ("", 3, "Unknown setting"),
        ("images.blockImages", "false", "must be true or false"),
    ],
)
async def test_a_value_of_a_wrong_type_is_refused(ctx, place, key, value, problem):
    with pytest.raises(UserError) as raised:
        await ctx.settings.set(key, value)

    assert problem in str(raised.value)
    assert place.read(place.user) is None


async def test_another_scope_is_refused(ctx):
    with pytest.raises(UserError, match="'user' or 'project', not 'global'"):
        await ctx.settings.set("theme", "dark", scope="global")


async def test_a_declared_setting_is_written(ctx, place):
    await ctx.settings.set("lamp.colour", "green")

    assert place.read(place.user) == {"lamp": {"colour": "green"}}


PROTECTED = ["images.blockImages", "budgets.perDay", "plugins.disabled", "defaultProjectTrust"]
VALUES = {"images.blockImages": False, "budgets.perDay": 9, "plugins.disabled": ["x"], "defaultProjectTrust": "always"}


@pytest.mark.parametrize("key", PROTECTED)
async def test_a_protected_setting_is_not_written_where_no_user_can_be_asked(ctx, place, key):
    with pytest.raises(UserError, match="no user can be asked"):
        await ctx.settings.set(key, VALUES[key])

    assert place.read(place.user) is None


@pytest.mark.parametrize("key", PROTECTED)
async def test_the_user_is_asked_before_a_protected_setting_is_written(started, fake_ui, place, key):
    fake_ui.answers(True)
    await started(ui=fake_ui).ctx.settings.set(key, VALUES[key])

    assert key in fake_ui.asked[0].title
    assert place.read(place.user) is not None


async def test_the_user_can_say_no(started, fake_ui, place):
    fake_ui.answers(False)
    with pytest.raises(UserError, match="did not allow a plugin"):
        await started(ui=fake_ui).ctx.settings.set("images.blockImages", False)

    assert place.read(place.user) is None


async def test_the_plugin_that_declares_a_protected_setting_changes_it_itself(started, place):
    await started().prompt("/own 12")

    assert place.read(place.user) == {"budgets": {"perDay": 12}}


@pytest.mark.parametrize("plugins", [{"budgets": Declares(PER_DAY), "lamp": Declares(key="budgets.perDay")}])
async def test_another_plugin_does_not(started, place, recorder):
    session = started()
    await session.prompt("/go 12")

    assert "'budgets.perDay' was not changed: plugin 'lamp'" in recorder.of("extension_error")[0].error
    assert place.read(place.user) is None


async def test_what_only_reads_is_there_as_before_and_what_changes_is_not(ctx):
    read = ctx.settings.all(), ctx.settings.get_choice("steeringMode", ("all", "one-at-a-time"), "all")

    assert read == ({}, "all")
    assert not [name for name in ("unset", "reload", "held") if hasattr(ctx.settings, name)]


async def test_after_the_session_nothing_is_written(started, place):
    session = started()
    settings = session.ctx.settings
    await session.dispose()

    with pytest.raises(StaleObject):
        await settings.set("theme", "dark")

    assert place.read(place.user) is None


@pytest.mark.parametrize("plugins", [{"lamp": Declares(PluginSetting("lamp.colour", schema={"type": "colour"}))}])
async def test_a_declaration_that_is_no_schema_is_reported(started):
    session = started()
    with pytest.raises(UnknownName):
        await session.ctx.settings.set("lamp.colour", "red")

    assert "schema is not a JSON schema" in str(session.host.problems)
