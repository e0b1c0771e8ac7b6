"""However the network cuts a stream, and whatever a host puts into it, it is read as the contract wants."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_hookspecs import Model
from pi_provider_google.reading import Reading
from pi_provider_kit import SseDecoder
from pi_testing import ReaderContract
from pi_testing.fake_servers.google import answer_events, call, error_event, text, thought
from pi_testing.reader_contract import ANY_JSON, read_events

OUR_ID = re.compile(r"_\d+_(\d)'")

PART = st.fixed_dictionaries(
    {},
    optional={
        "text": st.text(max_size=4),
        "thought": st.booleans(),
        "thoughtSignature": st.sampled_from(["", "c2ln", "bW9yZQ=="]),
        "functionCall": st.fixed_dictionaries(
            {"name": st.sampled_from(["read", "ls"])},
            optional={"id": st.sampled_from(["", "a", "b"]), "args": st.dictionaries(st.text(max_size=2), ANY_JSON)},
        ),
    },
)


class TestGemini(ReaderContract):
    events = answer_events(
        thought("Hm, ", "\N{THINKING FACE}.", signature="c2ln"),
        text("Gr\u00fc", "\u00dfe \N{GRINNING FACE}\n", "\u2028 end"),
        call("read", call_id="call_1", path="\u00e4\n\N{CAT FACE}"),
        call("write", path="b", content='"quoted"', signature="c2ln"),
    )
    odd_events = (
        {"response": answer_events(text("in a wrapper"))[0]},
        {"promptFeedback": {"safetyRatings": []}},
        error_event(500, "Oh."),
    )
    decoder = SseDecoder

    def make_reader(self, model):
        return Reading(model)

    def content_of(self, message):
        return [OUR_ID.sub(r"_\1'", repr(block)) for block in message.content]  # our own ids have the time


@pytest.mark.slow
class TestCodeAssist(TestGemini):
    def to_wire(self, events):
        return super().to_wire([{"response": each, "traceId": "trace_1"} for each in events])


@settings(max_examples=6 * settings().max_examples, deadline=None)
@given(parts=st.lists(PART, max_size=8), end=st.sampled_from(["STOP", "MAX_TOKENS", "SAFETY", None]))
def test_any_order_of_parts(parts, end):
    chunks = [{"candidates": [{"content": {"parts": [part]}}]} for part in parts]
    chunks.append({"candidates": [{"finishReason": end}]})
    reading = Reading(Model(id="gemini-fake", name="Fake", api="x", provider="fake"))
    events = list(read_events(reading, (json.dumps(each).encode() for each in chunks)))

    last = events[-1]
    message = last.message if last.type == "done" else last.error
    text = "".join(part.get("text", "") for part in parts if "functionCall" not in part and not part.get("thought"))
    assert "".join(block.text for block in message.content if block.type == "text") == text
    assert [call.name for call in message.tool_calls] == [
        part["functionCall"]["name"] for part in parts if "functionCall" in part
    ]
    assert len({call.id for call in message.tool_calls}) == len(message.tool_calls)
    opened = [event.content_index for event in events if event.type.endswith("_start")]
    assert opened == list(range(len(opened)))
    assert len([event for event in events if event.type.endswith("_end")]) in (len(opened), len(opened) - 1)
