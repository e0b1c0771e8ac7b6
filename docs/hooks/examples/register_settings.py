"""A setting with a command that changes it: `/per-day 5`. Anything but a number of at least 0 is rejected."""

from pi_hookspecs import Command, PluginSetting, hookimpl

PER_DAY = PluginSetting(
    "deploys.perDay",
    schema={"type": "number", "minimum": 0, "default": 3},
    description="Maximum deployments per day",
    protected=True,
)


async def per_day(args, ctx):
    before = PER_DAY.read(ctx.settings)
    await ctx.settings.set(PER_DAY.name, float(args))
    ctx.ui.notify(f"At most {PER_DAY.read(ctx.settings):g} deployments a day, instead of {before:g}")


@hookimpl
def register_settings():
    return [PER_DAY]


@hookimpl
def register_commands():
    return [Command("per-day", handler=per_day, description="Limit the deployments per day")]


# Test


async def test_example(pi_session, fake_ui):
    await pi_session.prompt("/per-day 5")

    assert pi_session.settings.get("deploys.perDay") == 5
    assert [notice.message for notice in fake_ui.notices] == ["At most 5 deployments a day, instead of 3"]
