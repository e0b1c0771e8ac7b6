"""Messages in short, and the end of a stream."""

from __future__ import annotations

import pytest

from pi_hookspecs import Model, TextContent, UserMessage
from pi_hookspecs.stream import MessageBuilder
from pi_testing import conversation as said

MODEL = Model(id="m", name="M", api="a", provider="p")


def spoken():
    builder = MessageBuilder(MODEL)
    return [builder.start(), builder.text_start(), builder.text(0, "Hi"), builder.text_end(0), builder.done()]


def test_equal_content_is_equal():
    assert said.user("Hi") == UserMessage(content="Hi", timestamp=0)
    assert said.user(said.text("a"), said.image()).content == (TextContent("a"), said.image())
    assert said.answer(MODEL, said.text("a"), stop_reason="length").stop_reason == "length"
    assert said.result("c", "a", said.image(), is_error=True).content == (TextContent("a"), said.image())


def test_the_final_message_is_that_of_the_end():
    assert said.final_message(spoken()).text == "Hi"
    assert said.final_message([MessageBuilder(MODEL).fail("no")]).error_message == "no"


@pytest.mark.parametrize("broken", [slice(1, None), slice(None, -1)], ids=["no start", "no end"])
def test_an_incomplete_stream_is_reported(broken):
    with pytest.raises(AssertionError, match="a stream"):
        said.final_message(spoken()[broken])


def test_a_stream_that_continues_after_its_end_is_reported():
    with pytest.raises(AssertionError, match="ends once"):
        said.final_message([*spoken(), spoken()[-1]])
