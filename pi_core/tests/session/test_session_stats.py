"""Statistics of a session."""

from __future__ import annotations

from pi_core import SessionManager
from pi_core.session.stats import TokenTotals
from pi_core.wire import to_wire
from pi_hookspecs import (
    AssistantMessage,
    BashExecutionMessage,
    Cost,
    SystemMessage,
    TextContent,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)


def usage(tokens):
    return Usage(input=tokens, output=1, cache_read=2, cache_write=3, total_tokens=tokens + 6, cost=Cost(total=0.5))


def answer(tokens, *calls):
    content = (TextContent("ok"), *(ToolCall(each, "ls") for each in calls))
    return AssistantMessage(content=content, api="x", provider="p", model="m", usage=usage(tokens))


def test_messages_calls_tokens_and_cost_are_counted():
    manager = SessionManager.in_memory("/work")
    manager.append_message(SystemMessage(content="Help."))
    manager.append_message(UserMessage(content="hi"))
    manager.append_message(answer(10, "1", "2"))
    manager.append_message(ToolResultMessage(tool_call_id="1", tool_name="ls", usage=usage(100)))
    manager.append_message(ToolResultMessage(tool_call_id="2", tool_name="ls"))
    manager.append_message(BashExecutionMessage(command="ls", output=""))

    stats = manager.stats()

    assert (stats.session_id, stats.session_file) == (manager.id, None)
    assert (stats.user_messages, stats.assistant_messages, stats.tool_calls, stats.tool_results) == (1, 1, 2, 2)
    assert stats.total_messages == 6
    assert stats.tokens == TokenTotals(input=110, output=2, cache_read=4, cache_write=6, total=122)
    assert stats.cost == 1.0


def test_requests_outside_the_conversation_are_counted():
    manager = SessionManager.in_memory("/work")
    first = manager.append_message(UserMessage(content="hi"))
    manager.append_compaction("short", first, 5, usage=usage(1))
    manager.append_usage("title", "p", "m", usage(10))
    manager.branch_with_summary(first, "left", usage=usage(100))
    manager.append_compaction("short", first, 5)

    stats = manager.stats()

    assert (stats.tokens.input, stats.cost, stats.total_messages) == (111, 1.5, 1)


def test_what_a_branch_cost_stays_spent():
    manager = SessionManager.in_memory("/work")
    first = manager.append_message(UserMessage(content="hi"))
    manager.append_message(answer(10))
    assert manager.stats().tokens.input == 10

    manager.branch(first)
    manager.append_message(answer(100))

    assert manager.stats().tokens.input == 110
    assert manager.stats().assistant_messages == 2


def test_what_is_counted_once_is_not_parsed_again(host):
    manager = SessionManager.create("/work", host=host)
    manager.append_message(answer(10))
    manager.append_custom_entry("todo")
    again = SessionManager.open(manager.id, host=host)

    again.stats()
    again.stats()

    assert again.writer.stored.entries.parsed == [0]


def test_the_wire_has_the_names_of_the_contract():
    wire = to_wire(SessionManager.in_memory("/work", id="a").stats())

    assert wire == {
        "sessionId": "a",
        "userMessages": 0,
        "assistantMessages": 0,
        "toolCalls": 0,
        "toolResults": 0,
        "totalMessages": 0,
        "tokens": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
        "cost": 0.0,
        "costByModel": {},
    }


def test_summaries_count_for_the_model_that_answered_before():
    manager = SessionManager.in_memory("/work")
    first = manager.append_message(UserMessage(content="hi"))
    manager.append_message(answer(10))
    manager.append_compaction("short", first, 5, usage=usage(1))
    manager.branch_with_summary(first, "left", usage=usage(100))
    manager.append_usage("title", "p", "small", usage(10))

    stats = manager.stats()

    assert stats.cost_by_model == {"p/m": 1.5, "p/small": 0.5}
    assert sum(stats.cost_by_model.values()) == stats.cost
