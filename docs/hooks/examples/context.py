"""Shortens long tool results in requests; the session keeps them in full."""

from attrs import evolve

from pi_hookspecs import ContextResult, TextContent, ToolResultMessage, hookimpl


@hookimpl
def context(event):
    return ContextResult(messages=[shortened(each) for each in event.messages])


def shortened(message):
    if isinstance(message, ToolResultMessage) and len(message.text) > 1000:
        return evolve(message, content=(TextContent(f"{message.text[:100]} ... (shortened)"),))
    return message


# Test

from pi_testing import make_tool, text, tool_call


async def test_example(pi_session, script):
    pi_session.add_tool(make_tool("echo"), "example")  # it answers with its arguments
    script.turn(tool_call("echo", text="x" * 2000)).turn(text("That is long."))

    await pi_session.prompt("Print it")

    assert script.requests[1].tool_results[0].text.endswith("(shortened)")
    assert len(pi_session.messages[2].text) > 1000
