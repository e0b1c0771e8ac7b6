"""Faults that a test asks for: hooks that take for ever or fail, an error at a later turn, an abort in the midst."""

from __future__ import annotations

import asyncio

import pytest

from pi_testing import error, failing_hook, slow_hook, stall, text, tool_call


@pytest.mark.pi(plugins=[slow_hook("context")], settings={"hooks": {"specs": {"context": {"timeout": 0.05}}}})
async def test_a_slow_hook_is_given_up_and_blamed(pi_session, script, recorder):
    pi_session.subscribe(recorder)
    script.turn(text("Done."))
    answer = await pi_session.prompt("Hi")

    assert answer.text == "Done."
    assert ["slow-hook" in each.error for each in recorder.of("extension_error")] == [True]


@pytest.mark.pi(plugins=[slow_hook("context", 0)])
async def test_a_hook_may_be_slow_for_a_while(pi_session, script):
    script.turn(text("Done."))

    assert (await pi_session.prompt("Hi")).text == "Done."


@pytest.mark.pi(plugins=[failing_hook("tool_call", RuntimeError("the guard is broken"))])
async def test_a_hook_that_fails_has_the_consequences_of_its_kind(pi_session, script, fake_tools):
    script.turn(tool_call("bash", command="ls")).turn(text("I may not."))
    await pi_session.prompt("List the files")

    (result,) = script.requests[1].tool_results
    assert result.is_error
    assert "plugin 'failing-hook' failed in tool_call" in result.text
    assert fake_tools["bash"].calls == []


@pytest.mark.pi(plugins=[failing_hook("turn_end")])
async def test_a_failure_says_that_it_was_asked_for(pi_session, script, recorder):
    pi_session.subscribe(recorder)
    script.turn(text("Done."))
    await pi_session.prompt("Hi")

    assert "as the test wants it" in recorder.of("extension_error")[0].error


@pytest.mark.pi(plugins=[])
async def test_a_provider_fails_at_the_turn_that_the_script_says(pi_session, script):
    script.turn(tool_call("bash", command="ls")).turn(error("400 bad request"))
    answer = await pi_session.prompt("List the files")

    assert (answer.stop_reason, answer.error_message) == ("error", "400 bad request")
    assert len(script.requests) == 2


@pytest.mark.pi(plugins=[])
async def test_a_run_is_aborted_where_the_script_stalls(pi_session, script):
    script.turn(text("Half an answer"), stall())
    running = asyncio.create_task(pi_session.prompt("Hi"))
    await script.stalled()
    await pi_session.abort()

    answer = await running
    assert (answer.stop_reason, answer.text) == ("aborted", "Half an answer")
