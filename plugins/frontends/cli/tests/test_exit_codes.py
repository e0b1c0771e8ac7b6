"""How a run of prompts ends: which exit code a program that started pi gets."""

from __future__ import annotations

import pytest

from pi_cli.json_mode import run_json
from pi_cli.options import Options, Prompt
from pi_cli.print_mode import run_print
from pi_testing import error, text

BOTH = Options(prompts=(Prompt(text="first"), Prompt(text="second")))


def abort_second(session, **how):
    """Abort the second prompt when its answer begins."""

    def on_message(event):
        if event.message.role == "assistant" and len(session.messages) > 2:
            session.request_abort("The budget is used up", **how)

    session.subscribe(on_message, "message_start")


@pytest.fixture(params=[run_print, run_json])
def run(request, pi_session, capfdbinary):
    return lambda: request.param(pi_session, BOTH)


async def test_answers_exit_with_0(run, script):
    script.turn(text("one")).turn(text("two"))

    assert await run() == 0


async def test_a_last_answer_that_failed_exits_with_1(run, script):
    script.turn(text("one")).turn(error("400 the request is wrong"))

    assert await run() == 1


async def test_an_aborted_answer_exits_with_1(run, script, pi_session):
    script.turn(text("one")).turn(text("two"))
    abort_second(pi_session)

    assert await run() == 1


async def test_print_sends_nothing_after_an_answer_that_failed(pi_session, script, capsys):
    script.turn(error("400 the request is wrong")).turn(text("two"))

    assert await run_print(pi_session, BOTH) == 1
    assert len(script.requests) == 1
    assert "Error: 400 the request is wrong" in capsys.readouterr().err


async def test_the_plugin_that_aborts_chooses_the_exit_code(pi_session, script, capsys):
    script.turn(text("one")).turn(text("two"))
    abort_second(pi_session, exit_code=3)

    assert await run_print(pi_session, BOTH) == 3
