"""A setting with a command that changes it: `/per-day 5`. Anything but a number of at least 0 is rejected."""

from pi_hookspecs import Command, PluginSetting, hookimpl

PER_DAY = {"type": "number", "minimum": 0}


async def per_day(args, ctx):
    await ctx.settings.set("deploys.perDay", float(args))
    ctx.ui.notify(f"At most {ctx.settings.get('deploys.perDay'):g} deployments a day")


@hookimpl
def register_settings():
    return [PluginSetting("deploys.perDay", schema=PER_DAY, description="Maximum deployments per day", protected=True)]


@hookimpl
def register_commands():
    return [Command("per-day", handler=per_day, description="Limit the deployments per day")]


# Test


async def test_example(pi_session, fake_ui):
    await pi_session.prompt("/per-day 5")

    assert pi_session.settings.get("deploys.perDay") == 5
    assert [notice.message for notice in fake_ui.notices] == ["At most 5 deployments a day"]
