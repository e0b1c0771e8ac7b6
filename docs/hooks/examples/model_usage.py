"""Shows the tokens used so far by purpose, including requests of plugins and failed requests."""

from collections import Counter

from pi_hookspecs import hookimpl

tokens = Counter()


@hookimpl
def model_usage(event, ctx):
    tokens[event.purpose] += event.usage.total_tokens
    ctx.ui.set_status("tokens", ", ".join(f"{purpose} {count}" for purpose, count in tokens.items()))


# Test

from pi_hookspecs import Context, SideRequest, UserMessage
from pi_testing import error, text, usage


async def test_example(pi_session, script, fake_ui):
    script.turn(text("Half an"), usage(input=7, output=2), error("400 wrong")).turn(text("A title"), usage(output=3))
    await pi_session.prompt("Hi")

    await pi_session.complete(Context(messages=(UserMessage(content="Name it"),)), SideRequest(purpose="title"))

    assert fake_ui.statuses == {"tokens": "conversation 9, title 3"}
