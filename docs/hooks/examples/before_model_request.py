"""Refuses requests of plugins that exceed a size limit; the conversation itself is not limited."""

from pi_hookspecs import BeforeModelRequestResult, hookimpl

LIMIT = 50_000


@hookimpl
def before_model_request(event):
    if event.purpose == "conversation" or event.estimated_tokens <= LIMIT:
        return None
    reason = f"The request for {event.purpose!r} has about {event.estimated_tokens} tokens; the limit is {LIMIT}."
    return BeforeModelRequestResult(block=True, reason=reason, exit_code=4)


# Test

from pi_hookspecs import Context, SideRequest, UserMessage
from pi_testing import text


async def test_example(pi_session, script):
    script.turn(text("A digest."))
    await pi_session.start()
    log = Context(messages=(UserMessage(content="Sum up: " + "line\n" * 50_000),))

    answer = await pi_session.complete(log, SideRequest(purpose="digest"))

    assert answer.error_message.startswith("The request for 'digest' has about 62502 tokens")
    assert script.requests == []
