"""An answer is a text that knows its data, its cost and its messages."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

from pi_core import Answer
from pi_hookspecs import Usage, UserMessage


@pytest.fixture
def answer():
    messages = [UserMessage(content="hi", timestamp=1)]
    return Answer('{"n": 3}', output={"n": 3}, usage=Usage(input=7), messages=messages)


def test_it_is_a_text(answer):
    assert isinstance(answer, str)
    assert answer == '{"n": 3}'
    assert hash(answer) == hash('{"n": 3}')
    assert json.dumps([answer]) == '["{\\"n\\": 3}"]'
    assert f"{answer}" == str(answer)
    assert type(str(answer)) is str


def test_it_has_data_cost_and_messages(answer):
    assert (answer.output, answer.usage.input, answer.messages[0].text) == ({"n": 3}, 7, "hi")


@pytest.mark.parametrize("name", ["output", "usage", "messages", "other"])
def test_it_cannot_be_changed(answer, name):
    with pytest.raises(AttributeError, match=name):
        setattr(answer, name, None)
    with pytest.raises(AttributeError, match=name):
        delattr(answer, name)


def test_its_repr_is_short():
    long = Answer("word " * 1000, output="word " * 1000, usage=Usage())

    assert len(repr(long)) < 100
    assert repr(Answer("Hi", output="Hi", usage=Usage())) == "Answer('Hi')"
    assert repr(Answer("3", output=3, usage=Usage())) == "Answer('3', output=3)"


@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, lambda answer: pickle.loads(pickle.dumps(answer))],  # noqa: S301 - our own
)
def test_it_can_be_copied_and_stored(answer, copied):
    other = copied(answer)

    assert other == answer
    assert (other.output, other.usage, other.messages) == (answer.output, answer.usage, answer.messages)
