"""A front end that writes one method has all dialogs."""

from __future__ import annotations

import pytest

from pi_core import DialogRequest, DialogUI, FanOutUI
from pi_hookspecs import UserInterface


class OneMethod(DialogUI):
    """Answers dialogs by their kind."""

    def __init__(self, **answers) -> None:
        self.answers, self.asked = answers, []

    async def ask_dialog(self, dialog: DialogRequest):
        self.asked.append(dialog)
        return self.answers.get(dialog.kind)

    def notify(self, message, level="info") -> None:
        self.asked.append((message, level))


async def all_dialogs(ui):
    return [
        await ui.select("Which?", ["a", "b"], timeout=3),
        await ui.confirm("Sure?", "It is gone then."),
        await ui.input("Name", "yours"),
        await ui.editor("Text", "so far"),
    ]


@pytest.mark.parametrize("through", [False, True], ids=["itself", "through another interface"])
async def test_every_dialog_reaches_the_one_method(through):
    ui = OneMethod(select="b", confirm=True, input="Ada", editor="more")
    asked = FanOutUI() if through else ui
    if through:
        asked.add(ui)

    assert await all_dialogs(asked) == ["b", True, "Ada", "more"]

    assert isinstance(ui, UserInterface)
    assert [(each.kind, each.title, each.text, each.options, each.timeout) for each in ui.asked] == [
        ("select", "Which?", "", ("a", "b"), 3),
        ("confirm", "Sure?", "It is gone then.", (), None),
        ("input", "Name", "yours", (), None),
        ("editor", "Text", "so far", (), None),
    ]


async def test_a_dismissed_dialog_is_none_or_no():
    assert await all_dialogs(OneMethod()) == [None, False, None, None]
