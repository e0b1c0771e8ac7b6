"""An answer is read as it comes, and whatever fails ends it."""

from __future__ import annotations

import pytest

from pi_hookspecs import Aborted, MissingKey, RequestFailed, StreamOptions
from pi_provider_kit import AnswerBuilder, read_answer


class Reader:
    """Reads words; ``stop`` is the last one."""

    def __init__(self, model):
        self.builder = AnswerBuilder(model)
        self.finished = False

    def feed(self, word):
        self.finished = word == "stop"
        return [] if self.finished else [self.builder.text_start(), self.builder.text(0, word)]

    def end(self):
        if not self.finished:
            raise RequestFailed("the answer is not complete")
        return [self.builder.text_end(0), self.builder.done()]


class Source:
    """What a request brings: words, or an exception that is raised in their place."""

    def __init__(self, *brought):
        self.brought = brought
        self.taken = []
        self.closed = False

    async def __call__(self):
        try:
            for each in self.brought:
                if isinstance(each, BaseException):
                    raise each
                self.taken.append(each)
                yield each
        finally:
            self.closed = True


async def read(model, source, **more):
    made = []

    def reader():
        if not made:
            made.append(Reader(model))
        return made[0]

    return [event async for event in read_answer(source(), reader, StreamOptions(), **more)]


async def test_an_answer_ends_with_what_its_reader_makes_of_the_end(model):
    events = await read(model, Source("Hi", "stop"))

    assert [event.type for event in events] == ["text_start", "text_delta", "text_end", "done"]


async def test_what_comes_after_the_end_is_not_read_and_the_request_is_closed(model):
    source = Source("Hi", "stop", "more")
    events = await read(model, source)

    assert events[-1].type == "done"
    assert source.taken == ["Hi", "stop"]
    assert source.closed


async def test_an_answer_that_breaks_off_keeps_what_was_received(model):
    *_, last = await read(model, Source("Hi", RequestFailed("it broke")))

    assert last.type == "error"
    assert last.error.text == "Hi"
    assert last.error.error_message.startswith("it broke")


async def test_a_stream_without_an_end_is_a_failure(model):
    *_, last = await read(model, Source("Hi"))

    assert last.error.error_message.startswith("the answer is not complete")


async def test_an_abort_is_no_failure(model):
    *_, last = await read(model, Source("Hi", Aborted("enough")))

    assert last.error.stop_reason == "aborted"


async def test_a_codec_s_own_bug_is_an_answer_too(model):
    (only,) = await read(model, Source(KeyError("choices")))

    assert only.type == "error"
    assert "(KeyError: 'choices')" in only.error.error_message


async def test_a_codec_can_make_more_of_a_failure(model):
    (only,) = await read(
        model, Source(RequestFailed("429")), explain=lambda problem: RequestFailed(f"Limit: {problem}")
    )

    assert only.error.error_message.startswith("Limit: 429")


async def test_who_is_not_logged_in_gets_no_answer(model):
    with pytest.raises(MissingKey):
        await read(model, Source(MissingKey("log in")))
