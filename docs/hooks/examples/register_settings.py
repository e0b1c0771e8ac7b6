"""A setting that a command changes: `/per-day 5`. Other values than numbers from 0 on are refused."""

from pi_hookspecs import Command, PluginSetting, hookimpl

PER_DAY = {"type": "number", "minimum": 0}


async def per_day(args, ctx):
    await ctx.settings.set("deploys.perDay", float(args))
    ctx.ui.notify(f"At most {ctx.settings.get('deploys.perDay'):g} deployments a day")


@hookimpl
def register_settings():
    return [PluginSetting("deploys.perDay", schema=PER_DAY, description="Deployments in one day", protected=True)]


@hookimpl
def register_commands():
    return [Command("per-day", handler=per_day, description="Set the deployments of one day")]


# Shown by


async def shown(pi_session, fake_ui):
    await pi_session.prompt("/per-day 5")

    assert pi_session.settings.get("deploys.perDay") == 5
    assert [notice.message for notice in fake_ui.notices] == ["At most 5 deployments a day"]
