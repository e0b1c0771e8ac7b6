"""Items are added by a form, ticked off by keys or in a dialog, read by the model, and mentioned."""

from __future__ import annotations

import pytest

from pi_testing import text, tool_call


async def add(pi_session, fake_ui, *items):
    for item in items:
        fake_ui.answers({"text": item})
        await pi_session.prompt("/item")


@pytest.mark.pi(screen=True)
async def test_an_item_is_ticked_off_with_the_keys(pi_session, fake_ui):
    await add(pi_session, fake_ui, "write", "sleep")
    fake_ui.presses("down", "enter")

    await pi_session.prompt("/checklist")

    assert fake_ui.screens["checklist"].rows == ("Checklist", "· write", "✓ sleep")


async def test_an_item_is_ticked_off_in_a_dialog_where_nothing_is_drawn(pi_session, fake_ui):
    await add(pi_session, fake_ui, "write", "sleep")
    fake_ui.answers("write")

    await pi_session.prompt("/checklist")

    assert fake_ui.asked[-1] == ("select", "Which one is done?", "", ("write", "sleep"))
    assert fake_ui.widgets["checklist"] == ("Checklist", "✓ write", "· sleep")


async def test_who_does_it_is_part_of_the_item(pi_session, fake_ui):
    fake_ui.answers({"text": "write", "owner": "the model"})

    await pi_session.prompt("/item")

    assert fake_ui.widgets["checklist"] == ("Checklist", "· write (the model)")


async def test_the_model_reads_it_and_the_user_sees_it_drawn(pi_session, script, fake_ui, recorder):
    await add(pi_session, fake_ui, "write")
    pi_session.subscribe(recorder)
    script.turn(tool_call("checklist")).turn(text("One item."))

    await pi_session.prompt("What is to be done?")

    (result,) = script.requests[1].tool_results
    assert result.text == "[ ] write"
    (end,) = [event for event in recorder.events if event.type == "tool_execution_end"]
    assert [str(row) for row in pi_session.renderings.tool_result("checklist", end.result, width=40)] == ["· write"]


async def test_an_item_is_mentioned(pi_session, script, fake_ui):
    await add(pi_session, fake_ui, "write", "sleep")
    script.turn(text("Good night."))

    offered = await pi_session.completions.mentions("item:2")
    await pi_session.prompt("Please begin with @item:2")

    assert [(each.value, each.description) for each in offered] == [("item:2", "sleep")]
    assert script.requests[0].user_text == "Please begin with 'sleep'"
