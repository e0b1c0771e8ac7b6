"""Adds a message after the user's prompt that lists the files in the working directory."""

from pi_hookspecs import BeforeAgentStartResult, CustomMessage, hookimpl


@hookimpl
def before_agent_start(event, ctx):
    files = sorted(each.name for each in ctx.cwd.iterdir())
    note = CustomMessage(custom_type="files", content=f"The files here: {', '.join(files)}", display=False)
    return BeforeAgentStartResult(messages=[note])


# Test

from pi_testing import text


async def test_example(pi_session, script, tmp_path):
    (tmp_path / "tide.py").touch()
    script.turn(text("One file."))

    await pi_session.prompt("What is here?")

    assert "The files here: tide.py" in script.requests[0].messages[-1].text
