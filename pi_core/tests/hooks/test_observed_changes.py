"""Implementations that observe: they learn which plugin changed what, and change nothing themselves."""

from __future__ import annotations

import json
from copy import deepcopy

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from pi_core.hooks import changes
from pi_core.hooks.changes import differences
from pi_core.wire import to_wire
from pi_hookspecs import (
    AssistantMessage,
    BeforeAgentStartResult,
    ContextResult,
    SystemMessage,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    hookimpl,
)
from pi_testing import for_each, text


class Observer:
    """Comes first in load order, and is called last all the same."""

    def __init__(self):
        self.changes = {}

    @hookimpl(observe=True, tryfirst=True)
    def context(self, event):
        self.changes["context"] = event.changes
        return ContextResult(block=True, reason="an observer refuses nothing")

    @hookimpl(observe=True)
    def before_agent_start(self, event):
        self.changes["prompt"] = event.changes

    @hookimpl(observe=True)
    def before_provider_request(self, event):
        self.changes["payload"] = event.changes
        self.changes["seen"] = dict(event.payload)
        return {"nothing": "is sent"}


class Changes:
    @hookimpl
    def before_agent_start(self, event):
        return BeforeAgentStartResult(system_prompt=f"{event.system_prompt} Hurry.")

    @hookimpl
    def context(self, event):
        return ContextResult(messages=[*event.messages, UserMessage(content="and briefly")])

    @hookimpl
    def before_provider_request(self, event):
        event.headers["traceparent"] = "00"
        return {**event.payload, "service_tier": "flex", "messages": event.payload["messages"][1:]}


class ChangesInPlace:
    @hookimpl
    def before_provider_request(self, event):
        event.payload["messages"][0]["text"] = "else"


class Looks:
    @hookimpl
    def before_provider_request(self, event):
        return event.payload


@pytest.fixture
def observer():
    return Observer()


@pytest.fixture
def pi_plugins(observer):
    return {"observer": observer, "changer": Changes(), "looks": Looks(), "in-place": ChangesInPlace()}


async def test_an_observer_learns_who_changed_what(pi_session, script, observer):
    script.turn(text("one"))
    await pi_session.prompt("first")

    assert observer.changes["prompt"] == (("changer", "system_prompt"),)
    assert observer.changes["context"] == (("changer", "messages[1:2]"),)
    assert observer.changes["payload"] == (
        ("changer", "payload.messages[0:0]"),
        ("changer", "payload.service_tier"),
        ("changer", "headers.traceparent"),
        ("in-place", "payload.messages[0].text"),
    )


async def test_an_observer_gets_the_request_as_it_is_sent_and_changes_nothing(pi_session, script, observer):
    script.turn(text("one"))
    answer = await pi_session.prompt("first")

    assert answer.text == "one"
    assert script.requests[0].payload == observer.changes["seen"]
    assert observer.changes["seen"]["service_tier"] == "flex"


@pytest.mark.parametrize("pi_plugins", [{"changer": Changes()}])
async def test_a_handler_that_is_added_at_run_time_observes_too(pi_session, script, pi_plugins):
    observer = Observer()
    pi_session.hooks.add("late", "before_provider_request", observer.before_provider_request)
    script.turn(text("one"))
    await pi_session.prompt("first")

    assert ("changer", "payload.service_tier") in observer.changes["payload"]


class Follows:
    @hookimpl
    def before_provider_request(self, event):
        self.changes = event.changes


@pytest.mark.parametrize("pi_plugins", [{"changer": Changes(), "follows": Follows()}])
async def test_without_an_observer_no_change_is_looked_for(pi_session, script, pi_plugins):
    script.turn(text("one"))
    await pi_session.prompt("first")

    assert pi_plugins["follows"].changes == ()


def test_only_hooks_with_changes_can_be_observed():
    with pytest.raises(TypeError, match=r"before_agent_start, before_provider_request, context, not for 'tool_call'"):

        @hookimpl(observe=True)
        def tool_call(event):
            return None


json_data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(max_size=3), below, max_size=4),
    max_leaves=12,
)


@given(json_data, json_data)
def test_there_are_differences_exactly_where_data_differs(old, new):
    assert bool(list(differences(old, new))) == (json.dumps(old, sort_keys=True) != json.dumps(new, sort_keys=True))


@given(json_data, json_data)
def test_what_is_noted_differs_as_the_data_do(old, new):
    noted = changes._noted(old), changes._noted(new)

    assert [*changes._changes(*noted)] == [*differences(to_wire(old), to_wire(new))]


def conversation():
    return [
        UserMessage(content="look"),
        AssistantMessage(
            content=(TextContent("so"), ToolCall("call_1", "read", {"path": "a", "lines": [1, 2]})),
            api="a",
            provider="p",
            model="m",
        ),
        ToolResultMessage(tool_call_id="call_1", tool_name="read", content=(TextContent("text"),), details={"a": {}}),
        SystemMessage(content="now"),
    ]


def change_arguments(messages):
    for message in messages:
        for block in message.content[1:2] if isinstance(message, AssistantMessage) else ():
            block.arguments["lines"].append(3)


def change_details(messages):
    for message in messages:
        if isinstance(message, ToolResultMessage):
            message.details["a"]["b"] = {1, 2}


def add_to_extra(messages):
    messages[0] = evolve(messages[0], extra={"of": "a plugin"})


def add(messages):
    messages.insert(1, UserMessage(content="and briefly"))


def make_anew(messages):
    messages[:] = deepcopy(messages)


def replace(messages):
    messages[0] = UserMessage(content="look again", timestamp=messages[0].timestamp)


@given(
    st.lists(
        st.sampled_from([change_arguments, change_details, add_to_extra, add, make_anew, replace, list.pop]), max_size=3
    )
)
def test_what_is_noted_of_messages_differs_as_they_do(steps):
    messages = conversation()
    before = to_wire(messages), changes._noted(messages)
    for step in steps:
        if len(messages) > 3 or step is add:
            step(messages)
    after = to_wire(messages), changes._noted(messages)

    assert [*changes._changes(before[1], after[1])] == [*differences(before[0], after[0])]


def test_of_a_long_conversation_only_what_a_plugin_has_changed_is_converted(monkeypatch):
    messages = [each for _ in range(200) for each in conversation()[:3]]
    before = changes._noted(messages)
    converted = []
    monkeypatch.setattr(changes, "to_wire", lambda value: converted.append(value) or to_wire(value))
    messages[4].content[1].arguments["path"] = "b"

    assert [*changes._changes(before, changes._noted(messages))] == ["[4].content[1].arguments.path"]
    assert len(converted) < 6


@for_each(
    ("old", "new", "paths"),
    [
        ({"a": 1}, {"a": 1, "b": None}, ["b"]),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, ["a.b[1]"]),
        ({"a": [1, 2, 3]}, {"a": [0, 1, 2, 3]}, ["a[0:1]"]),
        ({"a": [1, 2, 3]}, {"a": [1, 3]}, ["a[1:1]"]),
        ({"a": [1]}, {"a": "x"}, ["a"]),
        ({"a": 1}, {"a": True}, ["a"]),
    ],
)
def test_a_path_leads_to_the_smallest_difference(old, new, paths):
    assert list(differences(old, new)) == paths
