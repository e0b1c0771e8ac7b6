"""Copies of a conversation that are kept are as good as new ones, and only new messages are copied."""

from __future__ import annotations

from copy import deepcopy

from hypothesis import given
from hypothesis import strategies as st

from pi_core.conversation import event_copies
from pi_core.conversation.event_copies import Copies
from pi_core.session.copies import copied_data
from pi_hookspecs import AssistantMessage, CustomMessage, ToolCall, ToolResultMessage, UserMessage


class Opaque:
    """A tool's own object, whose changes nothing sees but a comparison."""

    def __init__(self):
        self.value = 0

    def __eq__(self, other):
        return isinstance(other, Opaque) and self.value == other.value

    __hash__ = None


class Unfriendly:
    """A tool's own object that refuses to be compared, as arrays do."""

    def __eq__(self, other):
        raise ValueError("the truth value is ambiguous")

    __hash__ = None


def message(kind, number):
    match kind:
        case "user":
            return UserMessage(content=str(number), timestamp=1)
        case "call":
            content = (ToolCall(str(number), "ls", {"path": str(number), "deep": [{"a": 1}]}),)
            return AssistantMessage(content=content, api="x", provider="p", model="m", timestamp=1)
        case "result":
            details = {"lines": [number], "none": {}}
            return ToolResultMessage(tool_call_id="1", tool_name="ls", details=details, timestamp=1)
        case "empty":
            return ToolResultMessage(tool_call_id="1", tool_name="ls", details={}, timestamp=1)
        case "opaque":
            return CustomMessage(custom_type="x", content="", details={"of": Opaque()}, timestamp=1)


def spoil(data, how):
    """Change plain data in place, at one of its depths."""
    if isinstance(data, dict) and how == "add":
        data["added"] = True
    elif isinstance(data, dict) and how == "deep" and data:
        for each in data.values():
            if isinstance(each, list) and each:
                each[0] = "changed"
            if isinstance(each, Opaque):
                each.value += 1
    elif isinstance(data, dict) and data:
        data[next(iter(data))] = "changed"


KINDS = st.sampled_from(("user", "call", "result", "empty", "opaque"))
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), KINDS),
        st.tuples(st.just("spoil"), st.integers(0, 30), st.sampled_from(("add", "deep", "set"))),
        st.tuples(st.just("remove"), st.integers(0, 30)),
        st.tuples(st.just("cut"), st.integers(0, 30)),
    ),
    max_size=30,
)


@given(STEPS)
def test_whatever_plugins_do_to_copies_the_next_ones_are_right(steps):
    copies, messages, given_out = Copies(), [], ()
    for number, (what, *arguments) in enumerate(steps):
        if what == "append":
            messages.append(message(arguments[0], number))
        elif what == "spoil" and given_out:
            for data in copied_data(given_out[arguments[0] % len(given_out)]):
                spoil(data, arguments[1])
        elif what == "remove" and messages:
            del messages[arguments[0] % len(messages)]
        elif what == "cut":
            del messages[arguments[0] :]
        before = deepcopy(messages)

        given_out = copies.of(messages)

        assert list(given_out) == messages == before
        mine = [id(data) for each in given_out for data in copied_data(each)]
        assert not {id(data) for each in messages for data in copied_data(each)}.intersection(mine)


def test_only_new_messages_are_copied(monkeypatch):
    copied, copy = [], event_copies.copy_message
    monkeypatch.setattr(event_copies, "copy_message", lambda each: (copied.append(each), copy(each))[1])
    copies, messages = Copies(), []
    for number in range(100):
        messages += [message("user", number), message("call", number), message("result", number)]
        copied.clear()
        copies.of(messages)
        assert copied == messages[-3:]

    copied.clear()
    copies.of(messages)[1].tool_calls[0].arguments["path"] = "elsewhere"
    assert (copies.of(messages)[1], copied) == (messages[1], [messages[1]])


def test_details_that_refuse_to_be_compared_are_copied_each_time():
    spoilt = CustomMessage(custom_type="x", content="", details={"of": Unfriendly()}, timestamp=1)
    copies = Copies()

    first, second = copies.of([spoilt]), copies.of([spoilt])

    assert first[0].details is not second[0].details
