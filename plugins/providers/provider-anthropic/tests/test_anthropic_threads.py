"""Message threads: the server holds the conversation, and requests send what is new, or all of it where that fails."""

from __future__ import annotations

import pytest
from attrs import evolve

from pi_hookspecs import Context, StreamOptions, TextContent, ToolResultMessage, UserMessage
from pi_provider_anthropic.provider import AnthropicMessages
from pi_provider_kit import Http
from pi_testing import asking, for_each
from pi_testing.conversation import final_message
from pi_testing.fake_servers.anthropic import FakeAnthropic, json_answer, message, text, thinking, tool_use

BETA = "message-threads-2026-08-12"


class Threaded(FakeAnthropic):
    """Holds conversations as the API does: each answer can be continued once, without system prompt and tools."""

    def __init__(self):
        super().__init__()
        self.held = set()
        self.refuses = ""

    def refusal(self, request):
        body = request.json
        thread = body.get("thread")
        if thread is None:
            return super().refusal(request)
        assert BETA in request.headers["anthropic-beta"].split(",")
        if self.refuses:
            return refused(self.refuses)
        if thread["type"] == "create":
            return super().refusal(request)
        assert not {"system", "tools"} & set(body)
        if thread["previous_message_id"] not in self.held:
            return refused("thread_not_found")
        self.held.remove(thread["previous_message_id"])
        return None

    def says(self, *blocks, message_id):
        self.held.add(message_id)
        self.answers(message(*blocks, message_id=message_id))


def refused(code):
    details = {"error_code": code}
    return json_answer(
        404, {"type": "error", "error": {"type": "not_found_error", "message": "No.", "details": details}}
    )


class Conversation:
    """A conversation of a session, one request after another."""

    def __init__(self, server, model):
        self.provider = AnthropicMessages(Http())
        self.model = model(server.url, compat={"supportsMessageThreads": True}, reasoning=True)
        self.options = StreamOptions(api_key="sk-ant-api03-secret-0123456789", session_id="s1")
        self.messages = []

    async def ask(self, *more, remember=True, **changes):
        """Send the conversation with more messages; the answer becomes part of it."""
        fields = {"tools": (asking.read_tool("read"),), "system_prompt": "Be brief.", **changes.pop("context", {})}
        context = Context(messages=(*self.messages, *more), **fields)
        options = evolve(self.options, **changes)
        events = [each async for each in self.provider.stream(self.model, context, options)]
        answer = final_message(events)
        if remember:
            self.messages += [*more, answer]
        return answer


@pytest.fixture
async def server():
    async with Threaded() as server:
        yield server


@pytest.fixture
def talk(server, model):
    return Conversation(server, model)


def user(content):
    return UserMessage(content=content, timestamp=1)


def sent(server):
    """Return what each request says about its thread, and how many messages it has."""
    bodies = [request.json for request in server.requests]
    return [
        (thread.get("previous_message_id", thread.get("type")), len(body["messages"]))
        for body in bodies
        for thread in [body.get("thread") or {}]
    ]


async def test_after_the_first_request_only_what_is_new_is_sent(talk, server):
    server.says(thinking("Hm.", signature="sig"), text("A. "), tool_use("toolu_1", "read", path="a"), message_id="m1")
    server.says(text("B"), message_id="m2")
    server.says(text("C"), message_id="m3")
    await talk.ask(user("one"))
    result = ToolResultMessage(tool_call_id="toolu_1", tool_name="read", content=(TextContent("x"),), timestamp=1)
    await talk.ask(result)
    await talk.ask(user("two"))

    assert sent(server) == [("create", 1), ("m1", 1), ("m2", 1)]
    first, second, third = (request.json for request in server.requests)
    assert [block["type"] for block in second["messages"][0]["content"]] == ["tool_result"]
    assert third["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "two", "cache_control": {"type": "ephemeral"}}]}
    ]
    assert first["system"]
    assert second["thinking"] == first["thinking"]


@for_each(
    ("changes", "messages"),
    [
        ({"context": {"system_prompt": "Be long."}}, None),
        ({"context": {"tools": ()}}, None),
        ({"reasoning": "high"}, None),
        ({"api_key": "sk-ant-api03-another-0123456789"}, None),
        ({"session_id": "s2"}, None),
        ({}, ["another beginning"]),
    ],
)
async def test_what_changes_the_conversation_begins_a_new_thread(model, changes, messages):
    async with Threaded() as server:
        talk = Conversation(server, model)
        server.says(text("A"), message_id="m1")
        server.says(text("B"), message_id="m2")
        await talk.ask(user("one"))
        if messages:
            talk.messages = [*map(user, messages), talk.messages[-1]]
        await talk.ask(user("two"), **changes)

        assert sent(server) == [("create", 1), ("create", 3)]


async def test_a_request_beside_the_conversation_leaves_its_thread(talk, server):
    server.says(text("A"), message_id="m1")
    server.says(text("."), message_id="m2")
    server.says(text("B"), message_id="m3")
    await talk.ask(user("one"))
    asked, talk.messages = talk.messages, []
    await talk.ask(user("one"), remember=False, max_tokens=1)
    talk.messages = asked
    await talk.ask(user("two"))

    assert sent(server) == [("create", 1), ("create", 1), ("m1", 1)]


async def test_a_thread_that_the_server_forgot_begins_again(talk, server):
    server.says(text("A"), message_id="m1")
    await talk.ask(user("one"))
    server.held.clear()
    server.says(text("B"), message_id="m2")
    answer = await talk.ask(user("two"))
    server.says(text("C"), message_id="m3")
    await talk.ask(user("three"))

    assert (answer.text, answer.stop_reason) == ("B", "stop")
    assert sent(server) == [("create", 1), ("m1", 1), ("create", 3), ("m2", 1)]


@for_each("code", ["thread_unsupported_request", "thread_fingerprint_mismatch", "thread_of_the_future"])
async def test_where_the_server_refuses_threads_the_session_goes_on_without(model, code):
    async with Threaded() as server:
        talk = Conversation(server, model)
        server.refuses = code
        server.says(text("A"), message_id="m1")
        answer = await talk.ask(user("one"))
        server.says(text("B"), message_id="m2")
        await talk.ask(user("two"))

        assert answer.text == "A"
        assert sent(server) == [("create", 1), (None, 1), (None, 3)]
        assert "anthropic-beta" not in server.requests[-1].headers


async def test_an_answer_that_broke_off_is_not_continued(talk, server):
    server.answers(message(text("A"), message_id="m1").cut(after=b"A"))
    server.says(text("B"), message_id="m2")
    broken = await talk.ask(user("one"))
    await talk.ask(user("two"))

    assert broken.stop_reason == "error"
    assert [thread for thread, _ in sent(server)] == ["create", "create"]


@for_each(
    ("compat", "options"),
    [
        ({}, {}),
        ({"supportsMessageThreads": False}, {}),
        ({"supportsMessageThreads": True}, {"cache_retention": "none"}),
        ({"supportsMessageThreads": True}, {"session_id": None}),
    ],
)
async def test_nothing_is_held_where_that_is_not_asked_for(model, compat, options):
    async with Threaded() as server:
        talk = Conversation(server, model)
        talk.model = evolve(talk.model, compat=compat)
        server.says(text("A"), message_id="m1")
        await talk.ask(user("one"), **options)

        assert "thread" not in server.request.json
        assert "anthropic-beta" not in server.request.headers
