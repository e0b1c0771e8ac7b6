"""What is written into the file reaches the model without a prompt."""

from __future__ import annotations

import asyncio

from pi_testing import text


async def test_the_model_answers_with_the_content_of_the_file(pi_session, script, recorder, tmp_path):
    script.turn(text("I will look."))
    pi_session.subscribe(recorder)
    (tmp_path / ".pi").mkdir()
    file = tmp_path / ".pi" / "trigger.txt"

    file.write_text("The build failed.\n")
    await recorder.wait_for("agent_settled")

    assert script.requests[0].user_text == "The build failed."
    assert pi_session.last_answer().text == "I will look."
    assert file.read_text() == ""


async def test_after_the_session_nothing_is_watched(pi_session):
    watching = asyncio.all_tasks() - {asyncio.current_task()}

    await pi_session.dispose()
    await asyncio.wait(watching)

    assert len(watching) == 1
