"""Lists `/standup`, so that front ends can complete it; the plugin's `expand_prompt` would expand it."""

from pi_hookspecs import CommandInfo, CommandsDiscoverResult, hookimpl


@hookimpl
def commands_discover(event):
    info = CommandInfo(name="standup", description="What changed since yesterday", source="prompt")
    return CommandsDiscoverResult(commands=[info])


# Test


async def test_example(pi_session):
    commands = await pi_session.get_commands()

    assert "standup" in [each.name for each in commands]
