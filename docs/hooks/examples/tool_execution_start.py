"""Logs every tool call with the arguments that the model sent."""

import json

from pi_hookspecs import hookimpl


@hookimpl
def tool_execution_start(event, ctx):
    with (ctx.cwd / "calls.log").open("a") as log:
        log.write(f"{event.tool_name} {json.dumps(event.args)}\n")


# Test

from pi_testing import text, tool_call


async def test_example(pi_session, script, tmp_path):
    script.turn(tool_call("bash", command="ls")).turn(text("Done."))

    await pi_session.prompt("Look around")

    assert (tmp_path / "calls.log").read_text() == 'bash {"command": "ls"}\n'
