"""User and model can end the program."""

from __future__ import annotations

from pi_testing import tool_call


async def test_user_ends_it(pi_session):
    await pi_session.prompt("/bye")

    assert pi_session.shutdown_requested.is_set()


async def test_model_ends_it_and_is_not_asked_again(pi_session, script):
    script.turn(tool_call("finish_and_exit", summary="All done."))

    await pi_session.prompt("do it and go")

    assert pi_session.shutdown_requested.is_set()
    assert len(script.requests) == 1
