"""The contract of failures: the answer reports the error, keeps its text, and runs no incomplete call."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_core import is_context_overflow, is_throttling
from pi_hookspecs import AbortController
from pi_testing.contract_case import Calls, Says, needs
from pi_testing.contract_listen import asking, listen
from pi_testing.fake_servers import html_page, redirect, silence
from pi_testing.patience import soon
from pi_testing.stand_ins import make_tool
from pi_testing.tables import for_each

if TYPE_CHECKING:
    from pi_hookspecs import AssistantMessageEvent
    from pi_testing.contract_case import ProviderCase

__all__ = ["FailuresContract"]

_PATIENCE_MS = 2000
"""Until a silent server is given up; a client that has to connect first does so within it on a busy machine, too."""

OVERFLOWS = (
    "prompt is too long: 213462 tokens > 200000 maximum",
    "input is too long for requested model",
    "Your input exceeds the context window of this model.",
    "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
    "maximum prompt length is 131072",
    "Please reduce the length of the messages or completion.",
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    "prompt token count of 168000 exceeds the limit of 128000",
    "the request exceeds the available context size. try increasing the context size",
    "tokens to keep from the initial prompt is greater than the context length",
    "invalid params, context window exceeds limit",
    "Your request exceeded model token limit: 262144",
    "Prompt contains 99999 tokens, too large for model with 32768 maximum context length",
    "model_context_window_exceeded",
    "context_length_exceeded",
    "too many tokens in the request",
    "token limit exceeded",
    "request_too_large",
    "prompt exceeds max length",
    "context window exceeded",
    "over the maximum allowed input length of 30720 tokens",
    "the prompt is longer than the model's context length",
    "configured context size is 4096",
    "exceeded max context length",
    "Range of input length should be [1, 98304]",
)
"""One for each wording of a failure that the retry rules know and a body can have."""

HEADER = "gateway-0123456789"
WORDS = "These are the server's words"
TOOLS = (make_tool("read"),)


class FailuresContract:
    """Tests of aborts, refusals and interrupted answers."""

    # Aborts

    async def test_an_abort_before_the_request_is_an_answer(self, case: ProviderCase) -> None:
        controller = AbortController()
        controller.abort()
        case.text("Hello")
        reply = await listen(case, signal=controller.signal)

        assert (reply.aborted.text, reply.aborted.error_message) == ("", "Request was aborted")

    async def test_an_abort_in_the_midst_keeps_the_text_and_leaves(self, case: ProviderCase) -> None:
        controller = AbortController()
        case.stalls("Hel")
        reply = await listen(case, signal=controller.signal, on_event=lambda event: _abort_at_text(event, controller))

        assert (reply.aborted.text, reply.aborted.error_message) == ("Hel", "Request was aborted")
        await case.left()

    async def test_an_abort_stops_a_burst(self, case: ProviderCase) -> None:
        controller = AbortController()
        case.text("Hel", "lo", ".")
        reply = await listen(case, signal=controller.signal, on_event=lambda event: _abort_at_text(event, controller))

        assert reply.aborted.text == "Hel"

    async def test_an_abort_ends_the_wait_for_an_answer(self, case: ProviderCase) -> None:
        controller = AbortController()
        asked = case.waits()
        answer = asyncio.create_task(listen(case, signal=controller.signal))
        await soon(asked.wait(), lambda: "the request to arrive")
        controller.abort()
        reply = await answer

        assert not reply.aborted.tool_calls
        await case.left()

    async def test_a_cancelled_task_leaves_at_once(self, case: ProviderCase) -> None:
        asked = case.waits()
        answer = asyncio.create_task(listen(case))
        await soon(asked.wait(), lambda: "the request to arrive")
        answer.cancel()
        with suppress(asyncio.CancelledError):
            await soon(answer, lambda: "the cancelled task to end")

        assert answer.cancelled()
        await case.left()

    async def test_who_stops_listening_leaves(self, case: ProviderCase) -> None:
        case.stalls("Hel")
        stream: Any = case.provider.stream(case.model, asking(), case.options())
        async for event in stream:
            if event.type == "text_delta":
                break
        await soon(stream.aclose(), lambda: "the stream to close")

        await case.left()

    # Refusals

    @needs("http")
    @for_each("status", [400, 401, 402, 403, 404, 413, 422, 429, 500, 502, 503, 529])
    async def test_a_refusal_says_status_and_words(self, case: ProviderCase, status: int) -> None:
        case.refuses(status, WORDS)
        reply = await listen(case)

        assert str(status) in reply.error
        assert WORDS in reply.error
        assert re.search(r"[A-Z][a-z].*\.$", reply.error.partition(WORDS)[2]), f"{reply.error!r} lacks what to do"
        assert set(reply.types) <= {"start", "error"}
        assert reply.message.content == ()

    @needs("http")
    async def test_every_overflow_is_known_as_one(self, case: ProviderCase) -> None:
        for overflow in OVERFLOWS:
            case.refuses(400, overflow)
            reply = await listen(case)

            assert overflow in reply.error
            assert is_context_overflow(reply.message), reply.error

    @needs("http")
    async def test_a_request_too_large_is_an_overflow(self, case: ProviderCase) -> None:
        case.refuses(413, "Request exceeds the maximum size")
        reply = await listen(case)

        assert is_context_overflow(reply.message), reply.error

    @needs("http")
    @for_each("status", [401, 403, 404, 500, 529])
    async def test_no_other_refusal_is_an_overflow(self, case: ProviderCase, status: int) -> None:
        case.refuses(status, WORDS)
        reply = await listen(case)

        assert not is_context_overflow(reply.message), reply.error

    @needs("http")
    @for_each("headers", [{}, {"retry_after": "7"}, {"retry_after_ms": "7000"}])
    async def test_too_many_requests_may_say_when_to_come_back(
        self, case: ProviderCase, headers: dict[str, str]
    ) -> None:
        case.refuses(429, "Rate limit reached", **headers)
        reply = await listen(case)

        assert is_throttling(reply.error), reply.error
        assert not is_context_overflow(reply.message), reply.error
        if "failure_details" in case.supports:
            known = reply.message.extra["requestFailure"]
            assert (known["status"], known.get("retryAfterMs")) == (429, 7000 if headers else None)

    @needs("http")
    async def test_the_key_never_shows(self, case: ProviderCase) -> None:
        case.refuses(401, f"Incorrect key: {case.api_key}")
        reply = await listen(case)

        assert case.api_key is not None
        assert case.api_key not in reply.error
        assert case.api_key not in repr(reply.events)

    @needs("http")
    async def test_secret_headers_never_show(self, case: ProviderCase) -> None:
        case.refuses(401, f"Incorrect token: {HEADER}")
        reply = await listen(case, headers={"x-gateway-token": HEADER})

        assert "Incorrect token: " in reply.error
        assert HEADER not in repr(reply.events)

    @needs("bytes")
    async def test_what_is_secret_does_not_show_in_the_midst_of_an_answer(self, case: ProviderCase) -> None:
        case.breaks("Hel", f"Incorrect: {case.api_key} or {HEADER}")
        reply = await listen(case, headers={"x-gateway-token": HEADER})

        assert "Incorrect: " in reply.error
        assert case.api_key is not None
        assert case.api_key not in repr(reply.events)
        assert HEADER not in repr(reply.events)

    @needs("http")
    @for_each("status", [200, 403, 502])
    async def test_an_html_page_is_reported_by_its_title(self, case: ProviderCase, status: int) -> None:
        case.sends(html_page(status, "Some proxy's page"))
        reply = await listen(case)

        assert "Some proxy's page" in reply.error
        assert "<html" not in reply.error

    @needs("http")
    async def test_a_redirect_is_not_followed(self, case: ProviderCase) -> None:
        case.sends(redirect("http://127.0.0.1:9/elsewhere"))
        reply = await listen(case)

        assert "http://127.0.0.1:9/elsewhere" in reply.error

    @needs("http")
    async def test_nothing_answers(self, case: ProviderCase) -> None:
        reply = await listen(case, model=case.unreachable())

        assert reply.error.startswith("Connection error.")

    # Answers that break

    @needs("bytes", "tools")
    @for_each("ending", ["cut", "whole"])
    async def test_wherever_an_answer_breaks_its_text_is_kept(self, case: ProviderCase, ending: Any) -> None:
        words, call = Says(("so \u00e4", " \N{SNOWMAN}.")), Calls("call_1", "read", {"path": "\u00e4"})
        answer = case.recorded(words, call)
        body = answer.body
        for end in sorted({*range(0, len(body), max(1, len(body) // 20)), *_inside(body)}):
            case.sends(evolve(answer.cut(end), ending=ending))
            reply = await listen(case, asking(tools=TOOLS))

            message = reply.message
            assert words.whole.startswith(message.text), f"after {end} bytes: {message.text!r}"
            if message.stop_reason != "error":
                assert (message.text, len(message.tool_calls)) == (words.whole, 1), f"an answer of {end} bytes is whole"
            assert all(each.arguments == call.arguments for each in message.tool_calls), f"after {end} bytes"

    @needs("bytes")
    async def test_an_answer_without_its_end_is_an_error(self, case: ProviderCase) -> None:
        case.ends_early("Hel")
        reply = await listen(case)

        assert reply.error
        assert reply.message.text == "Hel", reply.error

    @needs("bytes")
    async def test_an_error_in_the_midst_keeps_the_text(self, case: ProviderCase) -> None:
        case.breaks("Hel", WORDS)
        reply = await listen(case)

        assert WORDS in reply.error
        assert reply.message.text == "Hel", reply.error

    @needs("bytes")
    @for_each("garbage", [b"data: {not json\n\n", b"data: [1]\n\n", b"data: null\n\n", b"data: 7\n\n"])
    async def test_garbage_is_never_an_exception(self, case: ProviderCase, garbage: bytes) -> None:
        answer = case.recorded(Says(("Hel", "lo")))
        case.sends(evolve(answer, pieces=(garbage, *answer.pieces)))
        reply = await listen(case)

        assert reply.message.text in ("", "Hello"), reply.message.error_message

    @needs("timeouts", "bytes")
    async def test_a_stalled_answer_says_how_long_it_waited(self, case: ProviderCase) -> None:
        case.stalls("Hel")
        reply = await listen(case, timeout_ms=_PATIENCE_MS)

        assert f"{_PATIENCE_MS / 1000:g} s" in reply.error
        assert reply.message.text == "Hel", reply.error
        await case.left()

    @needs("timeouts")
    async def test_an_answer_that_never_begins_is_not_waited_for(self, case: ProviderCase) -> None:
        case.waits()
        reply = await listen(case, timeout_ms=_PATIENCE_MS)

        assert f"{_PATIENCE_MS / 1000:g} s" in reply.error
        await case.left()

    @needs("progress", "bytes")
    async def test_an_answer_that_only_pings_is_given_up(self, case: ProviderCase) -> None:
        case.pings("Hel")
        reply = await listen(case, progress_timeout_ms=_PATIENCE_MS)

        assert f"{_PATIENCE_MS / 1000:g} s" in reply.error
        assert reply.message.text == "Hel", reply.error
        await case.left()

    @needs("progress", "http")
    async def test_headers_without_an_end_are_not_waited_for(self, case: ProviderCase) -> None:
        case.sends(silence(drip=b"x-more: 1\r\n"))
        reply = await listen(case, timeout_ms=_PATIENCE_MS)

        assert f"{_PATIENCE_MS / 1000:g} s" in reply.error
        await case.left()

    async def test_after_a_failure_the_next_request_is_answered(self, case: ProviderCase) -> None:
        controller = AbortController()
        case.stalls("Hel")
        await listen(case, signal=controller.signal, on_event=lambda event: _abort_at_text(event, controller))
        case.text("Hello")
        reply = await listen(case)

        assert reply.done.text == "Hello"


def _abort_at_text(event: AssistantMessageEvent, controller: AbortController) -> None:
    if event.type == "text_delta":
        controller.abort()


def _inside(body: bytes) -> list[int]:
    """Return places inside characters of more than one byte."""
    return [at for at in range(1, len(body)) if 0x80 <= body[at] < 0xC0]  # noqa: PLR2004 - how UTF-8 goes on
