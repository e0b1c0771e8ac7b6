"""Priority, variable and refusal, of commands of the model and of plugins."""

from __future__ import annotations

import os

import pytest

from pi_hookspecs import UserError
from pi_testing import text, tool_call

NO_NPM = {"politePrograms": {"refused": ["npm"]}}


@pytest.mark.pi(entry_points=["tools"])
async def test_the_models_commands_are_nice_and_know_what_started_them(pi_session, script):
    script.turn(tool_call("bash", command="nice; echo $STARTED_BY")).turn(text("So nice."))

    await pi_session.prompt("How nice are you?")

    (result,) = script.requests[1].tool_results
    assert result.text.split() == [str(min(os.nice(0) + 10, 19)), "pi"]


@pytest.mark.pi(entry_points=["tools"], settings=NO_NPM)
@pytest.mark.parametrize("command", ["npm install", "cd web && /usr/bin/npm install"])
async def test_a_listed_program_is_refused(pi_session, script, command):
    script.turn(tool_call("bash", command=command)).turn(text("I may not."))

    await pi_session.prompt("Install it")

    (result,) = script.requests[1].tool_results
    assert result.is_error
    assert "'npm' is not started: the setting politePrograms.refused lists it" in result.text


@pytest.mark.pi(settings=NO_NPM)
async def test_programs_of_plugins_are_refused_too(pi_session):
    with pytest.raises(UserError, match="'npm' is not started"):
        await pi_session.ctx.exec("npm", ["install"])


async def test_a_program_without_nice_is_started_unchanged(pi_session, tmp_path):
    done = await pi_session.ctx.exec("/bin/sh", ["-c", "echo $STARTED_BY"], env={"PATH": str(tmp_path)})

    assert done.stdout == "pi\n"
