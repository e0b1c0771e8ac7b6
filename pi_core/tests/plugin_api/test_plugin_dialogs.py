"""The dialogs that plugins open: they are awaited in every way that Python knows, and never taken for their answer."""

from __future__ import annotations

import asyncio
import gc
import warnings

import pytest

from pi_hookspecs import ToolCallResult, hookimpl
from pi_testing import text, tool_call
from pi_testing.patience import PATIENCE

OPENED = {
    "confirm": lambda ui: ui.confirm("Run?", "rm"),
    "select": lambda ui: ui.select("Which?", ["a", "b"]),
    "input": lambda ui: ui.input("Name?"),
    "editor": lambda ui: ui.editor("Text?"),
    "custom": lambda ui: ui.custom(object()),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", OPENED)
@pytest.mark.parametrize(
    "use",
    [
        lambda answer: not answer,
        lambda answer: answer == "a",
        lambda answer: answer != "a",
        lambda answer: answer in list("ab"),
    ],
    ids=["not", "==", "!=", "in"],
)
def test_a_dialog_that_is_used_as_its_answer_says_how_it_is_awaited(session_of, name, use):
    dialog = OPENED[name](session_of().ctx.ui)

    with pytest.raises(TypeError, match=rf"write await ctx\.ui\.{name}\(\.\.\.\), in an async def"):
        use(dialog)


@pytest.mark.parametrize(
    "wait",
    [
        lambda dialog: dialog,
        asyncio.create_task,
        asyncio.ensure_future,
        asyncio.gather,
        lambda dialog: asyncio.wait_for(dialog, PATIENCE),
    ],
    ids=["await", "create_task", "ensure_future", "gather", "wait_for"],
)
async def test_a_dialog_can_be_awaited_like_any_coroutine(session_of, fake_ui, wait):
    fake_ui.answers(True)
    session = session_of(ui=fake_ui)

    answer = await wait(session.ctx.ui.confirm("Run?"))

    assert answer in (True, [True])


def test_a_dialog_that_nothing_awaits_is_warned_about_by_its_name(session_of):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        session_of().ctx.ui.confirm("Run?")
        gc.collect()

    assert "coroutine 'ctx.ui.confirm' was never awaited" in [str(each.message) for each in caught]


class Forgetful:
    @hookimpl
    async def tool_call(self, event, ctx):
        if not ctx.ui.confirm("Run it?"):
            return ToolCallResult(block=True)
        return None


async def test_a_guard_that_forgets_to_await_refuses(session_of, script, recorder, tool):
    async def delete(params, signal, update):
        pytest.fail("the gate was open")

    script.turn(tool_call("delete")).turn(text("done"))
    session = session_of(Forgetful(), tools=[tool("delete", delete)])

    await session.prompt("go")

    assert "plugin 'plugin-0' failed in tool_call" in script.requests[1].tool_results[0].text
    (failure,) = recorder.of("extension_error")
    assert "TypeError: ctx.ui.confirm(...) has no result until it is awaited" in failure.error
    assert f"(in {__file__}, line " in failure.error
