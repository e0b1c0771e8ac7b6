"""The user plays with keys or in a dialog, the model with a tool; the game is the branch's."""

from __future__ import annotations

import pytest

from pi_testing import text, tool_call

screen = pytest.mark.pi(screen=True)


def answers(script, cell):
    script.turn(tool_call("tic_tac_toe", cell=cell)).turn(text("Your turn."))


async def play(pi_session, recorder):
    """Choose a cell, and wait for the model's turn."""
    unsubscribe = pi_session.subscribe(recorder)
    await pi_session.prompt("/tic-tac-toe")
    await recorder.wait_for("agent_settled")
    unsubscribe()
    recorder.events.clear()


@screen
async def test_both_play(pi_session, script, fake_ui, recorder):
    answers(script, 1)
    fake_ui.presses("down", "enter")

    await play(pi_session, recorder)

    assert fake_ui.widgets["tic-tac-toe"] == ("O │ 2 │ 3", "4 │ 5 │ 6", "7 │ X │ 9")
    assert "I play X in cell 8" in script.requests[0].user_text
    assert script.requests[1].tool_results[-1].text.endswith("It is the user's turn.")


@screen
async def test_a_taken_cell_is_refused(pi_session, script, fake_ui, recorder):
    answers(script, 5)
    fake_ui.presses("enter")

    await play(pi_session, recorder)

    assert "Cell 5 is not free" in script.requests[1].tool_results[-1].text


@screen
async def test_three_in_a_row_end_the_game(pi_session, script, fake_ui, recorder):
    for own, of_model in (("1", 4), ("2", 5)):
        answers(script, of_model)
        fake_ui.presses(own)
        await play(pi_session, recorder)
    fake_ui.presses("3")

    await pi_session.prompt("/tic-tac-toe")

    assert fake_ui.notices[-1].message == "Over: X has won."
    assert len(script.requests) == 4


async def test_without_a_screen_a_dialog_asks_for_the_cell(pi_session, script, fake_ui, recorder):
    answers(script, 1)
    fake_ui.answers("9")

    await play(pi_session, recorder)

    assert fake_ui.asked[0][3] == tuple("123456789")
    assert fake_ui.widgets["tic-tac-toe"][2] == "7 │ 8 │ X"


@screen
async def test_the_board_is_that_of_the_place_in_the_tree(pi_session, script, fake_ui, recorder):
    answers(script, 1)
    fake_ui.presses("enter")
    await play(pi_session, recorder)
    half = pi_session.session_manager.leaf_id
    answers(script, 2)
    fake_ui.presses("9")
    await play(pi_session, recorder)

    await pi_session.navigate_tree(half)

    assert fake_ui.widgets["tic-tac-toe"] == ("O │ 2 │ 3", "4 │ X │ 6", "7 │ 8 │ 9")
