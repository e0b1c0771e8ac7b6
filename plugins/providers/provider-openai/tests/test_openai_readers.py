"""However the network cuts a stream, and whatever a host puts into it, both APIs are read as the contract wants."""

from __future__ import annotations

import pytest

from pi_provider_kit import SseDecoder
from pi_provider_openai.completions_events import CompletionsFeeder
from pi_provider_openai.responses_events import ResponsesFeeder
from pi_testing import ReaderContract
from pi_testing.fake_servers.openai import DONE, call, completion_events, reasoning, response_events, text

BLOCKS = (
    reasoning("Hm, ", "\N{THINKING FACE}."),
    text("Gr\u00fc", "\u00dfe \N{GRINNING FACE}\n", "\u2028 end"),
    call("call_1", "read", path="\u00e4\n\N{CAT FACE}"),
    call("call_2", "write", path="b", content='"quoted"'),
)

DETAILS = {"choices": [{"delta": {"reasoning_details": [{"type": "reasoning.text", "text": "a", "index": 0}]}}]}


class TestCompletions(ReaderContract):
    events = completion_events(*BLOCKS)
    odd_events = (DETAILS,)
    decoder = SseDecoder
    end_mark = DONE

    def make_reader(self, model):
        return CompletionsFeeder(model)


@pytest.mark.slow
class TestResponses(ReaderContract):
    events = response_events(*BLOCKS)
    decoder = SseDecoder
    corrects_itself = True

    def make_reader(self, model):
        return ResponsesFeeder(model)
