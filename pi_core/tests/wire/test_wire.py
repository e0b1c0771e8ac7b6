"""Every wire type against literal JSON, and what survives a round trip."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import PurePosixPath
from typing import get_type_hints

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_core.wire import (
    content_from_wire,
    dumps,
    entry_from_wire,
    from_wire,
    header_from_wire,
    message_from_wire,
    model_from_wire,
    to_wire,
)
from pi_core.wire.reader import _names_in_annotations
from pi_hookspecs import (
    AgentBeforeSettleEvent,
    AgentEndEvent,
    AgentSettledEvent,
    AgentStartEvent,
    AssistantMessage,
    AutoRetryEndEvent,
    AutoRetryStartEvent,
    BashExecutionMessage,
    BranchSummaryEntry,
    BranchSummaryMessage,
    Compaction,
    CompactionEndEvent,
    CompactionEntry,
    CompactionStartEvent,
    CompactionSummaryMessage,
    ContextEditEntry,
    Cost,
    CustomEntry,
    CustomMessage,
    CustomMessageEntry,
    EditedContent,
    EntryAppendedEvent,
    ExtensionErrorEvent,
    ImageContent,
    LabelEntry,
    MessageBuilder,
    MessageEndEvent,
    MessageEntry,
    MessageStartEvent,
    MessageUpdateEvent,
    Model,
    ModelChangeEntry,
    ModelCost,
    PiError,
    PriceTier,
    QueueUpdateEvent,
    SessionHeader,
    SessionInfoEntry,
    SystemMessage,
    TextContent,
    ThinkingContent,
    ThinkingLevelChangeEntry,
    ToolCall,
    ToolExecutionEndEvent,
    ToolExecutionStartEvent,
    ToolExecutionUpdateEvent,
    ToolResult,
    ToolResultMessage,
    TurnEndEvent,
    TurnEndResult,
    TurnStartEvent,
    UnknownContent,
    UnknownEntry,
    UnknownMessage,
    Usage,
    UsageEntry,
    UserMessage,
)
from pi_testing import for_each

NO_USAGE = """{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0,
    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}}"""
USER = '{"role": "user", "content": "hi", "timestamp": 7}'
AT = '"id": "0000000b", "parentId": "0000000a", "timestamp": "2026-01-02T03:04:05.678Z"'
HERE = {"id": "0000000b", "parent_id": "0000000a", "timestamp": "2026-01-02T03:04:05.678Z"}

CONTENT = [
    (TextContent("hi"), '{"type": "text", "text": "hi"}'),
    (TextContent("hi", text_signature="s"), '{"type": "text", "text": "hi", "textSignature": "s"}'),
    (ThinkingContent("hm"), '{"type": "thinking", "thinking": "hm"}'),
    (
        ThinkingContent("", thinking_signature="s", redacted=True),
        '{"type": "thinking", "thinking": "", "thinkingSignature": "s", "redacted": true}',
    ),
    (ImageContent("aGk=", "image/png"), '{"type": "image", "data": "aGk=", "mimeType": "image/png"}'),
    (
        ToolCall("1", "read", {"file_path": "a", "Deep": {"snake_case": [None]}}),
        """{"type": "toolCall", "id": "1", "name": "read",
            "arguments": {"file_path": "a", "Deep": {"snake_case": [null]}}}""",
    ),
    (
        ToolCall("1", "read", {}, thought_signature="t", namespace="n", arguments_error="no JSON"),
        """{"type": "toolCall", "id": "1", "name": "read", "arguments": {}, "thoughtSignature": "t",
            "namespace": "n", "argumentsError": "no JSON"}""",
    ),
    (
        UnknownContent("video", {"mime_type": "x", "frames": [1]}),
        '{"type": "video", "mime_type": "x", "frames": [1]}',
    ),
    (TextContent("hi", extra={"newField": {"a": 1}}), '{"type": "text", "text": "hi", "newField": {"a": 1}}'),
]
MESSAGES = [
    (UserMessage(content="hi", timestamp=7), USER),
    (
        UserMessage(content=(TextContent("hi"), ImageContent("aGk=", "image/png")), timestamp=7),
        """{"role": "user", "content": [{"type": "text", "text": "hi"},
            {"type": "image", "data": "aGk=", "mimeType": "image/png"}], "timestamp": 7}""",
    ),
    (
        AssistantMessage(
            content=(ThinkingContent("hm"), ToolCall("1", "ls", {})),
            api="a",
            provider="p",
            model="m",
            usage=Usage(
                input=1, cache_write_1h=2, reasoning=3, cost=Cost(cache_read=0.5, total=1, total_from_provider=True)
            ),
            stop_reason="toolUse",
            timestamp=7,
        ),
        """{"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"},
            {"type": "toolCall", "id": "1", "name": "ls", "arguments": {}}],
            "api": "a", "provider": "p", "model": "m",
            "usage": {"input": 1, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0,
                "cost": {"input": 0, "output": 0, "cacheRead": 0.5, "cacheWrite": 0, "total": 1,
                    "totalFromProvider": true},
                "cacheWrite1h": 2, "reasoning": 3},
            "stopReason": "toolUse", "timestamp": 7}""",
    ),
    (
        AssistantMessage(
            api="a",
            provider="p",
            model="m",
            stop_reason="error",
            error_message="429 {}",
            response_id="r",
            response_model="rm",
            raw_stop_reason="raw",
            thinking_level="low",
            duration_ms=12,
            timestamp=7,
        ),
        f"""{{"role": "assistant", "content": [], "api": "a", "provider": "p", "model": "m", "usage": {NO_USAGE},
            "stopReason": "error", "errorMessage": "429 {{}}", "responseId": "r", "responseModel": "rm",
            "rawStopReason": "raw", "thinkingLevel": "low", "durationMs": 12, "timestamp": 7}}""",
    ),
    (
        ToolResultMessage(
            tool_call_id="1",
            tool_name="read",
            content=(TextContent("x"),),
            details={"first_line": [1, {"a_b": None}]},
            is_error=True,
            duration_ms=3,
            timestamp=7,
        ),
        """{"role": "toolResult", "toolCallId": "1", "toolName": "read", "content": [{"type": "text", "text": "x"}],
            "details": {"first_line": [1, {"a_b": null}]}, "isError": true, "durationMs": 3, "timestamp": 7}""",
    ),
    (
        SystemMessage(
            content="be brief",
            sections={"cwd": "here", "docs": None},
            tools_removed=({"name": "ls"},),
            timestamp=7,
            extra={"later": 1},
        ),
        """{"role": "system", "content": "be brief", "sections": {"cwd": "here", "docs": null},
            "toolsRemoved": [{"name": "ls"}], "timestamp": 7, "later": 1}""",
    ),
    (
        BashExecutionMessage(command="ls", output="a", timestamp=7),
        """{"role": "bashExecution", "command": "ls", "output": "a", "cancelled": false, "truncated": false,
            "timestamp": 7}""",
    ),
    (
        BashExecutionMessage(
            command="ls",
            output="a",
            exit_code=0,
            cancelled=True,
            truncated=True,
            full_output_path="/o",
            exclude_from_context=False,
            timestamp=7,
        ),
        """{"role": "bashExecution", "command": "ls", "output": "a", "exitCode": 0, "cancelled": true,
            "truncated": true, "fullOutputPath": "/o", "excludeFromContext": false, "timestamp": 7}""",
    ),
    (
        CustomMessage(custom_type="note", content="x", display=False, details=[1], timestamp=7),
        """{"role": "custom", "customType": "note", "content": "x", "display": false, "details": [1],
            "timestamp": 7}""",
    ),
    (
        BranchSummaryMessage(summary="s", from_id="root", timestamp=7),
        '{"role": "branchSummary", "summary": "s", "fromId": "root", "timestamp": 7}',
    ),
    (
        CompactionSummaryMessage(summary="s", tokens_before=9, timestamp=7),
        '{"role": "compactionSummary", "summary": "s", "tokensBefore": 9, "timestamp": 7}',
    ),
    (UnknownMessage(role="hologram", extra={"x_y": None}), '{"role": "hologram", "x_y": null}'),
]
ENTRIES = [
    (
        MessageEntry(**HERE, message=UserMessage(content="hi", timestamp=7)),
        f'{{"type": "message", {AT}, "message": {USER}}}',
    ),
    (
        ModelChangeEntry(**HERE, provider="p", model_id="m"),
        f'{{"type": "model_change", {AT}, "provider": "p", "modelId": "m"}}',
    ),
    (
        ThinkingLevelChangeEntry(**HERE, thinking_level="high"),
        f'{{"type": "thinking_level_change", {AT}, "thinkingLevel": "high"}}',
    ),
    (
        CompactionEntry(
            **HERE,
            summary="s",
            first_kept_entry_id="0000000a",
            tokens_before=9,
            details={"read_files": []},
            from_hook=True,
            usage=Usage(),
            system_message={"role": "system", "sections": {"cwd": "/c"}},
        ),
        f"""{{"type": "compaction", {AT}, "summary": "s", "firstKeptEntryId": "0000000a", "tokensBefore": 9,
            "details": {{"read_files": []}}, "fromHook": true, "usage": {NO_USAGE},
            "systemMessage": {{"role": "system", "sections": {{"cwd": "/c"}}}}}}""",
    ),
    (
        BranchSummaryEntry(**HERE, from_id="root", summary="s"),
        f'{{"type": "branch_summary", {AT}, "fromId": "root", "summary": "s"}}',
    ),
    (
        CustomEntry(**HERE, custom_type="todo", data={"a_b": 1}),
        f'{{"type": "custom", {AT}, "customType": "todo", "data": {{"a_b": 1}}}}',
    ),
    (
        CustomMessageEntry(**HERE, custom_type="todo", content=(TextContent("x"),)),
        f"""{{"type": "custom_message", {AT}, "customType": "todo", "content": [{{"type": "text", "text": "x"}}],
            "display": true}}""",
    ),
    (
        LabelEntry(**HERE, target_id="0000000a", label="start"),
        f'{{"type": "label", {AT}, "targetId": "0000000a", "label": "start"}}',
    ),
    (LabelEntry(**HERE, target_id="0000000a"), f'{{"type": "label", {AT}, "targetId": "0000000a"}}'),
    (SessionInfoEntry(**HERE, name="n"), f'{{"type": "session_info", {AT}, "name": "n"}}'),
    (
        UsageEntry(**HERE, kind="title", provider="p", model="m", usage=Usage()),
        f'{{"type": "usage", {AT}, "kind": "title", "provider": "p", "model": "m", "usage": {NO_USAGE}}}',
    ),
    (
        ContextEditEntry(**HERE, target_id="0000000a", replacement=None),
        f'{{"type": "context_edit", {AT}, "targetId": "0000000a", "replacement": null}}',
    ),
    (
        ContextEditEntry(**HERE, target_id="0000000a", replacement=EditedContent("x")),
        f'{{"type": "context_edit", {AT}, "targetId": "0000000a", "replacement": {{"content": "x"}}}}',
    ),
    (
        ContextEditEntry(**HERE, target_id="0000000a", replacement=EditedContent((TextContent("x"),))),
        f"""{{"type": "context_edit", {AT}, "targetId": "0000000a",
            "replacement": {{"content": [{{"type": "text", "text": "x"}}]}}}}""",
    ),
    (
        UnknownEntry(type="invented_later", **HERE, extra={"x_y": None}),
        f'{{"type": "invented_later", {AT}, "x_y": null}}',
    ),
]
MODEL = """{"id": "m", "name": "M", "api": "a", "provider": "p", "baseUrl": "https://x", "reasoning": true,
    "input": ["text", "image"],
    "cost": {"input": 1.5, "output": 2, "cacheRead": 0, "cacheWrite": 0,
        "tiers": [{"inputTokensAbove": 200000, "input": 3, "output": 4, "cacheRead": 0, "cacheWrite": 0}]},
    "contextWindow": 1000, "maxTokens": 100, "headers": {"x-a_b": "1"}, "compat": {"snake_case": true},
    "thinkingLevelMap": {"xhigh": null, "low": "1"}, "promptStore": {"x": 1}}"""

builder = MessageBuilder(Model(id="m", name="m", api="a", provider="p"))
EVENTS = [
    (AgentStartEvent(), '{"type": "agent_start"}'),
    (
        AgentEndEvent(messages=(UserMessage(content="hi", timestamp=7),), will_retry=True, error="e"),
        f'{{"type": "agent_end", "messages": [{USER}], "willRetry": true, "error": "e"}}',
    ),
    (TurnStartEvent(turn_index=3, timestamp=7), '{"type": "turn_start"}'),
    (
        TurnEndEvent(message=UserMessage(content="hi", timestamp=7), turn_index=3),
        f'{{"type": "turn_end", "message": {USER}, "toolResults": []}}',
    ),
    (
        MessageStartEvent(message=UserMessage(content="hi", timestamp=7)),
        f'{{"type": "message_start", "message": {USER}}}',
    ),
    (
        MessageEndEvent(message=UserMessage(content="hi", timestamp=7)),
        f'{{"type": "message_end", "message": {USER}}}',
    ),
    (
        ToolExecutionStartEvent(tool_call_id="1", tool_name="ls", args={"a_b": 1}),
        '{"type": "tool_execution_start", "toolCallId": "1", "toolName": "ls", "args": {"a_b": 1}}',
    ),
    (
        ToolExecutionUpdateEvent(tool_call_id="1", tool_name="ls", args={}, partial_result=ToolResult()),
        """{"type": "tool_execution_update", "toolCallId": "1", "toolName": "ls", "args": {},
            "partialResult": {"content": [], "isError": false, "terminate": false}}""",
    ),
    (
        ToolExecutionEndEvent(
            tool_call_id="1",
            tool_name="ls",
            result=ToolResult.text("x", details={"a_b": 1}),
            is_error=False,
            duration_ms=2,
        ),
        """{"type": "tool_execution_end", "toolCallId": "1", "toolName": "ls", "isError": false, "durationMs": 2,
            "result": {"content": [{"type": "text", "text": "x"}], "details": {"a_b": 1}, "isError": false,
                "terminate": false}}""",
    ),
    (QueueUpdateEvent(steering=("a",), follow_up=()), '{"type": "queue_update", "steering": ["a"], "followUp": []}'),
    (
        EntryAppendedEvent(entry=SessionInfoEntry(**HERE, name="n")),
        f'{{"type": "entry_appended", "entry": {{"type": "session_info", {AT}, "name": "n"}}}}',
    ),
    (CompactionStartEvent(reason="manual"), '{"type": "compaction_start", "reason": "manual"}'),
    (
        CompactionEndEvent(
            reason="overflow",
            result=Compaction(summary="s", first_kept_entry_id="a", tokens_before=9, estimated_tokens_after=2),
            will_retry=True,
        ),
        """{"type": "compaction_end", "reason": "overflow", "aborted": false, "willRetry": true,
            "result": {"summary": "s", "firstKeptEntryId": "a", "tokensBefore": 9, "estimatedTokensAfter": 2}}""",
    ),
    (
        AutoRetryStartEvent(attempt=1, max_attempts=3, delay_ms=2000, error_message="e"),
        '{"type": "auto_retry_start", "attempt": 1, "maxAttempts": 3, "delayMs": 2000, "errorMessage": "e"}',
    ),
    (
        AutoRetryEndEvent(success=False, attempt=3, final_error="e"),
        '{"type": "auto_retry_end", "success": false, "attempt": 3, "finalError": "e"}',
    ),
    (AgentSettledEvent(), '{"type": "agent_settled", "aborted": false}'),
    (
        ExtensionErrorEvent(extension_path="guard", event="tool_call", error="e"),
        '{"type": "extension_error", "extensionPath": "guard", "event": "tool_call", "error": "e"}',
    ),
]
UPDATES = [
    (builder.text_start(), '{"type": "text_start", "contentIndex": 0}'),
    (builder.text(0, "hi"), '{"type": "text_delta", "contentIndex": 0, "delta": "hi"}'),
    (builder.text_end(0), '{"type": "text_end", "contentIndex": 0, "content": "hi"}'),
    (builder.thinking_start(), '{"type": "thinking_start", "contentIndex": 1}'),
    (builder.thinking(1, "hm"), '{"type": "thinking_delta", "contentIndex": 1, "delta": "hm"}'),
    (builder.thinking_end(1), '{"type": "thinking_end", "contentIndex": 1, "content": "hm"}'),
    (
        builder.tool_call_start("c1", "ls"),
        '{"type": "toolcall_start", "contentIndex": 2, "id": "c1", "toolName": "ls"}',
    ),
    (builder.tool_call(2, '{"a":1}'), '{"type": "toolcall_delta", "contentIndex": 2, "delta": "{\\"a\\":1}"}'),
    (
        builder.tool_call_end(2),
        """{"type": "toolcall_end", "contentIndex": 2,
            "toolCall": {"type": "toolCall", "id": "c1", "name": "ls", "arguments": {"a": 1}}}""",
    ),
]


def by_tag(pair):
    return json.loads(pair[1]).get("type", json.loads(pair[1]).get("role"))


class TestLiteral:
    @for_each("pair", [*CONTENT, *MESSAGES, *ENTRIES, *EVENTS])
    def test_a_value_is_written_as_in_the_contract(self, pair):
        value, literal = pair

        assert to_wire(value) == json.loads(literal)
        assert json.loads(dumps(value)) == json.loads(literal)

    @for_each("pair", CONTENT)
    def test_block_is_read(self, pair):
        value, literal = pair

        assert content_from_wire(json.loads(literal)) == value

    @for_each("pair", MESSAGES)
    def test_message_is_read(self, pair):
        value, literal = pair

        assert message_from_wire(json.loads(literal)) == value

    @for_each("pair", ENTRIES)
    def test_entry_is_read(self, pair):
        value, literal = pair

        assert entry_from_wire(json.loads(literal)) == value

    def test_header_is_read_and_written(self):
        literal = json.loads('{"type": "session", "version": 3, "id": "x", "timestamp": "t", "cwd": "/c"}')
        header = SessionHeader(id="x", timestamp="t", cwd="/c")

        assert to_wire(header) == literal
        assert header_from_wire(literal) == header

    def test_model_is_read_and_written(self):
        model = model_from_wire(json.loads(MODEL))

        assert model == Model(
            id="m",
            name="M",
            api="a",
            provider="p",
            base_url="https://x",
            reasoning=True,
            input=("text", "image"),
            cost=ModelCost(input=1.5, output=2, tiers=(PriceTier(input_tokens_above=200_000, input=3, output=4),)),
            context_window=1000,
            max_tokens=100,
            headers={"x-a_b": "1"},
            compat={"snake_case": True},
            thinking_level_map={"xhigh": None, "low": "1"},
            extra={"promptStore": {"x": 1}},
        )
        assert to_wire(model) == json.loads(MODEL)


class TestStreaming:
    @for_each("pair", UPDATES)
    def test_message_update_is_delta_only(self, pair):
        event, literal = pair

        wire = to_wire(MessageUpdateEvent(assistant_message_event=event))

        assert wire == {
            "type": "message_update",
            "usage": json.loads(NO_USAGE),
            "assistantMessageEvent": json.loads(literal),
        }

    def test_update_reports_the_tokens_counted_so_far_without_building_the_message(self):
        class Counting(MessageBuilder):
            def partial(self):
                raise AssertionError

        source = Counting(Model(id="m", name="m", api="a", provider="p"))
        source.text_start()
        source.usage = Usage(input=5)

        wire = to_wire(MessageUpdateEvent(assistant_message_event=source.text(0, "x")))

        assert wire["usage"]["input"] == 5

    def test_update_of_a_source_that_knows_only_the_message_has_usage_too(self):
        class Plain:
            def partial(self):
                return AssistantMessage(api="a", provider="p", model="m", usage=Usage(output=9), stop_reason="pending")

        event = type(builder.text(0, "x"))(source=Plain(), content_index=0, delta="x")

        assert to_wire(MessageUpdateEvent(assistant_message_event=event))["usage"]["output"] == 9

    def test_the_end_of_a_stream_carries_reason_and_message(self):
        stream = MessageBuilder(Model(id="m", name="m", api="a", provider="p"))

        done, failed = to_wire(stream.done()), to_wire(stream.abort())

        assert (done["type"], done["reason"], done["message"]["role"]) == ("done", "stop", "assistant")
        assert (failed["type"], failed["reason"]) == ("error", "aborted")
        assert failed["error"]["errorMessage"] == "Request was aborted"
        assert "message" not in failed


class TestWriting:
    def test_tag_id_and_parent_come_first(self):
        entry = MessageEntry(**HERE, message=UserMessage(content="hi"))

        assert list(to_wire(entry)) == ["type", "id", "parentId", "timestamp", "message"]
        assert next(iter(to_wire(entry)["message"])) == "role"

    def test_a_root_entry_has_an_explicit_null_parent(self):
        assert to_wire(SessionInfoEntry(id="a", parent_id=None, timestamp="t"))["parentId"] is None

    def test_trailing_underscore_of_a_python_keyword_is_dropped(self):
        assert to_wire(TurnEndResult(continue_=True)) == {"entries": [], "continue": True}

    def test_known_fields_win_over_extra_ones(self):
        assert to_wire(TextContent("real", extra={"text": "forged", "type": "x"})) == {"type": "text", "text": "real"}

    def test_what_is_written_shares_nothing_with_the_value(self):
        arguments = {"paths": ["a"]}
        call = ToolCall("1", "read", arguments, extra={"more": [1]})

        wire = to_wire(call)
        wire["arguments"]["paths"].append("b")
        wire["more"].append(2)

        assert arguments == {"paths": ["a"]}
        assert call.extra == {"more": [1]}

    def test_careless_details_are_written_as_well_as_json_can(self):
        class Colour(Enum):
            RED = "red"

        class Sulky:
            def __str__(self):
                raise RuntimeError

        @dataclass
        class Point:
            x_pos: int

        details = {
            "path": PurePosixPath("/a"),
            "set": {2, 1},
            "tuple": (1, (2,)),
            "enum": Colour.RED,
            "time": datetime(2026, 1, 2, tzinfo=UTC),
            "bytes": b"x",
            "class": Point(1),
            "nan": math.nan,
            "infinite": -math.inf,
            1: "int key",
            None: "null key",
            False: "flag key",
        }

        wire = to_wire(ToolResult(details=details))["details"]

        assert wire["path"] == "/a"
        assert wire["set"] == [1, 2]
        assert wire["tuple"] == [1, [2]]
        assert wire["enum"] == "red"
        assert wire["time"] == "2026-01-02 00:00:00+00:00"
        assert wire["bytes"] == "b'x'"
        assert wire["class"] == {"x_pos": 1}
        assert wire["nan"] is wire["infinite"] is None
        assert (wire["1"], wire["null"], wire["false"]) == ("int key", "null key", "flag key")
        assert "Sulky" in to_wire([Sulky()])[0]
        json.loads(dumps(details))

    @pytest.mark.parametrize("value", [2**200, "\ud800", {"a": "\udfff"}, [1e300, -0.0]])
    def test_what_orjson_refuses_is_json_nevertheless(self, value):
        assert json.loads(dumps(value)) == value

    def test_deep_details_are_written(self):
        value = deep = []
        for _ in range(400):
            value.append([])
            value = value[0]

        assert json.loads(dumps(deep)) == deep

    def test_details_that_contain_themselves_do_not_stop_the_session(self):
        details = {"name": "loop"}
        details["self"] = details

        wire = to_wire(ToolResultMessage(tool_call_id="1", tool_name="x", details=details, timestamp=7))

        assert wire["toolCallId"] == "1"
        assert "contains itself" in wire["details"]
        json.loads(dumps(details))

    def test_one_value_is_one_line(self):
        line = dumps(UserMessage(content="a\nb\r\n\u2028c", timestamp=7))

        assert b"\n" not in line
        assert "\u2028".encode() in line

    def test_containers_of_values_are_written_too(self):
        wire = to_wire({"messages": (UserMessage(content="hi", timestamp=7),), "leafId": None})

        assert wire == {"messages": [json.loads(USER)], "leafId": None}


class TestReading:
    def test_unknown_fields_are_kept_next_to_the_known_ones(self):
        literal = {"role": "user", "content": "hi", "timestamp": 7, "attachments": [], "extra": {"extra": 1}}

        message = message_from_wire(literal)

        assert message.extra == {"attachments": [], "extra": {"extra": 1}}
        assert to_wire(message) == literal

    def test_blocks_that_are_not_known_are_kept_in_place(self):
        content = [{"type": "video", "url": "x"}, {"type": "text", "text": "hi"}]

        message = message_from_wire({"role": "user", "content": content, "timestamp": 7})

        assert message.content == (UnknownContent("video", {"url": "x"}), TextContent("hi"))

    @pytest.mark.parametrize("reason", ["deferred", "invented later"])
    def test_stop_reasons_of_a_newer_pi_are_kept(self, reason):
        wire = to_wire(AssistantMessage(api="a", provider="p", model="m")) | {"stopReason": reason}

        assert message_from_wire(wire).stop_reason == reason

    def test_null_means_the_same_as_an_absent_field(self):
        wire = to_wire(AssistantMessage(api="a", provider="p", model="m", timestamp=7))
        wire["errorMessage"] = None
        wire["usage"]["cost"]["total"] = None  # how JavaScript writes NaN

        message = message_from_wire(wire)

        assert message.error_message is None
        assert message.usage.cost.total == 0

    def test_a_missing_timestamp_is_now(self):
        assert message_from_wire({"role": "user", "content": "hi"}).timestamp > 1_700_000_000_000

    @pytest.mark.parametrize(
        ("old", "name", "value"),
        [
            ({"role": "toolResult", "tool_use_id": "1", "toolName": "x"}, "tool_call_id", "1"),
            ({"role": "toolResult", "tool_use_id": "1", "toolCallId": "2", "toolName": "x"}, "tool_call_id", "2"),
            ({"role": "hookMessage", "customType": "n", "content": "x"}, "role", "custom"),
            ({"role": "custom", "customType": "n", "content": "x", "display": "yes"}, "display", True),
        ],
    )
    def test_message_of_an_older_version_is_read(self, old, name, value):
        message = message_from_wire(old)

        assert getattr(message, name) == value
        assert message.extra == {}

    def test_entries_of_an_older_version_are_read(self):
        entry = entry_from_wire(
            {"type": "compaction", "id": "b", "timestamp": "t", "summary": "s", "firstKeptId": "a", "tokensBefore": 1}
        )

        assert (entry.first_kept_entry_id, entry.parent_id, entry.extra) == ("a", None, {})

    def test_header_of_an_older_version_is_read(self):
        header = header_from_wire({"type": "session", "id": "x", "timestamp": "t", "cwd": "/", "branchedFrom": "/f"})

        assert (header.version, header.parent_session, header.extra) == (1, "/f", {})

    def test_one_class_can_be_read_by_itself(self):
        assert from_wire({"input": 3, "new": 1}, Usage) == Usage(input=3, extra={"new": 1})
        assert from_wire({"type": "agent_end", "messages": [json.loads(USER)]}, AgentEndEvent).messages[0].text == "hi"

    def test_result_of_a_tool_is_read(self):
        wire = {"content": [{"type": "text", "text": "x"}], "details": {"a_b": 1}}

        assert from_wire(wire, ToolResult) == ToolResult.text("x", details={"a_b": 1})


class TestErrors:
    @for_each(
        ("data", "message"),
        [
            (5, "Cannot read a message: must be an object, not 5"),
            ({"content": ""}, "Cannot read a message: has no 'role' that is a string"),
            ({"role": 5}, "Cannot read a message: has no 'role' that is a string"),
            (
                {"role": "user", "content": 5},
                "Cannot read a message: content: must be a string or an array, not 5",
            ),
            (
                {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": None}]},
                "Cannot read a message: content[1].text: must be a string, not None",
            ),
            (
                {"role": "toolResult", "toolName": True},
                "Cannot read a message: toolCallId: is missing; toolName: must be a string, not True",
            ),
            (
                {"role": "bashExecution", "command": "x", "output": "", "exitCode": True},
                "Cannot read a message: exitCode: must be a number or null, not True",
            ),
            (
                {"role": "custom", "customType": "x", "content": "", "display": 1},
                "Cannot read a message: display: must be true or false, not 1",
            ),
        ],
    )
    def test_a_mismatch_is_reported_with_its_path(self, data, message):
        with pytest.raises(PiError) as caught:
            message_from_wire(data)

        assert str(caught.value) == message

    def test_path_leads_through_a_session_entry(self):
        message = {
            "role": "assistant",
            "api": "a",
            "provider": "p",
            "model": "m",
            "usage": {"cost": {"cacheRead": "1"}},
        }

        with pytest.raises(PiError, match=r"message\.usage\.cost\.cacheRead: must be a number, not '1'"):
            entry_from_wire({"type": "message", "id": "a", "parentId": None, "timestamp": "t", "message": message})

    def test_wrong_tag_for_the_class_is_refused(self):
        with pytest.raises(PiError, match="type: must be 'text', not 'image'"):
            from_wire({"type": "image", "text": "x"}, TextContent)

    def test_entry_without_an_id_is_refused(self):
        with pytest.raises(PiError, match="id: is missing"):
            entry_from_wire({"type": "invented_later", "parentId": None})

    def test_model_of_a_wrong_shape_is_refused(self):
        with pytest.raises(PiError, match=r"input: must be an array, not 'text'"):
            model_from_wire({"id": "m", "name": "m", "api": "a", "provider": "p", "input": "text"})
        with pytest.raises(PiError, match=r"headers\['x'\]: must be a string, not 1"):
            model_from_wire({"id": "m", "name": "m", "api": "a", "provider": "p", "headers": {"x": 1}})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(), children, max_size=3),
    max_leaves=10,
)
FIELDS = sorted({key for _, literal in [*MESSAGES, *CONTENT, *ENTRIES] for key in json.loads(literal)})
objects = st.dictionaries(st.sampled_from([*FIELDS, "extra", "tool_call_id"]) | st.text(), json_values, max_size=6)
ROLES = sorted({json.loads(literal)["role"] for _, literal in MESSAGES})
TYPES = sorted({json.loads(literal)["type"] for _, literal in CONTENT})

READERS = [
    *((message_from_wire, literal) for _, literal in MESSAGES),
    *((content_from_wire, literal) for _, literal in CONTENT),
    *((entry_from_wire, literal) for _, literal in ENTRIES),
]


def survives(given_, returned):
    """Whether everything said before is still said; a null may be left out."""
    if isinstance(given_, dict):
        return isinstance(returned, dict) and all(
            value is None or survives(value, returned.get(key)) for key, value in given_.items()
        )
    if isinstance(given_, list):
        return len(given_) == len(returned) and all(map(survives, given_, returned))
    return given_ == returned


class TestRoundTrip:
    @given(objects, st.text().filter(lambda tag: tag not in [*ROLES, "hookMessage"]))
    def test_message_of_any_unknown_role_comes_back(self, data, role):
        data["role"] = role

        assert to_wire(message_from_wire(data)) == data

    @given(objects, st.text().filter(lambda tag: tag not in TYPES))
    def test_block_of_any_unknown_type_comes_back(self, data, kind):
        data["type"] = kind

        assert to_wire(content_from_wire(data)) == data

    @given(objects, st.sampled_from(READERS))
    def test_unknown_fields_of_a_known_tag_come_back(self, data, reader):
        read, literal = reader
        wire = {key: item for key, item in data.items() if key not in FIELDS} | json.loads(literal)

        assert to_wire(read(wire)) == wire

    @given(objects, st.sampled_from(ROLES))
    def test_anything_under_a_known_role_comes_back_or_is_refused(self, data, role):
        data["role"] = role
        if isinstance(data.get("display"), str):
            del data["display"]  # it is a flag now, see above
        try:
            message = message_from_wire(data)
        except PiError:
            return

        assert survives(data, to_wire(message))

    @given(json_values)
    def test_reading_fails_in_one_way_only(self, data):
        for read in (message_from_wire, content_from_wire, entry_from_wire, header_from_wire, model_from_wire):
            with suppress(PiError):
                read(data)

    @given(json_values)
    def test_plain_data_is_written_as_it_is(self, data):
        assert to_wire(data) == data
        assert json.loads(dumps(data)) == data


def test_writing_does_not_import_cattrs():
    code = (
        "import sys; from pi_core.wire import dumps; from pi_hookspecs import AgentStartEvent;"
        "dumps(AgentStartEvent()); print('cattrs' in sys.modules)"
    )

    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert result.stdout == "False\n"


@for_each("cls", [AssistantMessage, UserMessage, ToolResultMessage, SessionHeader, Model])
def test_the_names_of_annotations_are_there_before_they_are_looked_up(cls):
    copied = dict(_names_in_annotations(cls))  # which typing does since Python 3.14

    assert set(get_type_hints(cls, localns=copied)) >= {field.name for field in attrs.fields(cls)}


def test_a_sequence_is_read_and_what_is_wrong_in_it_is_named():
    data = {"outcome": "completed", "messages": [{"role": "user", "content": "hi", "timestamp": 1}], "entries": []}

    assert from_wire(data, AgentBeforeSettleEvent).messages[0].content == "hi"
    with pytest.raises(PiError, match=r"messages\[0\]"):
        from_wire({**data, "messages": [{"role": "user", "content": 3}]}, AgentBeforeSettleEvent)
