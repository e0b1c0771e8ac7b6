"""A tool gives a task to a session of its own: progress, aborts and cost go where the user sees them."""

from __future__ import annotations

import asyncio

import pytest

from pi_hookspecs import PiError, ToolContext, ToolResult, hookimpl, tool
from pi_testing import make_tool, stall, text, tool_call, until, usage


@tool(label="Ask a child")
async def child(task: str, ctx: ToolContext) -> ToolResult:
    """Give a task to a fresh agent with read-only tools and return its answer."""
    async with ctx.create_session(tools=["look"], model=ctx.model) as session:
        session.subscribe(ctx.relay)
        answer = await session.prompt(task)
        return ToolResult.text(answer.text, usage=session.usage)


@pytest.fixture
async def session(session_of):
    session = session_of(extension_factories=[add_tools])
    await session.start()
    return session


def add_tools(pi):
    pi.register_tool(child)
    pi.register_tool(make_tool("look", "a cat", default_active=False))


async def test_the_answer_comes_back_and_the_progress_shows_under_the_call(session, script, recorder):
    script.turn(tool_call("child", task="What is there?"))
    script.turn(text("Let me see."), tool_call("look", at="sofa")).turn(text("A cat."))
    script.turn(text("It is a cat."))
    answer = await session.prompt("look around")

    updates = [event.partial_result for event in recorder.of("tool_execution_update")]
    assert answer.text == "It is a cat."
    assert script.requests[-1].tool_results[0].text == "A cat."
    assert updates[-1].content[0].text == "Let me see.\nlook(at='sofa')\nA cat."
    assert updates[-1].details["turns"] == 2
    assert updates[-1].details["toolCalls"] == 1


async def test_the_child_knows_nothing_of_the_conversation_and_leaves_nothing_in_it(session, script):
    script.turn(tool_call("child", task="What is there?")).turn(text("A cat.")).turn(text("It is a cat."))
    await session.prompt("look around")

    assert [message.text for message in script.requests[1].messages] == ["What is there?"]
    assert [tool.name for tool in script.requests[1].context.tools] == ["look"]
    assert [message.role for message in session.messages] == ["user", "assistant", "toolResult", "assistant"]


async def test_its_cost_counts(session, script):
    script.turn(tool_call("child", task="go")).turn(text("Done."), usage(input=100, output=20)).turn(text("Fine."))
    await session.prompt("look around")
    result = next(message for message in session.messages if message.role == "toolResult")

    assert (result.usage.input, result.usage.output) == (100, 20)
    assert session.session_manager.stats().tokens.input >= 100


async def test_an_abort_passes_down(session, script):
    script.turn(tool_call("child", task="go")).turn(text("Thinking"), stall())
    running = asyncio.create_task(session.prompt("look around"))
    await until(lambda: len(script.requests) > 1)
    await session.abort()
    await running

    assert script.requests[1].options.signal.aborted


async def test_its_calls_are_guarded_as_the_sessions_own(session_of, script):
    from pi_hookspecs import ToolCallResult

    def guard(pi):
        pi.on("tool_call", lambda event: ToolCallResult(block=event.tool_name == "look", reason="No peeking."))

    session = session_of(extension_factories=[add_tools, guard])
    script.turn(tool_call("child", task="go")).turn(tool_call("look")).turn(text("I may not.")).turn(text("Pity."))
    await session.prompt("look around")

    assert "No peeking." in script.requests[2].tool_results[0].text


async def test_children_of_children_end_somewhere(session):
    made = [session]
    for _ in range(4):
        made.append(made[-1].ctx.create_session())
    with pytest.raises(PiError, match="Child sessions can be nested 4 deep"):
        made[-1].ctx.create_session()
    for each in reversed(made):
        await each.dispose()


class Stamps:
    """A plugin with a tool."""

    @hookimpl
    def activate(self, pi):
        pi.register_tool(make_tool("stamp", "stamped"))


async def test_a_child_does_without_plugins(session_of, script):
    offered = {}

    @tool
    async def compare(ctx: ToolContext) -> str:
        """Compare the tools that child sessions have."""
        for disable in ([], ["plugin-0"]):
            async with ctx.create_session(disable=disable) as child:
                offered[tuple(disable)] = "stamp" in [each.name for each in child.get_all_tools()]
                answer = await child.prompt("go")
        return answer.text

    session = session_of(Stamps(), tools=[compare])
    await session.start()
    script.turn(tool_call("compare")).turn(text("one")).turn(text("two")).turn(text("Done."))
    await session.prompt("compare them")

    assert offered == {(): True, ("plugin-0",): False}
    assert script.requests[-1].tool_results[0].text == "two"
    assert "stamp" in [each.name for each in session.get_all_tools()]


@pytest.mark.parametrize(
    ("disable", "error"),
    [
        (["plugin-9"], "Unknown plugin: plugin-9"),
        ("plugin-0", "disable must be a list of names, not the string 'plugin-0'"),
    ],
)
async def test_only_plugins_that_are_there_can_be_left_out(session_of, script, disable, error):
    @tool
    async def compare(ctx: ToolContext) -> str:
        """Compare the tools that child sessions have."""
        async with ctx.create_session(disable=disable) as child:
            return child.session_id

    session = session_of(tools=[compare])
    await session.start()
    script.turn(tool_call("compare")).turn(text("Done."))
    await session.prompt("compare them")

    assert error in script.requests[-1].tool_results[0].text
