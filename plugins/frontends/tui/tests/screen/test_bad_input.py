"""Much, small, and at the wrong time: the screen goes on, and nothing is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pi_hookspecs import ToolResult
from pi_testing import make_tool, stall, text, tool_call

if TYPE_CHECKING:
    from pi_core import AgentSession
    from pi_testing import ScriptedProvider

ONE_LINE = make_tool("one_line", result=ToolResult.text("x" * 10_000_000 + " the end of the line"))
MANY_LINES = make_tool("many_lines", result=ToolResult.text("\n".join(map(str, range(500_000)))))


@pytest.mark.pi(tools=[ONE_LINE, MANY_LINES])
@pytest.mark.parametrize(("tool", "end"), [("one_line", "the end of the line"), ("many_lines", "499999")])
async def test_of_ten_megabytes_of_output_the_end_is_kept_and_displayed(
    desk, script: ScriptedProvider, tool: str, end: str
) -> None:
    script.turn(tool_call(tool))
    script.turn(text("Read."))

    async with desk() as user:
        await user.type("Go", "enter")
        await user.sees("Read.")
        await user.press("ctrl+o")
        await user.press("pageup", "pagedown", "end")
        kept = sum(len(block.output) for block in user.app.state.blocks if block.kind == "tool")
        await user.sees(end)

    assert kept < 300_000


async def test_a_paste_of_a_megabyte_is_one_mark_and_sent_as_a_whole(desk, script: ScriptedProvider) -> None:
    pasted = "high and low\n" * 80_000
    script.turn(text("Long."))

    async with desk() as user:
        user.app.take_paste(pasted)
        await user.sees("[paste #1 +80000 lines]")
        await user.press("enter")
        await user.sees("Long.")

    assert script.requests[0].user_text == pasted.rstrip()


async def test_a_terminal_that_changes_its_size_during_an_answer_displays_all_of_it(
    desk, script: ScriptedProvider
) -> None:
    script.turn(text("The tide is high at six", 5), stall(), text(" and low at noon."))

    async with desk() as user:
        await user.type("How is the tide?", "enter")
        await script.stalled()
        for size in ((1, 1), (20, 6), (300, 80), (80, 24)):
            await user.pilot.resize_terminal(*size)
            await user.pilot.pause()
        await user.sees("How is the tide?", "The tide is high at six")
        await user.press("escape")

        await user.when(lambda: not user.app.port.is_streaming)


async def test_a_question_outlives_the_session_that_it_was_asked_in(desk, draws, pi_session: AgentSession) -> None:
    async with desk() as user:
        await draws.lets(user, lambda ctx: ctx.ui.select("Which tide?", ["high", "low"]))
        await user.sees("Which tide?")
        await pi_session.new_session()
        await user.sees("Which tide?")
        await user.press("enter")
        await user.when(lambda: draws.results)
        await user.type("half a prompt")

        assert user.typed == "half a prompt"
    assert draws.results in (["high"], [None])
