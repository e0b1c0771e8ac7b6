"""Fixtures of all tests of code mode."""

from __future__ import annotations

import pytest

from pi_testing import text, tool_call


@pytest.fixture
async def ran(pi_session, script):
    """Return a function that lets the model run a script, and returns what the model gets."""

    async def run(code, **arguments):
        script.turn(tool_call("codemode", code=code, **arguments)).turn(text("Done."))
        await pi_session.prompt("go")
        return script.requests[-1].tool_results[-1]

    return run
