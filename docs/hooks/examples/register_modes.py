"""A front end that prints the length of every answer: `pi --mode lengths "Say hello"`.

Creating a session takes a moment. `prepare` runs before that, so the heading appears immediately.
"""

from contextlib import contextmanager

from pi_hookspecs import Mode, hookimpl


@contextmanager
def heading(facts):
    print(f"{facts.session_name or 'Lengths'} in {facts.cwd}")
    yield
    print("The end.")  # even if the session cannot be created


async def run(session, options):
    async with session:
        for prompt in options.prompts:
            answer = await session.prompt(prompt.text)
            print(len(answer.text))
    return 0


@hookimpl
def register_modes():
    return [Mode("lengths", run=run, prepare=heading, description="Print the length of every answer")]


# Test

from types import SimpleNamespace

from pi_hookspecs import StartFacts
from pi_testing import text


async def test_example(pi_host, pi_session, script, tmp_path, capsys):
    script.turn(text("Hello."))
    mode = pi_host.find("register_modes", "lengths").thing
    facts = StartFacts(cwd=tmp_path, agent_dir=tmp_path, settings=pi_host.settings, session_name="Tides")

    with mode.prepare(facts):
        assert await mode.run(pi_session, SimpleNamespace(prompts=[SimpleNamespace(text="Say hello")])) == 0
    assert script.requests[0].user_text == "Say hello"
    assert capsys.readouterr().out == f"Tides in {tmp_path}\n6\nThe end.\n"
