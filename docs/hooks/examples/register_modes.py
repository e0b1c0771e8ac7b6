"""A front end that prints the length of every answer: `pi --mode lengths "Say hello"`."""

from pi_hookspecs import Mode, hookimpl


async def run(session, options):
    async with session:
        for prompt in options.prompts:
            answer = await session.prompt(prompt.text)
            print(len(answer.text))
    return 0


@hookimpl
def register_modes():
    return [Mode("lengths", run=run, description="Print the length of every answer")]


# Shown by

from types import SimpleNamespace

from pi_testing import text


async def shown(pi_host, pi_session, script):
    script.turn(text("Hello."))
    mode = pi_host.find("register_modes", "lengths").thing

    assert await mode.run(pi_session, SimpleNamespace(prompts=[SimpleNamespace(text="Say hello")])) == 0
    assert script.requests[0].user_text == "Say hello"
