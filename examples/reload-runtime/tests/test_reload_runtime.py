"""The plugins begin anew, at once or when the answer is done."""

from __future__ import annotations

import asyncio

from pi_testing import stall, text, tool_call, until


async def test_command_loads_plugins_anew(pi_session, fake_ui):
    await pi_session.prompt("/reload-runtime")

    assert [notice.message for notice in fake_ui.notices] == ["Plugins were reloaded."]


async def test_answer_that_is_being_made_is_waited_for(pi_session, script, fake_ui):
    script.turn(text("Half"), stall())
    answering = asyncio.create_task(pi_session.prompt("go"))
    await script.stalled()
    reloading = asyncio.create_task(pi_session.prompt("/reload-runtime"))
    await asyncio.sleep(0)
    before = [*fake_ui.notices]

    await pi_session.abort()
    await asyncio.gather(answering, reloading)

    assert before == []
    assert [notice.message for notice in fake_ui.notices] == ["Plugins were reloaded."]


async def test_model_can_ask_for_it(pi_session, script, fake_ui):
    script.turn(tool_call("reload_runtime", arguments={})).turn(text("Done."))

    answer = await pi_session.prompt("load it")
    await until(lambda: fake_ui.notices)

    assert answer.text == "Done."
