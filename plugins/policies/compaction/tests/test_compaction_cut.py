"""Where a conversation is cut: at any history, no call loses its result and the newest messages stay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from pi_compaction.context_messages import ReadBranch, messages_of, since_compaction
from pi_compaction.cut import find_cut, find_helpful_cut
from pi_core import estimate_tokens
from pi_hookspecs import (
    AssistantMessage,
    BashExecutionMessage,
    CompactionEntry,
    ContextEditEntry,
    CustomMessage,
    EditedContent,
    MessageEntry,
    ModelChangeEntry,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import SessionEntry

TIME = "2026-01-01T00:00:00.000Z"


def entries_of(messages: Sequence[Any]) -> list[SessionEntry]:
    """Entries in a chain; a message of None is a change of model."""
    made: list[SessionEntry] = []
    for number, message in enumerate(messages):
        place = {"id": f"{number:08x}", "parent_id": made[-1].id if made else None, "timestamp": TIME}
        if message is None:
            made.append(ModelChangeEntry(provider="p", model_id="m", **place))
        else:
            made.append(MessageEntry(message=message, **place))
    return made


def answer(text: str = "", *call_ids: str, **fields: Any) -> AssistantMessage:
    calls = (ToolCall(id=call_id, name="bash", arguments={"command": "ls"}) for call_id in call_ids)
    content = (*((TextContent(text),) if text else ()), *calls)
    return AssistantMessage(api="a", provider="p", model="m", content=content, **fields)


def result(call_id: str, text: str = "ok") -> ToolResultMessage:
    return ToolResultMessage(tool_call_id=call_id, tool_name="bash", content=(TextContent(text),))


def cut_of(messages: Sequence[Any], keep: int) -> tuple[int, int] | None:
    entries = entries_of(messages)
    cut = find_cut(ReadBranch(entries), keep)
    return None if cut is None else (cut.summarised, cut.kept)


TEXTS = st.integers(0, 400).map("x".__mul__)
BETWEEN = st.sampled_from([[], [], [UserMessage(content="wait")], [None]])
"""What may come between a call and its result."""


@st.composite
def tool_turns(draw: st.DrawFn) -> list[Any]:
    """An answer with calls and their results, of which some never come; ids come again from turn to turn."""
    ids = draw(st.lists(st.integers(0, 5).map("call_{}".format), min_size=1, max_size=3, unique=True))
    messages = [answer(draw(TEXTS), *ids)]
    for call_id in ids:
        if draw(st.integers(0, 4)):
            messages += [*draw(BETWEEN), result(call_id, draw(TEXTS))]
    return messages


def histories() -> st.SearchStrategy[list[Any]]:
    """Histories as they happen, and as they should not."""
    one = st.one_of(
        TEXTS.map(lambda text: UserMessage(content=text)),
        TEXTS.map(lambda text: answer(text or "a")),
        TEXTS.map(lambda text: BashExecutionMessage(command="ls", output=text)),
        TEXTS.map(lambda text: CustomMessage(custom_type="note", content=text)),
        TEXTS.map(lambda text: result("call_9", text)),
        st.just(answer(stop_reason="error", error_message="500")),
        st.none(),
    )
    steps = st.lists(st.one_of(one.map(lambda message: [message]), tool_turns()), min_size=1, max_size=12)
    return steps.map(lambda parts: [message for part in parts for message in part])


def pairs(messages: Sequence[Any]) -> set[tuple[int, int]]:
    """Places of calls and of their results: a result belongs to the latest call of its id."""
    called: dict[str, int] = {}
    found = set()
    for place, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            called.update((call.id, place) for call in message.tool_calls)
        elif isinstance(message, ToolResultMessage) and message.tool_call_id in called:
            found.add((called[message.tool_call_id], place))
    return found


@given(histories(), st.integers(0, 600))
def test_no_call_is_ever_parted_from_its_result(messages: list[Any], keep: int) -> None:
    cut = cut_of(messages, keep)

    if cut is not None:
        summarised, kept = cut
        assert all((called < kept) == (answered < kept) for called, answered in pairs(messages))
        assert summarised <= kept


@given(histories(), st.integers(0, 600))
def test_what_stays_begins_with_a_message_that_may_come_first(messages: list[Any], keep: int) -> None:
    cut = cut_of(messages, keep)

    if cut is not None:
        reported = [message for message in messages_of(entries_of(messages))[cut[1] :] if message is not None]
        assert reported
        assert not isinstance(reported[0], ToolResultMessage)


@given(histories(), st.integers(0, 600))
def test_something_goes_and_something_stays(messages: list[Any], keep: int) -> None:
    cut = cut_of(messages, keep)

    if cut is not None:
        reported = messages_of(entries_of(messages))
        assert any(message is not None for message in reported[: cut[1]])
        assert any(message is not None for message in reported[cut[1] :])


@given(histories(), st.integers(0, 600))
def test_a_second_cut_finds_nothing_to_do(messages: list[Any], keep: int) -> None:
    cut = cut_of(messages, keep)

    if cut is not None:
        assert cut_of(messages[cut[1] :], keep) is None


@given(st.lists(st.integers(1, 800), min_size=1, max_size=40), st.integers(1, 600))
def test_what_stays_is_the_budget_and_at_most_one_message_more(sizes: list[int], keep: int) -> None:
    messages = [UserMessage(content="x" * size) for size in sizes]

    cut = cut_of(messages, keep)

    if cut is not None:
        kept = [estimate_tokens(message) for message in messages[cut[1] :]]
        assert sum(kept) >= keep > sum(kept[1:])


def test_one_huge_message_is_not_cut() -> None:
    assert cut_of([UserMessage(content="x" * 1_000_000)], 20_000) is None


def test_a_small_conversation_is_not_cut() -> None:
    assert cut_of([UserMessage(content="hello"), answer("hi")], 20_000) is None


def test_results_larger_than_the_budget_stay_with_their_answer() -> None:
    messages = [UserMessage(content="go"), answer("", "a"), result("a"), answer("", "b"), result("b", "x" * 4000)]

    assert cut_of(messages, 100) == (0, 3)


def test_a_message_between_a_call_and_its_result_is_no_place_to_cut() -> None:
    messages = [
        UserMessage(content="one"),
        answer("done"),
        UserMessage(content="two"),
        answer("", "a", "b"),
        result("a"),
        UserMessage(content="x" * 200),
        result("b", "x" * 400),
    ]

    assert cut_of(messages, 120) == (2, 3)


def test_a_turn_is_split_where_it_is_longer_than_the_budget() -> None:
    messages = [UserMessage(content="one"), answer("done"), UserMessage(content="two")]
    for number in range(10):
        messages += [answer("", f"c{number}"), result(f"c{number}", "x" * 400)]

    assert cut_of(messages, 300) == (2, len(messages) - 4)


def test_a_cut_at_the_users_message_splits_nothing() -> None:
    messages = [UserMessage(content="one"), answer("x" * 400), UserMessage(content="x" * 400), answer("done")]

    assert cut_of(messages, 60) == (2, 2)


def test_entries_before_the_cut_that_are_no_messages_stay_too() -> None:
    messages = [UserMessage(content="one"), answer("x" * 400), None, None, UserMessage(content="x" * 400)]

    assert cut_of(messages, 60) == (2, 2)


def test_a_failed_answer_is_no_place_to_cut() -> None:
    messages = [
        UserMessage(content="go"),
        answer("", "a"),
        result("a", "x" * 4000),
        answer(stop_reason="error", error_message="prompt is too long"),
    ]

    assert cut_of(messages, 100) == (0, 1)


def helpful_cut_of(messages: Sequence[Any], keep: int) -> int | None:
    entries = entries_of(messages)
    cut = find_helpful_cut(ReadBranch(entries), keep)
    return None if cut is None else cut.kept


def test_unasked_at_most_half_is_kept() -> None:
    assert helpful_cut_of([UserMessage(content="x" * 400)] * 10, 20_000) == 5


def test_an_unrequested_large_message_is_not_in_the_way() -> None:
    messages = [UserMessage(content="x" * 40_000), answer("So it is."), UserMessage(content="And?")]

    assert cut_of(messages, 20_000) is None
    assert helpful_cut_of(messages, 20_000) == 1


def test_unasked_a_large_message_in_the_middle_goes() -> None:
    messages = [UserMessage(content="First."), UserMessage(content="x" * 400_000), answer("So it is.")]

    assert cut_of(messages, 20_000) == (1, 1)
    assert helpful_cut_of(messages, 20_000) == 2


def test_unasked_nothing_is_cut_where_hardly_anything_would_go() -> None:
    messages = [UserMessage(content="Read it."), answer("", "a"), result("a", "x" * 40_000)]

    assert cut_of(messages, 100) == (0, 1)
    assert helpful_cut_of(messages, 100) is None


def compaction(entry_id: str, first_kept: str) -> CompactionEntry:
    return CompactionEntry(
        id=entry_id, parent_id=None, timestamp=TIME, summary="s", first_kept_entry_id=first_kept, tokens_before=1
    )


def test_what_the_last_compaction_kept_is_summed_up_by_the_next() -> None:
    entries = entries_of([UserMessage(content=text) for text in "abcd"])
    branch = [*entries[:3], compaction("c", entries[1].id), entries[3]]

    later, previous = since_compaction(branch)

    assert [entry.id for entry in later] == [entries[1].id, entries[2].id, entries[3].id]
    assert previous is branch[3]


def test_a_compaction_that_points_nowhere_keeps_only_what_follows() -> None:
    entries = entries_of([UserMessage(content=text) for text in "abcd"])
    branch = [*entries[:3], compaction("c", "missing"), entries[3]]

    later, previous = since_compaction(branch)

    assert [entry.id for entry in later] == [entries[3].id]
    assert previous is branch[3]


@pytest.mark.parametrize(("replacement", "expected"), [(None, None), ("short", "short")])
def test_an_edit_changes_the_message_to_the_model(replacement: str | None, expected: str | None) -> None:
    entries = entries_of([UserMessage(content="long")])
    edited = EditedContent(replacement) if replacement is not None else None
    edit = ContextEditEntry(id="e", parent_id=None, timestamp=TIME, target_id=entries[0].id, replacement=edited)

    message, nothing = messages_of([*entries, edit])

    assert nothing is None
    assert message == (None if expected is None else evolve(entries[0].message, content=expected))
