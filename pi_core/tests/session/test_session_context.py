"""The context of a branch that is sent to the model."""

from __future__ import annotations

import pytest
from attrs import evolve

from pi_core import SessionManager
from pi_hookspecs import (
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
    CustomMessage,
    EditedContent,
    ModelChoice,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)


def answer(text="ok", *calls, provider="p", model="m", **fields):
    return AssistantMessage(
        content=(TextContent(text), *(ToolCall(each, "ls") for each in calls)),
        api="x",
        provider=provider,
        model=model,
        timestamp=1,
        **fields,
    )


def result(call):
    return ToolResultMessage(tool_call_id=call, tool_name="ls", timestamp=1)


@pytest.fixture
def manager():
    return SessionManager.in_memory("/work")


@pytest.fixture
def append_text(manager):
    return lambda text: manager.append_message(UserMessage(content=text, timestamp=1))


def context_texts(manager):
    """Each message in short: its text, or its summary in parentheses."""
    messages = manager.build_session_context().messages
    return [f"({each.summary})" if hasattr(each, "summary") else getattr(each, "text", each.role) for each in messages]


def test_messages_of_all_kinds_are_sent_and_all_else_is_not(manager, append_text):
    append_text("a")
    manager.append_custom_entry("todo", 1)
    manager.append_session_info("n")
    manager.append_label_change(append_text("b"), "l")
    manager.append_custom_message_entry("note", "c", display=False, details=[1])
    manager.append_message(BashExecutionMessage(command="ls", output=""))

    messages = manager.build_session_context().messages

    assert [each.role for each in messages] == ["user", "user", "custom", "bashExecution"]
    note = messages[2]
    assert isinstance(note, CustomMessage)
    assert (note.custom_type, note.content, note.display, note.details) == ("note", "c", False, [1])
    assert note.timestamp > 1_700_000_000_000


def test_a_plugins_message_comes_back_as_one(manager):
    manager.append_message(CustomMessage(custom_type="note", content=(TextContent("x"),), display=False))

    assert manager.get_leaf_entry().type == "custom_message"
    assert manager.build_session_context().messages[0].content == (TextContent("x"),)


def test_a_branch_is_sent_with_the_summary_of_the_one_before(manager, append_text):
    first = append_text("a")
    append_text("b")
    manager.branch_with_summary(first, "tried b")
    append_text("c")

    assert context_texts(manager) == ["a", "(tried b)", "c"]
    assert isinstance(manager.build_session_context().messages[1], BranchSummaryMessage)


def test_an_empty_summary_of_a_branch_is_not_sent(manager, append_text):
    manager.branch_with_summary(append_text("a"), "")

    assert context_texts(manager) == ["a"]


def test_another_branch_may_be_asked_about(manager, append_text):
    first = append_text("a")
    manager.append_thinking_level_change("high")
    append_text("b")

    context = manager.build_session_context(first)

    assert ([each.text for each in context.messages], context.thinking_level) == (["a"], "off")
    assert context_texts(manager) == ["a", "b"]
    assert manager.build_session_context(manager.leaf_id) == manager.build_session_context()


def test_appending_reads_no_earlier_entry(host):
    manager = SessionManager.create("/work", host=host)
    for _ in range(5):
        manager.append_message(answer())
    again = SessionManager.open(manager.id, host=host)
    list(again.build_session_context().messages)
    again.writer.stored.entries.parsed.clear()

    again.append_message(answer("new"))
    again.append_thinking_level_change("high")

    assert context_texts(again)[-1] == "new"
    assert again.build_session_context().thinking_level == "high"
    assert again.writer.stored.entries.parsed == []


class TestCompaction:
    def test_precedes_the_kept_messages(self, manager, append_text):
        append_text("a")
        kept = append_text("b")
        append_text("c")
        manager.append_compaction("a, in short", kept, 100)
        append_text("d")

        assert context_texts(manager) == ["(a, in short)", "b", "c", "d"]
        summary = manager.build_session_context().messages[0]
        assert isinstance(summary, CompactionSummaryMessage)
        assert summary.tokens_before == 100

    def test_the_newest_counts(self, manager, append_text):
        kept = append_text("a")
        manager.append_compaction("first", kept, 1)
        append_text("b")
        manager.append_compaction("second", kept, 1)
        append_text("c")

        assert context_texts(manager) == ["(second)", "a", "b", "c"]

    @pytest.mark.parametrize("kept", ["missing", "later", "elsewhere"])
    def test_keeps_nothing_where_the_first_entry_kept_is_not_before_it(self, manager, append_text, kept):
        first = append_text("a")
        elsewhere = append_text("b")
        manager.branch(first)
        append_text("c")
        manager.append_compaction("all", {"elsewhere": elsewhere}.get(kept, "missing"), 1)
        append_text("d")

        assert context_texts(manager) == ["(all)", "d"]

    def test_is_forgotten_on_a_branch_before_it(self, manager, append_text):
        first = append_text("a")
        second = append_text("b")
        manager.append_compaction("all", second, 1)
        assert context_texts(manager) == ["(all)", "b"]

        manager.branch(first)

        assert context_texts(manager) == ["a"]

    def test_what_came_before_is_not_parsed(self, host):
        manager = SessionManager.create("/work", host=host)
        for _ in range(10):
            manager.append_message(answer())
        kept = manager.append_message(UserMessage(content="kept"))
        manager.append_compaction("short", kept, 1)
        manager.append_message(answer("new"))

        again = SessionManager.open(manager.id, host=host)

        assert context_texts(again) == ["(short)", "kept", "new"]
        assert set(again.writer.stored.entries.parsed) == {10, 11, 12}


class TestEdits:
    def test_take_a_message_out(self, manager, append_text):
        append_text("a")
        failed = manager.append_message(answer("", stop_reason="error"))
        manager.append_context_edit(failed, None)
        manager.append_message(answer("good"))

        assert context_texts(manager) == ["a", "good"]

    @pytest.mark.parametrize("message", [UserMessage(content="x"), answer("x"), result("1"), "custom"])
    def test_its_text_can_be_changed(self, manager, message):
        if message == "custom":
            message = CustomMessage(custom_type="note", content="x")
        target = manager.append_message(message)
        manager.append_context_edit(target, "new")

        content = manager.build_session_context().messages[0].content
        expected = "new" if isinstance(message, UserMessage | CustomMessage) else (TextContent("new"),)
        assert content == expected

        manager.append_context_edit(target, [TextContent("newer")])
        assert manager.build_session_context().messages[0].content == (TextContent("newer"),)

    def test_the_latest_counts_also_after_none(self, manager, append_text):
        target = append_text("a")
        manager.append_context_edit(target, None)
        manager.append_context_edit(target, "back")

        assert context_texts(manager) == ["back"]

    def test_change_a_summary(self, manager, append_text):
        manager.append_context_edit(manager.branch_with_summary(append_text("a"), "long"), "short")

        assert context_texts(manager) == ["a", "(short)"]

    def test_count_on_their_branch_alone(self, manager, append_text):
        target = append_text("a")
        manager.append_context_edit(target, None)
        manager.branch(target)

        assert context_texts(manager) == ["a"]

    def test_leave_the_entry_and_name_it(self, manager, append_text):
        target = append_text("a")
        edit = manager.append_context_edit(target, "b")

        (only,) = manager.build_session_projection()

        assert (only.entry.id, only.entry.message.text, only.message.text) == (target, "a", "b")
        assert manager.get_entry(edit).replacement == EditedContent("b")


class TestSettings:
    def test_are_off_and_none_where_no_entry_sets_them(self, manager):
        context = manager.build_session_context()

        assert (context.thinking_level, context.model, context.has_thinking_level) == ("off", None, False)

    def test_are_the_last_on_the_branch(self, manager):
        first = manager.append_thinking_level_change("high")
        manager.append_model_change("p", "a")
        manager.append_message(answer(model="b"))
        manager.append_thinking_level_change("low")

        context = manager.build_session_context()
        assert (context.thinking_level, context.model, context.has_thinking_level) == (
            "low",
            ModelChoice(provider="p", model_id="b"),
            True,
        )
        manager.branch(first)
        assert manager.build_session_context().thinking_level == "high"
        assert manager.build_session_context().model is None

    def test_are_found_before_a_compaction(self, manager, append_text):
        manager.append_model_change("p", "a")
        manager.append_thinking_level_change("high")
        manager.append_compaction("short", append_text("x"), 1)
        append_text("y")

        context = manager.build_session_context()
        assert (context.thinking_level, context.model) == ("high", ModelChoice(provider="p", model_id="a"))

    def test_of_an_answer_without_a_name_do_not_count(self, manager):
        manager.append_model_change("p", "a")
        manager.append_message(answer(provider="", model=""))

        assert manager.build_session_context().model == ModelChoice(provider="p", model_id="a")

    def test_of_the_header_count_where_no_entry_says(self, host, store):
        manager = SessionManager.create("/work", host=host)
        stored = store.sessions[manager.id]
        stored.header = evolve(
            stored.header, extra={"provider": "p", "modelId": "h", "thinkingLevel": "medium", "other": 1}
        )

        context = SessionManager.open(manager.id, host=host).build_session_context()

        assert (context.thinking_level, context.model) == ("medium", ModelChoice(provider="p", model_id="h"))


class TestInterruptedCalls:
    def test_are_those_of_the_last_answer_without_a_result(self, manager, append_text):
        manager.append_message(answer("", "1", "2"))
        manager.append_message(result("1"))
        assert [call.id for call in manager.interrupted_tool_calls()] == ["2"]

        append_text("go on")
        assert [call.id for call in manager.interrupted_tool_calls()] == ["2"]

        manager.append_message(answer("never mind"))
        assert manager.interrupted_tool_calls() == ()

    def test_of_a_failed_answer_are_none(self, manager):
        manager.append_message(answer("", "1", stop_reason="aborted"))

        assert manager.interrupted_tool_calls() == ()

    def test_add_nothing_to_the_context(self, manager):
        manager.append_message(answer("", "1"))

        assert len(manager.build_session_context().messages) == 1
