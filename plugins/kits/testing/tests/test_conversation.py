"""Messages in short, and the end of a stream."""

from __future__ import annotations

import pytest

from pi_hookspecs import Model, TextContent, UserMessage
from pi_hookspecs.stream import MessageBuilder
from pi_testing import conversation as chat

MODEL = Model(id="m", name="M", api="a", provider="p")


def spoken():
    builder = MessageBuilder(MODEL)
    return [builder.start(), builder.text_start(), builder.text(0, "Hi"), builder.text_end(0), builder.done()]


def test_equal_content_is_equal():
    assert chat.user("Hi") == UserMessage(content="Hi", timestamp=0)
    assert chat.user(chat.text("a"), chat.image()).content == (TextContent("a"), chat.image())
    assert chat.answer(MODEL, chat.text("a"), stop_reason="length").stop_reason == "length"
    assert chat.result("c", "a", chat.image(), is_error=True).content == (TextContent("a"), chat.image())


def test_the_final_message_is_that_of_the_end():
    assert chat.final_message(spoken()).text == "Hi"
    assert chat.final_message([MessageBuilder(MODEL).fail("no")]).error_message == "no"


@pytest.mark.parametrize("broken", [slice(1, None), slice(None, -1)], ids=["no start", "no end"])
def test_an_incomplete_stream_is_reported(broken):
    with pytest.raises(AssertionError, match="a stream"):
        chat.final_message(spoken()[broken])


def test_a_stream_that_continues_after_its_end_is_reported():
    with pytest.raises(AssertionError, match="ends once"):
        chat.final_message([*spoken(), spoken()[-1]])
