"""Properties of what goes over the pipes: lines that are cut anywhere, and changes that are applied."""

from __future__ import annotations

import json
from contextlib import suppress
from copy import deepcopy
from enum import Enum
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pi_client.framing import LineSplitter
from pi_core.wire import dumps
from pi_hookspecs import PiError
from pi_hookspecs.samples import sample_event
from pi_isolated.events import EventWriter, UnsentEvent, changed_by, grown_by, growth_of
from pi_isolated.process import _widen, message_line, message_of
from pi_testing import for_each

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.sampled_from("abc"), VALUES | st.lists(VALUES, max_size=5), max_size=3)


class Colour(Enum):
    RED = "red"


@settings(max_examples=30)
@given(st.lists(OBJECTS, max_size=5), st.lists(st.integers(0, 200), max_size=6))
def test_messages_survive_however_their_lines_are_cut(messages, cuts):
    lines = [dumps(each) for each in messages]
    data = b"".join(each + b"\n" for each in lines)
    splitter = LineSplitter(1 << 20)
    places = [0, *sorted(min(each, len(data)) for each in cuts), len(data)]

    found = [line for begin, end in pairwise(places) for line in splitter.feed(data[begin:end])]

    assert found == lines


@settings(max_examples=50)
@given(st.lists(OBJECTS, min_size=1, max_size=4))
def test_a_program_that_applies_the_changes_has_what_pi_has(payloads):
    writer, copy = EventWriter(), {}
    for payload in payloads:
        event = SimpleNamespace(payload=payload)
        copy = changed_by(copy, writer.delta("before_provider_request", event))

        assert copy == payload


BLOCKS = st.fixed_dictionaries({"type": st.sampled_from(["text", "thinking"]), "text": st.text(max_size=5)}) | OBJECTS
ANSWERS = st.fixed_dictionaries({"usage": VALUES, "content": st.lists(BLOCKS, max_size=3)})


@settings(max_examples=100)
@given(st.lists(ANSWERS, min_size=1, max_size=4), st.text(max_size=5))
def test_a_program_that_continues_the_texts_of_an_answer_has_what_pi_has(answers, more):
    before: dict[str, Any] = {}
    copy: dict[str, Any] = {}
    for answer in answers:
        longer = deepcopy(answer)
        for block in longer["content"][-1:]:
            block["text"] = f"{block.get('text', '')}{more}"
        for each in (answer, longer):
            copy = grown_by(copy, json.loads(json.dumps(growth_of(before, each))))
            before = each

            assert copy == each


def test_of_a_text_that_has_become_longer_only_the_rest_is_sent():
    block = {"type": "text", "text": "High "}
    before = {"role": "assistant", "content": [{"type": "thinking", "thinking": "Tides"}, block]}
    after = {"role": "assistant", "content": [before["content"][0], {**block, "text": "High water"}]}

    assert growth_of(before, after) == {
        "set": {"content": []},
        "keep": {"content": 2},
        "unset": [],
        "append": {"content": {"text": "water"}},
    }


def test_of_an_event_that_was_not_sent_the_next_one_says_everything():
    writer = EventWriter()
    event = UnsentEvent("before_provider_request", sample_event("before_provider_request"))
    with suppress(PiError), writer.sending(event):
        raise PiError("a message of 20 MB is too long")

    assert [bool(writer.write(event)["delta"]["set"]) for _ in range(2)] == [True, False]


@given(st.binary(max_size=50), st.integers(1, 20))
def test_a_line_over_the_limit_is_noticed_before_it_ends(data, limit):
    splitter = LineSplitter(limit)

    splitter.feed(data)

    assert splitter.is_too_long == (len(data.rpartition(b"\n")[2]) > limit)


@given(
    OBJECTS | st.dictionaries(st.text(max_size=3), st.floats() | st.binary(max_size=3) | st.datetimes() | st.uuids())
)
def test_a_message_is_the_same_text_whatever_is_in_it(values):
    message = {"type": "result", "value": values, "path": Path("a"), "colour": Colour.RED, "more": (1, {2}, 1 << 70)}

    assert message_line({"type": "event", "data": values}) == dumps({"type": "event", "data": values}) + b"\n"
    assert json.loads(message_line(message)) == json.loads(dumps(message))


@for_each(
    ("line", "text"),
    [
        (rb'["cut \ud83d"]', "cut \ufffd"),
        (rb'["\uDE00 cut"]', "\ufffd cut"),
        (rb'["\ud83d\ud83d\ude00"]', "\ufffd😀"),
        (rb'["\\ud83d \n \ud83d"]', "\\ud83d \n \ufffd"),
    ],
)
def test_half_a_surrogate_pair_of_a_text_that_was_cut_is_replaced(line, text):
    assert message_of(line) == [text]


def test_the_pipe_of_a_program_that_has_ended_is_left_alone(tmp_path):
    with (tmp_path / "pipe").open("wb") as pipe:
        pass
    transport = SimpleNamespace(get_extra_info=lambda _name: pipe)

    _widen(SimpleNamespace(stdin=SimpleNamespace(transport=transport)))

    assert pipe.closed
