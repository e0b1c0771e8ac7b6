"""Compiled reading: what is written is read, whatever else is in it, and what is wrong is explained."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest
from attrs.exceptions import FrozenInstanceError
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import pi_hookspecs.messages
from pi_core.wire import entry_from_wire, header_from_wire, message_from_wire, to_wire
from pi_core.wire.errors import explain
from pi_core.wire.reader import InvalidData, reader_of
from pi_hookspecs import (
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryEntry,
    CompactionEntry,
    ContextEditEntry,
    Cost,
    CustomEntry,
    CustomMessage,
    CustomMessageEntry,
    EditedContent,
    ImageContent,
    LabelEntry,
    MessageEntry,
    ModelChangeEntry,
    PiError,
    SessionEntry,
    SessionHeader,
    SessionInfoEntry,
    SystemMessage,
    TextContent,
    ThinkingContent,
    ThinkingLevelChangeEntry,
    ToolCall,
    ToolResultMessage,
    UnknownContent,
    UnknownEntry,
    UnknownMessage,
    Usage,
    UsageEntry,
    UserMessage,
)
from pi_testing import for_each

AT = {"id": "0000000b", "parent_id": "0000000a", "timestamp": "2026-01-02T03:04:05.678Z"}
USAGE = Usage(input=1, cache_write_1h=2, reasoning=3, cost=Cost(total=0.5, total_from_provider=True))
MESSAGES = [
    UserMessage(content="hi", timestamp=7),
    UserMessage(content=(TextContent("hi"), ImageContent("aGk=", "image/png"), UnknownContent("x", {"a": 1}))),
    AssistantMessage(
        content=(ThinkingContent("hm", "s", redacted=True), TextContent("hi", "s"), ToolCall("1", "ls", {"a": [1]})),
        api="a",
        provider="p",
        model="m",
        usage=USAGE,
        stop_reason="toolUse",
        error_message="e",
        timestamp=7,
        duration_ms=3,
        extra={"endTurn": True},
    ),
    ToolResultMessage(
        tool_call_id="1", tool_name="ls", content=(TextContent("x"),), details={"a": 1}, is_error=True, usage=USAGE
    ),
    SystemMessage(content=(TextContent("be brief"),)),
    BashExecutionMessage(command="ls", output="a", exit_code=1, exclude_from_context=True, full_output_path="/o"),
    CustomMessage(custom_type="note", content="x", details=[1]),
    UnknownMessage(role="hologram", extra={"x": None}),
]
ENTRIES = [
    *(MessageEntry(**AT, message=each, extra={"new": 1}) for each in MESSAGES),
    ModelChangeEntry(**AT, provider="p", model_id="m"),
    ThinkingLevelChangeEntry(**AT | {"parent_id": None}, thinking_level="high"),
    CompactionEntry(**AT, summary="s", first_kept_entry_id="a", tokens_before=9, from_hook=True, usage=USAGE),
    BranchSummaryEntry(**AT, from_id="root", summary="s", details={"a": 1}),
    CustomEntry(**AT, custom_type="todo", data=None),
    CustomMessageEntry(**AT, custom_type="todo", content=(TextContent("x"),), display=False),
    LabelEntry(**AT, target_id="a"),
    SessionInfoEntry(**AT, name="n"),
    UsageEntry(**AT, kind="title", provider="p", model="m", usage=USAGE),
    ContextEditEntry(**AT, target_id="a", replacement=None),
    ContextEditEntry(**AT, target_id="a", replacement=EditedContent((TextContent("x"),))),
    ContextEditEntry(**AT, target_id="a", replacement=EditedContent("x")),
    UnknownEntry(type="invented_later", **AT, extra={"x": [1]}),
]

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "text", "user", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "role", "text"]), inner),
    max_leaves=5,
)
KEYS = st.sampled_from(
    "type role id parentId timestamp message content tool_use_id toolCallId firstKeptId display usage cost details "
    "isError label name replacement arguments version cwd branchedFrom parentSession extra new".split()
)
NOTHING = object()
CHANGES = st.lists(
    st.tuples(
        st.lists(st.integers(0, 9), max_size=5),  # where: which member to enter, level by level
        KEYS,
        st.just(NOTHING) | JSON | st.sampled_from(["hookMessage", "hologram", "image", "yes"]),
    ),
    max_size=3,
)


def changed(wire, changes):
    for path, key, value in changes:
        place = wire
        for step in path:
            inner = place.values() if isinstance(place, dict) else place
            containers = [each for each in inner if isinstance(each, dict | list)]
            if not containers:
                break
            place = containers[step % len(containers)]
        if isinstance(place, list):
            place.append(value if value is not NOTHING else {"type": "text"})
        elif value is NOTHING:
            place.pop(key, None)
        else:
            place[key] = value
    return wire


@pytest.fixture(autouse=True, scope="module")
def clock():
    """A message without a time is made now, by either reader."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pi_hookspecs.messages, "time", SimpleNamespace(time_ns=lambda: 7_000_000))
        yield


@for_each("entry", ENTRIES)
def test_entry_in_the_form_of_today_is_read_fast(entry):
    assert reader_of(SessionEntry)(to_wire(entry)) == entry


@for_each("message", MESSAGES)
def test_what_is_read_fast_is_of_the_class_and_frozen(message):
    read = message_from_wire(to_wire(message))

    assert type(read) is type(message)
    with pytest.raises(FrozenInstanceError):
        read.role = "user"
    with pytest.raises(FrozenInstanceError):
        del read.role


def test_header_in_the_form_of_today_is_read_fast():
    header = SessionHeader(id="x", timestamp="t", cwd="/", parent_session="/f", extra={"provider": "p"})

    assert reader_of(SessionHeader)(to_wire(header)) == header


@given(entry=st.sampled_from(ENTRIES), changes=CHANGES)
@settings(max_examples=10 * settings().max_examples, deadline=None)
def test_changed_entry_is_read_or_its_problem_named(entry, changes):
    wire = changed(to_wire(entry), changes)

    try:
        found = reader_of(SessionEntry)(wire)
    except InvalidData:
        assert explain(wire, SessionEntry)
    else:
        assert explain(wire, SessionEntry) == ""
        assert repr(reader_of(SessionEntry)(to_wire(found))) == repr(found)  # 1, 1.0 and True are equal, not alike


@given(entry=st.sampled_from(ENTRIES), key=st.text(), value=JSON)
@settings(deadline=None)
def test_unknown_field_is_kept(entry, key, value):
    wire = to_wire(entry)
    assume(
        key not in {*wire, "label", "display", "data", "details", "fromHook", "usage", "name", "error", "firstKeptId"}
    )

    assert entry_from_wire({**wire, key: value}).extra[key] == value


@given(data=JSON)
@settings(deadline=None)
def test_anything_else_is_refused_in_one_way(data):
    for read in (entry_from_wire, header_from_wire, message_from_wire):
        try:
            value = read(data)
        except PiError as error:
            assert str(error).startswith("Cannot read a ")  # noqa: PT017 - or it is read, which is as good
        else:
            assert to_wire(value)


def test_what_is_missing_or_wrong_inside_a_field_is_explained():
    wire = to_wire(ENTRIES[2])
    wire["message"]["usage"]["cost"]["total"] = "1"

    with pytest.raises(PiError, match=r"message\.usage\.cost\.total: must be a number, not '1'"):
        entry_from_wire(wire)


def test_a_session_is_read_without_cattrs():
    code = (
        "import sys\n"
        "from pi_core.wire import entry_from_wire, header_from_wire\n"
        "header_from_wire({'type': 'session', 'version': 3, 'id': 'a', 'timestamp': 't', 'cwd': '/'})\n"
        "message = {'role': 'user', 'content': [{'type': 'text', 'text': 'hi'}], 'timestamp': 7}\n"
        "entry_from_wire({'type': 'message', 'id': 'a', 'parentId': None, 'timestamp': 't', 'message': message})\n"
        "assert 'cattrs' not in sys.modules"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
