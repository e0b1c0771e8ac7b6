"""Records of the system prompt and the tools: stored as changes, read back whole, not part of the conversation."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_core import SessionManager, entry_message
from pi_core.session.instructions import Instructions
from pi_hookspecs import AssistantMessage, CompactionEntry, SystemMessage, TextContent, UserMessage

READ = {"name": "read", "description": "Reads.", "parameters": {"type": "object"}}
BASH = {"name": "bash", "description": "Runs.", "parameters": {"type": "object"}}

NAMES = st.sampled_from(["preamble", "tools", "cwd", "rules"])
STATES = st.tuples(
    st.dictionaries(NAMES, st.sampled_from(["a", "b", ""])),
    st.lists(
        st.builds(lambda name, text: {"name": name, "description": text}, NAMES, st.sampled_from(["1", "2"])),
        unique_by=lambda tool: tool["name"],
    ),
)


def answer(text):
    return AssistantMessage(content=(TextContent(text),), api="x", provider="p", model="m")


def record(**sections):
    return SystemMessage(sections=sections)


@pytest.fixture(params=["in memory", "stored", "opened"])
def conversation(request, host):
    """A session in which something was said after a record, and before another one."""
    manager = SessionManager.in_memory("/work") if request.param == "in memory" else SessionManager.create(host=host)
    manager.append_message(SystemMessage(sections={"preamble": "You dig.", "cwd": "/work"}, tools_added=(READ,)))
    manager.append_message(UserMessage(content="hi"))
    manager.append_message(answer("hello"))
    manager.append_message(
        SystemMessage(sections={"cwd": None}, tools_added=(BASH,), tools_removed=({"name": "read"},))
    )
    return SessionManager.open(manager.id, host=host) if request.param == "opened" else manager


@given(st.lists(STATES, max_size=6))
def test_the_records_of_changes_amount_to_the_last_state(states):
    known = Instructions()
    for sections, tools in states:
        change = known.record_of(sections, tools)
        known = known.after(change) if change is not None else known

        assert (known.sections, [*known.tools.values()]) == (
            sections,
            sorted(tools, key=lambda tool: [*known.tools].index(tool["name"])),
        )
        assert known.record_of(sections, tools) is None
    whole = known.as_record(1)
    assert (Instructions().after(whole) if whole is not None else Instructions()) == known


def test_a_changed_tool_is_taken_away_and_added():
    known = Instructions(tools={"read": READ})

    change = known.record_of({}, [{**READ, "description": "Reads more."}])

    assert change.tools_removed == ({"name": "read"},)
    assert [tool["description"] for tool in change.tools_added] == ["Reads more."]


def test_records_are_read_back(conversation):
    recorded = conversation.recorded_instructions()

    assert (recorded.sections, [*recorded.tools]) == ({"preamble": "You dig."}, ["bash"])
    assert conversation.recorded_instructions() is recorded


def test_records_are_not_sent_to_the_model(conversation):
    assert [message.role for message in conversation.conversation()] == ["user", "assistant"]
    messages = [entry_message(entry) for entry in conversation.get_entries()]
    assert [message is None for message in messages] == [True, False, False, True]


@pytest.mark.parametrize("conversation", ["in memory", "stored"], indirect=True)
def test_the_branch_of_plugins_is_without_records(conversation):
    everything, spoken = conversation.get_branch(), conversation.get_branch(records=False)
    conversation.append_message(record(more="x"))
    conversation.append_message(UserMessage(content="more"))

    assert [entry.message.role for entry in everything] == ["system", "user", "assistant", "system"]
    assert [entry.message.role for entry in spoken] == ["user", "assistant"]
    assert [entry.message.role for entry in conversation.get_branch(records=False)] == ["user", "assistant", "user"]
    assert [entry.message.role for entry in conversation.get_branch(everything[1].id, records=False)] == ["user"]


@pytest.mark.parametrize("conversation", ["opened"], indirect=True)
def test_a_store_without_a_record_index_is_not_read_for_the_plugins_branch(conversation):
    branch = conversation.get_branch(records=False)

    assert (len(branch), conversation.writer.stored.entries.parsed) == (4, [])


def test_a_record_counts_among_all_messages_only(conversation):
    stats = conversation.stats()

    assert (stats.total_messages, stats.user_messages, stats.assistant_messages) == (4, 1, 1)


def test_another_branch_has_records_of_its_own(conversation):
    first, second, *_ = conversation.get_entries()
    conversation.branch(second.id)

    assert [*conversation.recorded_instructions().tools] == ["read"]
    conversation.reset_leaf()
    assert conversation.recorded_instructions() == Instructions()
    conversation.branch(first.id)
    conversation.append_message(record(cwd="/else"))
    assert conversation.recorded_instructions().sections == {"preamble": "You dig.", "cwd": "/else"}


def test_a_compaction_takes_over_what_was_recorded(conversation):
    entry = conversation.get_entries()[1]
    conversation.append_compaction("They greeted.", entry.id, 100)

    compaction = conversation.get_leaf_entry()
    assert compaction.system_message == {
        "role": "system",
        "content": "",
        "sections": {"preamble": "You dig."},
        "toolsAdded": [BASH],
        "timestamp": compaction.system_message["timestamp"],
    }
    assert [*conversation.recorded_instructions().tools] == ["bash"]
    assert [message.role for message in conversation.conversation()] == ["compactionSummary", "user", "assistant"]


@pytest.mark.parametrize("system_message", [None, {"role": "system", "sections": 5}, {"role": "user", "content": "a"}])
def test_a_compaction_without_records_clears_them(conversation, system_message):
    entry = conversation.get_entries()[1]
    conversation.append_entry(
        CompactionEntry(
            id="",
            parent_id=None,
            timestamp="",
            summary="s",
            first_kept_entry_id=entry.id,
            tokens_before=1,
            system_message=system_message,
        )
    )

    assert conversation.recorded_instructions() == Instructions()


def test_a_system_message_of_a_program_is_sent_to_the_model():
    manager = SessionManager.in_memory("/work")
    manager.append_message(SystemMessage(content="Be brief."))
    manager.append_message(UserMessage(content="hi"))

    assert [message.text for message in manager.conversation()] == ["Be brief.", "hi"]
    assert manager.recorded_instructions() == Instructions()


def test_a_prompt_without_sections_that_another_program_recorded_is_kept():
    known = Instructions().after(SystemMessage(content="You dig.", tools_added=(READ,)))

    assert known.as_record(1).content == "You dig."
    assert known.record_of({}, [READ]) is None


def test_a_record_is_stored_as_pi_stores_it(host, store):
    manager = SessionManager.create("/work", host=host)
    manager.append_message(
        SystemMessage(sections={"cwd": None, "rules": "r"}, tools_removed=({"name": "a"},), timestamp=7)
    )
    manager.append_message(answer("hello"))

    (stored, _) = map(json.loads, store.sessions[manager.id].lines)
    assert stored["message"] == {
        "role": "system",
        "content": "",
        "sections": {"cwd": None, "rules": "r"},
        "toolsRemoved": [{"name": "a"}],
        "timestamp": 7,
    }
