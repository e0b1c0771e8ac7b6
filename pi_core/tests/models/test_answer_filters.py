"""The filters of plugins between a provider and everything that reads its answers."""

from __future__ import annotations

from attrs import evolve

from pi_core.models.answer_filters import stream_with_filters
from pi_hookspecs import Context, Done, MessageBuilder, Model, StreamOptions, TextContent

MODEL = Model(id="m", name="m", api="a", provider="p")


class Upper:
    """Returns the text of answers in capitals."""

    def filter_answer(self, model, context, options, settings):
        def change(event):
            if event.type == "done":
                content = tuple(evolve(block, text=block.text.upper()) for block in event.message.content)
                return [Done(message=evolve(event.message, content=content))]
            return [] if event.type == "text_delta" else [event]

        return change


class Twice(Upper):
    """Returns the text twice."""

    def filter_answer(self, model, context, options, settings):
        def change(event):
            if event.type != "done":
                return [event]
            return [Done(message=evolve(event.message, content=event.message.content * 2))]

        return change


class NoOpinion:
    """Leaves every answer as it is."""

    def filter_answer(self, model, context, options, settings):
        return None


class Broken(NoOpinion):
    """Fails at the first text."""

    def filter_answer(self, model, context, options, settings):
        def change(event):
            if event.type == "text_delta":
                raise ValueError("no idea")
            return [event]

        return change


class Host:
    """Provides services, in load order."""

    def __init__(self, *services):
        self.found = [type("Found", (), {"plugin": type(each).__name__.lower(), "thing": each}) for each in services]

    def services(self, kind):
        assert kind == "AnswerFilter"
        return self.found


async def streamed(*services):
    closed = []

    async def provider(model, context, options):
        builder = MessageBuilder(model)
        try:
            yield builder.start()
            opened = builder.text_start()
            yield opened
            yield builder.text(opened.content_index, "hello")
            yield builder.text_end(opened.content_index)
            yield builder.done()
        finally:
            closed.append(True)

    stream = stream_with_filters(provider, Host(*services), None)
    events = [event async for event in stream(MODEL, Context(), StreamOptions())]
    assert closed == [True]
    return events


async def test_each_filter_gets_what_the_one_before_returned():
    events = await streamed(Upper(), Twice())

    assert [event.type for event in events] == ["start", "text_start", "text_end", "done"]
    assert events[-1].message.content == (TextContent("HELLO"), TextContent("HELLO"))


async def test_a_filter_without_an_opinion_costs_nothing():
    events = await streamed(NoOpinion())

    assert [event.type for event in events] == ["start", "text_start", "text_delta", "text_end", "done"]


async def test_a_filter_that_fails_ends_the_answer_with_its_plugins_name_and_keeps_the_text():
    events = await streamed(Broken())

    assert [event.type for event in events] == ["start", "text_start", "error"]
    assert "Plugin 'broken' failed while it read an answer: ValueError: no idea" in events[-1].error.error_message
    assert events[-1].error.content == (TextContent("hello"),)
