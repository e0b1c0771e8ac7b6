"""Removes keys from tool results before the model and the session see them."""

import re

from attrs import evolve

from pi_hookspecs import TextContent, ToolResultResult, hookimpl

KEY = re.compile(r"sk-[A-Za-z0-9]{8,}")


@hookimpl
def tool_result(event):
    content = [
        evolve(block, text=KEY.sub("[key]", block.text)) if isinstance(block, TextContent) else block
        for block in event.content
    ]
    return ToolResultResult(content=content)


# Test

from pi_testing import make_tool, text, tool_call


async def test_example(pi_session, script):
    pi_session.add_tool(make_tool("echo"), "example")  # it answers with its arguments
    script.turn(tool_call("echo", text="sk-0123456789")).turn(text("A key."))

    await pi_session.prompt("Print it")

    assert "sk-0123456789" not in script.requests[1].tool_results[0].text
    assert "[key]" in script.requests[1].tool_results[0].text
