"""Much, small, and at the wrong time: the screen goes on, and nothing is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pi_hookspecs import ToolResult, UserMessage
from pi_testing import delay, make_tool, text, tool_call

if TYPE_CHECKING:
    from pi_core import AgentSession
    from pi_testing import ScriptedProvider

ONE_LINE = make_tool("one_line", result=ToolResult.text("x" * 10_000_000 + " the end of the line"))
MANY_LINES = make_tool("many_lines", result=ToolResult.text("\n".join(map(str, range(500_000)))))


@pytest.mark.pi(tools=[ONE_LINE, MANY_LINES])
@pytest.mark.parametrize("tool", ["one_line", "many_lines"])
async def test_of_ten_megabytes_of_output_the_end_is_kept_and_displayed(
    desk, script: ScriptedProvider, tool: str
) -> None:
    script.turn(tool_call(tool))
    script.turn(text("Read."))

    async with desk() as user:
        await user.type("Go", "enter")
        await user.sees("Read.")
        await user.press("ctrl+o")
        await user.press("pageup", "pagedown", "end")
        kept = sum(len(block.output) for block in user.app.state.blocks if block.kind == "tool")
        await user.sees("only the first 256K are shown. Full")

    assert kept < 300_000


@pytest.mark.slow
async def test_a_paste_of_a_megabyte_is_one_mark_and_sent_as_a_whole(desk, script: ScriptedProvider) -> None:
    pasted = "high and low\n" * 80_000
    script.turn(text("Long."))

    async with desk() as user:
        user.app.take_paste(pasted)
        await user.sees("[paste #1 +80000 lines]")
        await user.press("enter")
        await user.sees("Long.")

    assert script.requests[0].user_text == pasted.rstrip()


@pytest.mark.slow
async def test_a_terminal_that_changes_its_size_during_an_answer_displays_all_of_it(
    desk, script: ScriptedProvider
) -> None:
    script.turn(text("The tide is high at six", 5), delay(0.2), text("and low at noon.", 5))

    async with desk() as user:
        await user.type("How is the tide?", "enter")
        for size in [(1, 1), (20, 6), (300, 80), (80, 24)] * 5:
            await user.pilot.resize_terminal(*size)
            await user.pilot.pause(0.01)

        await user.sees("How is the tide?", "The tide is high at six", "and low at noon.")


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


@pytest.mark.slow
@pytest.mark.parametrize("count", [5_000, 100_000])
async def test_of_a_long_session_only_what_is_visible_is_laid_out(desk, pi_session: AgentSession, count: int) -> None:
    for number in range(count):
        pi_session.session_manager.append_message(UserMessage(content=f"message {number} of the log"))

    async with desk() as user:
        await user.sees(f"message {count - 1} of the log")
        await user.press("pageup")
        await user.sees(f"message {count - 9} of the log")
        await user.press("home")
        await user.sees("message 0 of the log")
        await user.pilot.resize_terminal(60, 20)
        await user.sees("message 0 of the log")
        await user.press("end")
        await user.sees(f"message {count - 1} of the log")

        assert len(user.app.transcript.anchored.cache) < 100


@pytest.mark.parametrize(
    ("command", "end"),
    [("head -c 10000000 /dev/zero | tr '\\0' x; echo the end", "the end"), ("seq 500000", "500000")],
)
async def test_of_ten_megabytes_that_a_command_prints_the_end_is_kept(desk, command: str, end: str) -> None:
    async with desk() as user:
        await user.type(f"!{command}", "enter")
        await user.when(lambda: not user.app.talk.busy)
        await user.sees(end)
        kept = sum(len(str(block.output)) for block in user.app.state.blocks if block.kind == "bash")

    assert kept < 300_000
