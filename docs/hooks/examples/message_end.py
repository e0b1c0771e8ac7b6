"""Replaces a name in every answer before it is stored."""

from attrs import evolve

from pi_hookspecs import AssistantMessage, MessageEndResult, TextContent, hookimpl


@hookimpl
def message_end(event):
    if not isinstance(event.message, AssistantMessage):
        return None
    content = [
        evolve(block, text=block.text.replace("Ada", "[name]")) if isinstance(block, TextContent) else block
        for block in event.message.content
    ]
    return MessageEndResult(message=evolve(event.message, content=tuple(content)))


# Test

from pi_testing import text


async def test_example(pi_session, script):
    script.turn(text("Hello, Ada."))

    answer = await pi_session.prompt("Hi")

    assert answer.text == "Hello, [name]."
