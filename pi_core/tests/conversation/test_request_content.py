"""What plugins read of a request: its messages before it is made, its answer afterwards."""

from __future__ import annotations

import pytest

from pi_hookspecs import Context, SideRequest, UserMessage, hookimpl, tool
from pi_testing import text, tool_call


class Reads:
    """Keeps what requests ask and what is answered, and clears the arguments of calls in what it was given."""

    def __init__(self):
        self.asked, self.answered = [], []

    @hookimpl
    def before_model_request(self, event):
        self.asked.append((event.system_prompt, [each.text for each in event.messages]))

    @hookimpl
    def model_usage(self, event):
        self.answered.append(event.answer.text)
        for call in event.answer.tool_calls:
            call.arguments.clear()


@tool
async def look(path: str) -> str:
    """Look at a file."""
    return f"looked at {path}"


QUESTION = Context(system_prompt="Be short.", messages=(UserMessage(content="sum up"),))

reads = Reads()


@pytest.mark.pi(plugins=[reads], tools=[look])
async def test_plugins_read_what_each_request_asks_and_gets_and_change_nothing(pi_session, script):
    script.turn(text("one"), tool_call("look", path="x")).turn(text("two")).turn(text("a summary"))
    await pi_session.prompt("first")
    await pi_session.complete(QUESTION, SideRequest(purpose="title"))

    assert [messages[-1] for _, messages in reads.asked] == ["first", "looked at x", "sum up"]
    assert reads.asked[2] == ("Be short.", ["sum up"])
    assert reads.answered == ["one", "two", "a summary"]
    assert pi_session.messages[1].tool_calls[0].arguments == {"path": "x"}
