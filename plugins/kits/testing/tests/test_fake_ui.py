"""How the fake user answers."""

from __future__ import annotations

import asyncio

import pytest

from pi_hookspecs import AbortController, UserInterface
from pi_testing import Dialog, FakeUI, Notice


def test_it_is_a_user_interface():
    assert isinstance(FakeUI(), UserInterface)


async def test_dialogs_are_answered_in_order():
    ui = FakeUI().answers(True, "blue", None, "typed", "edited")
    answers = [
        await ui.confirm("Write?", "a.txt"),
        await ui.select("Colour", ["red", "blue"]),
        await ui.input("Name", "yours"),
        await ui.input("Name"),
        await ui.editor("Text", "draft"),
    ]

    assert answers == [True, "blue", None, "typed", "edited"]
    assert ui.asked == [
        Dialog("confirm", "Write?", "a.txt"),
        Dialog("select", "Colour", options=("red", "blue")),
        Dialog("input", "Name", "yours"),
        Dialog("input", "Name"),
        Dialog("editor", "Text", "draft"),
    ]


async def test_dialogs_are_answered_by_title():
    ui = FakeUI().answers(False).answers_to("Write", True, True)
    answers = [await ui.confirm(title) for title in ("Write a?", "Delete?", "Write b?")]

    assert answers == [True, False, True]


async def test_dismissed_confirmation_is_a_no():
    assert await FakeUI().answers(None).confirm("Sure?") is False


async def test_unexpected_dialog_is_a_failure_that_is_kept():
    ui = FakeUI()

    with pytest.raises(AssertionError, match=r"unexpected .*'Sure\?'"):
        await ui.confirm("Sure?")
    with pytest.raises(AssertionError, match="unexpected"):
        ui.check()


async def test_unexpected_dialogs_can_be_dismissed():
    ui = FakeUI(dismiss_unexpected=True)

    assert await ui.select("Colour", ["red"]) is None
    assert await ui.confirm("Sure?") is False
    ui.check()


@pytest.mark.parametrize("answer", ["green", True])
async def test_answer_that_does_not_fit_is_a_failure(answer):
    with pytest.raises(AssertionError, match="does not fit"):
        await FakeUI().answers(answer).select("Colour", ["red", "blue"])


async def test_dialog_stays_open_until_it_is_released():
    ui = FakeUI().never_answers("Sure?")
    asking = asyncio.create_task(ui.confirm("Sure?"))

    assert await ui.opened() == Dialog("confirm", "Sure?")
    assert not asking.done()
    ui.release(True)
    assert await asking is True


async def test_open_dialog_times_out():
    assert await FakeUI().never_answers().input("Name", timeout=0.01) is None


async def test_open_dialog_ends_with_the_abort():
    controller = AbortController()
    ui = FakeUI().never_answers()
    asking = asyncio.create_task(ui.select("Colour", ["red"], signal=controller.signal))
    await ui.opened()
    controller.abort()

    assert await asking is None


async def test_dialog_after_the_abort_is_dismissed_and_takes_no_answer():
    controller = AbortController()
    controller.abort()
    ui = FakeUI().answers(True)

    assert await ui.confirm("Sure?", signal=controller.signal) is False
    assert await ui.confirm("Sure?") is True


def test_what_is_displayed_is_kept_until_it_is_removed():
    ui = FakeUI()
    ui.notify("Saved.")
    ui.notify("Careful.", "warning")
    ui.set_status("git", "main")
    ui.set_status("cost", "1 $")
    ui.set_status("cost")
    ui.set_widget("todo", ["a", "b"])
    ui.set_widget("below", ["d"], placement="belowEditor")
    ui.set_widget("gone", ["c"])
    ui.set_widget("gone")
    ui.set_title("pi")
    ui.set_editor_text("Dear model")

    assert ui.notices == [Notice("Saved."), ("Careful.", "warning")]
    assert (ui.statuses, ui.title, ui.editor_text) == ({"git": "main"}, "pi", "Dear model")
    assert ui.widgets == {"todo": ("a", "b"), "below": ("d",)}
    assert ui.placements == {"todo": "aboveEditor", "below": "belowEditor"}
