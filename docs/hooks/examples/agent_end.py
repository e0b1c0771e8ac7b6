"""Shows how many tokens the model generated in a run."""

from pi_hookspecs import AssistantMessage, hookimpl


@hookimpl
def agent_end(event, ctx):
    answers = [each for each in event.messages if isinstance(each, AssistantMessage)]
    ctx.ui.set_status("tokens", f"{sum(each.usage.output for each in answers)} tokens")


# Test

from pi_testing import text, usage


async def test_example(pi_session, script, fake_ui):
    script.turn(text("Hello."), usage(input=10, output=2))

    await pi_session.prompt("Hi")

    assert fake_ui.statuses == {"tokens": "2 tokens"}
