"""The messages of a context: a normal sequence that parses only the messages that are read."""

from __future__ import annotations

import gc

import pytest

from pi_core import SessionManager
from pi_core.agent.convert import convert_to_llm
from pi_core.session.open_session import OpenSession
from pi_core.session.stores import memory_store
from pi_hookspecs import AssistantMessage, TextContent, ToolCall, UnknownEntry, UnknownMessage, UserMessage

TEXTS = ("a", "b", "c", "d", "e")


def answer(text, *calls):
    content = (TextContent(text), *(ToolCall(each, "ls") for each in calls))
    return AssistantMessage(content=content, api="x", provider="p", model="m", timestamp=1)


@pytest.fixture
def opened(host):
    """A stored session of five answers, none of which was looked at."""
    manager = SessionManager.create("/work", host=host)
    for text in TEXTS:
        manager.append_message(answer(text))
    return SessionManager.open(manager.id, host=host)


@pytest.fixture
def parsed(opened):
    """The numbers of the entries that were parsed since the context was built."""
    opened.build_session_context()
    numbers = opened.writer.stored.entries.parsed
    numbers.clear()
    return numbers


@pytest.fixture
def messages(opened, parsed):
    return opened.build_session_context().messages


def test_a_context_parses_no_more_than_the_last_answer(opened):
    context = opened.build_session_context()

    assert len(context.messages) == 5
    assert context.model.model_id == "m"
    assert opened.writer.stored.entries.parsed == [4]


@pytest.mark.parametrize("place", [0, 3, -1, -5])
def test_a_place_is_parsed_once(messages, parsed, place):
    found = messages[place]

    assert (found.text, messages[place] is found) == (TEXTS[place], True)
    assert parsed == [place % 5]


def test_a_place_that_is_not_there_is_an_error(messages):
    for place in (5, -6):
        with pytest.raises(IndexError):
            messages[place]


@pytest.mark.parametrize(
    "part", [slice(1, 3), slice(None, None, 2), slice(-2, None), slice(9, 12), slice(None, None, -1)]
)
def test_a_slice_is_parsed_when_it_is_read(messages, parsed, part):
    some = messages[part]

    assert parsed == []
    assert [each.text for each in some] == list(TEXTS[part])
    assert sorted(parsed) == sorted(range(5)[part])


def test_reading_backwards_parses_only_what_is_read(messages, parsed):
    found = next(each for each in reversed(messages) if each.text == "d")

    assert found.text == "d"
    assert parsed == [4, 3]


def test_parsed_messages_are_shared_by_later_contexts(opened, messages, parsed):
    first = list(messages)
    again = opened.build_session_context().messages

    assert all(one is other for one, other in zip(first, again, strict=True))
    assert len(parsed) == 5


def test_they_equal_lists_and_tuples_of_the_same(messages):
    same = [answer(text) for text in TEXTS]

    assert messages == same
    assert same == messages
    assert messages == tuple(same)
    assert messages != same[1:]
    assert messages != [*same[1:], same[0]]
    assert messages != "abcde"
    assert same[2] in messages
    assert messages.index(same[2]) == 2


def test_what_is_appended_is_not_in_a_context_from_before(opened, messages):
    opened.append_message(answer("f"))
    opened.append_context_edit(opened.get_entries()[0].id, None)
    opened.append_context_edit(opened.get_entries()[1].id, "edited")

    assert [each.text for each in messages] == list(TEXTS)
    assert [each.text for each in opened.build_session_context().messages] == ["edited", "c", "d", "e", "f"]


@pytest.mark.parametrize("running", [True, False])
def test_the_collector_is_left_as_it_was(messages, running):
    was_running = gc.isenabled()
    (gc.enable if running else gc.disable)()
    try:
        list(messages)

        assert gc.isenabled() == running
    finally:
        (gc.enable if was_running else gc.disable)()


def test_calls_that_were_interrupted_are_found_from_the_end(opened):
    manager = SessionManager.open(opened.id, host=opened.plugin_host)
    manager.append_message(answer("calls", "1"))

    assert [each.id for each in manager.interrupted_tool_calls()] == ["1"]
    assert manager.writer.stored.entries.parsed == []


def test_a_message_that_turns_out_to_be_damaged_keeps_its_place_and_is_sent_to_no_model(opened):
    entries = opened.writer.stored.entries
    whole = type(entries).__getitem__

    class Damaged(type(entries)):
        def __getitem__(self, number, /):
            if number != 2:
                return whole(self, number)
            return UnknownEntry(type="damaged", id="x", parent_id=None, extra={"line": 4, "reason": "torn"})

    entries.__class__ = Damaged

    messages = opened.build_session_context().messages

    assert len(messages) == len(list(messages)) == 5
    assert messages[2] == UnknownMessage(role="damaged", extra={"line": 4, "reason": "torn"})
    assert [each.text for each in convert_to_llm(messages)] == ["a", "b", "d", "e"]
    assert [each.message for each in opened.build_session_projection()] == messages
    assert [each.text for each in opened.conversation()] == ["a", "b", "d", "e"]


class Reads:
    """Entries of a store that reads some messages without their entries."""

    def __init__(self, entries):
        self.index, self._entries = entries.index, entries

    def __len__(self):
        return len(self._entries)

    def __getitem__(self, number, /):
        return self._entries[number]

    def message(self, number):
        return UserMessage(content=f"message {number}", timestamp=1) if number % 2 else None


def test_a_store_may_read_messages_without_entries(host):
    manager = SessionManager.create("/work", host=host)
    for text in TEXTS:
        manager.append_message(answer(text))
    stored = SessionManager.open(manager.id, host=host).writer.stored
    stored.entries = Reads(stored.entries)
    transcript = OpenSession(memory_store(), stored, begun=True)
    transcript.append_message(answer("f"))

    messages = transcript.context.get().messages

    assert [each.text for each in messages] == ["a", "message 1", "c", "message 3", "e", "f"]
