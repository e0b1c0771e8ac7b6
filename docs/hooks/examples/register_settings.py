"""A setting that a command changes: `/per-day 5`. Other values than numbers from 0 on are refused."""

from pi_hookspecs import Command, PluginSetting, hookimpl

PER_DAY = {"type": "number", "minimum": 0}


async def per_day(args, ctx):
    await ctx.settings.set("budgets.perDay", float(args))
    ctx.ui.notify(f"At most {ctx.settings.get('budgets.perDay'):g} dollars a day")


@hookimpl
def register_settings():
    return [PluginSetting("budgets.perDay", schema=PER_DAY, description="Dollars for one day", protected=True)]


@hookimpl
def register_commands():
    return [Command("per-day", handler=per_day, description="Set the dollars for one day")]


# Shown by


async def shown(pi_session, fake_ui):
    await pi_session.prompt("/per-day 5")

    assert pi_session.settings.get("budgets.perDay") == 5
    assert [notice.message for notice in fake_ui.notices] == ["At most 5 dollars a day"]
