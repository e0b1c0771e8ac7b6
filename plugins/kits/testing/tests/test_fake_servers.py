"""What all fake model servers share: they give scripted answers, keep requests, and notice disconnects."""

from __future__ import annotations

import asyncio
import json

import pytest

from pi_testing.fake_servers import (
    FakeServer,
    closed_url,
    html_page,
    json_answer,
    redirect,
    silence,
    sse,
    sse_event,
)
from pi_testing.fake_servers.anthropic import FakeAnthropic, message, text
from pi_testing.fake_servers.anthropic_rules import anthropic_violation
from pi_testing.fake_servers.mistral_rules import mistral_violation
from pi_testing.fake_servers.openai_rules import completions_violation, responses_violation
from pi_testing.patience import PATIENCE
from pi_testing.tables import for_each


class Client:
    """A connection that says exactly what a test wants said."""

    def __init__(self, reader, writer):
        self.reader = reader
        self.writer = writer

    async def ask(self, body=b"{}", path="/v1/messages?beta=true", **headers):
        lines = [f"POST {path} HTTP/1.1", f"content-length: {len(body)}", *(f"{k}: {v}" for k, v in headers.items())]
        self.writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        await self.writer.drain()

    async def head(self):
        return (await self.reader.readuntil(b"\r\n\r\n")).decode()

    async def chunk(self):
        size = int(await self.reader.readline(), 16)
        return (await self.reader.readexactly(size + 2))[:-2]

    async def body(self):
        chunks = []
        while chunk := await self.chunk():
            chunks.append(chunk)
        return b"".join(chunks)

    async def leave(self):
        self.writer.close()
        await self.writer.wait_closed()


@pytest.fixture
async def connect():
    clients = []

    async def connect(server):
        clients.append(Client(*await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]))))
        return clients[-1]

    yield connect
    for client in clients:
        client.writer.close()


@pytest.fixture
async def server():
    async with FakeServer() as server:
        yield server


async def test_answers_come_in_order_on_one_connection(server, connect):
    server.answers(json_answer(200, {"n": 1}), lambda request: json_answer(201, request.json))
    client = await connect(server)
    await client.ask()
    first = (await client.head(), await client.body())
    await client.ask(b'{"n": 2}')
    second = (await client.head(), await client.body())

    assert first[0].startswith("HTTP/1.1 200 OK\r\n")
    assert json.loads(first[1]) == {"n": 1}
    assert second[0].startswith("HTTP/1.1 201 Created\r\n")
    assert json.loads(second[1]) == {"n": 2}


async def test_requests_are_kept(server, connect):
    server.answers(json_answer(200, {}))
    client = await connect(server)
    await client.ask(b'{"a": 1}', "/x?y=1", **{"X-Key": "k"})
    await client.head()
    request = server.request

    assert (request.method, request.path, request.query) == ("POST", "/x", "y=1")
    assert (request.headers["x-key"], request.json) == ("k", {"a": 1})


async def test_a_test_without_an_answer_is_reported(server, connect):
    client = await connect(server)
    await client.ask()

    assert "500" in await client.head()
    assert json.loads(await client.body()) == {"error": "The test has no answer for request 1"}


async def test_events_are_sent_one_chunk_each(server, connect):
    server.answers(sse([sse_event({"a": "ä"}, "first"), sse_event("[DONE]")], x_id="7"))
    client = await connect(server)
    await client.ask()
    head = await client.head()

    assert "content-type: text/event-stream" in head
    assert "x-id: 7" in head
    assert await client.chunk() == 'event: first\ndata: {"a": "ä"}\n\n'.encode()
    assert await client.chunk() == b"data: [DONE]\n\n"


async def test_cut_answer_ends_without_its_end(server, connect):
    server.answers(sse([b"data: one\n\n", b"data: two\n\n"]).cut(b"data: on"))
    client = await connect(server)
    await client.ask()
    await client.head()

    assert await client.reader.read() == b"8\r\ndata: on\r\n"


async def test_server_notices_that_a_waiting_client_leaves(server, connect):
    server.answers(sse([b"data: one\n\n"]).stalled(4))
    client = await connect(server)
    await client.ask()
    await client.head()
    assert await client.chunk() == b"data"
    await client.leave()

    await asyncio.wait_for(server.request.client_left.wait(), PATIENCE)


async def test_silence_lasts_until_the_client_leaves(server, connect):
    server.answers(silence())
    client = await connect(server)
    await client.ask()
    client.writer.write_eof()

    assert await client.reader.read() == b""
    assert server.request.client_left.is_set()


async def test_answer_waits_for_the_test(server, connect):
    go = asyncio.Event()
    answer = sse([b"one"])
    server.answers(type(answer)(headers=answer.headers, pieces=(b"one", go, b"two")))
    client = await connect(server)
    await client.ask()
    await client.head()
    assert await client.chunk() == b"one"
    go.set()

    assert await client.body() == b"two"


async def test_answer_may_be_cut_into_equal_pieces(server, connect):
    server.answers(json_answer(200, [1, 2]).in_pieces(1))
    client = await connect(server)
    await client.ask()
    await client.head()

    assert [await client.chunk() for _ in range(6)] == [b"[", b"1", b",", b" ", b"2", b"]"]


def test_pages_and_redirects_have_the_expected_content():
    assert b"<title>502 Bad Gateway</title>" in html_page(502, "502 Bad Gateway").body
    assert redirect("https://elsewhere.test/").headers["location"] == "https://elsewhere.test/"


async def test_nothing_answers_at_a_closed_url():
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", int(closed_url().rpartition(":")[2]))


GOOD = {"model": "m", "max_tokens": 9000, "messages": [{"role": "user", "content": "hi"}]}
CALL = {"type": "tool_use", "id": "t1", "name": "read", "input": {}}
ASKED = {"role": "user", "content": "hi"}
CALLED = {"role": "assistant", "content": [CALL]}
TEXT = {"type": "text", "text": "ok"}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}


def said(*content):
    return {"role": "assistant", "content": [*content]}


def image(data="iVBORw0KGgoAAAAN"):
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


IMAGE = image()


def declared(**schema):
    return {"name": "a", "input_schema": {"type": "object", "properties": {}, **schema}}


def result(**fields):
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "ok", **fields}]}


@pytest.mark.parametrize(
    ("changes", "violation"),
    [
        ({}, None),
        ({"messages": [ASKED, CALLED, result()]}, None),
        ({"max_tokens": None}, "max_tokens: Field required"),
        ({"messages": [{"role": "assistant", "content": "hi"}]}, "first message must use the user role"),
        ({"messages": [{"role": "user", "content": " "}]}, "must contain non-whitespace text"),
        ({"messages": [ASKED, CALLED, ASKED]}, "without `tool_result` blocks immediately after: t1"),
        ({"messages": [ASKED, CALLED]}, "without `tool_result` blocks immediately after: t1"),
        ({"messages": [ASKED, result()]}, "unexpected `tool_use_id`"),
        ({"messages": [ASKED, CALLED, result(is_error=True, content=[])]}, "must be type `text` if `is_error`"),
        ({"messages": [ASKED, said(CALL, TEXT), result()]}, "without `tool_result` blocks immediately after"),
        (
            {"messages": [ASKED, said(TEXT, THOUGHT), ASKED]},
            "The final block in an assistant message cannot be `thinking`",
        ),
        ({"messages": [ASKED, said({**CALL, "name": "a.b"}), result()]}, "tool_use.name: String should match pattern"),
        ({"messages": [ASKED, CALLED, result(), CALLED, result()]}, "`tool_use` ids must be unique"),
        ({"messages": [ASKED, said(TEXT)]}, "does not support assistant message prefill"),
        ({"messages": [{"role": "user", "content": [IMAGE] * 101}]}, "0 document pages + 101 images > 100"),
        (
            {"messages": [{"role": "user", "content": [image(data="/9j/4AAQSkZJRg==")]}]},
            "does not match the provided media",
        ),
        ({"messages": [{"role": "user", "content": [image(data="")]}]}, "image cannot be empty"),
        ({"tools": [declared(anyOf=[])]}, "does not support anyOf at the top level"),
        ({"tools": [declared(type="string")]}, "must be a JSON Schema of 'type: \"object\"'"),
        ({"tools": [declared(properties={"$.a": {}})]}, "Property keys should match pattern"),
        ({"tools": [declared(properties={"a": {"type": "any"}})]}, "must match JSON Schema draft 2020-12"),
        ({"tools": [declared(properties={"a": {"$ref": "#/$defs/gone"}})]}, "can't be resolved"),
        ({"thinking": {"type": "enabled", "budget_tokens": 1000}}, "greater than or equal to 1024"),
        ({"thinking": {"type": "enabled", "budget_tokens": 9000}}, "`max_tokens` must be greater"),
        ({"thinking": {"type": "adaptive"}, "temperature": 0.5}, "`temperature` may only be set to 1"),
        ({"thinking": {"type": "adaptive"}, "tool_choice": {"type": "any"}}, "Thinking may not be enabled"),
        ({"tools": [{"name": "a"}, {"name": "a"}]}, "Tool names must be unique"),
        ({"output_config": {"format": {"type": "json"}}}, "Input tag 'json' does not match"),
        (
            {"output_config": {"format": {"type": "json_schema", "schema": {"type": "object", "properties": {}}}}},
            "'additionalProperties' must be explicitly set to false",
        ),
        (
            {"output_config": {"format": {"type": "json_schema", "schema": {"type": "integer", "minimum": 1}}}},
            "property 'minimum' is not supported",
        ),
        ({"system": [{"cache_control": {}}] * 5}, "A maximum of 4 blocks with cache_control"),
    ],
)
async def test_fake_anthropic_refuses_what_the_api_refuses(connect, changes, violation):
    async with FakeAnthropic() as server:
        server.answers(message(text("ok")))
        client = await connect(server)
        body = {**GOOD, **changes}
        await client.ask(json.dumps(body).encode(), **{"x-api-key": "k", "anthropic-version": "2023-06-01"})
        head, reply = await client.head(), await client.body()

    if violation is None:
        assert "200 OK" in head
    else:
        assert "400 Bad Request" in head
        assert violation in json.loads(reply)["error"]["message"]


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/v1/other", {"x-api-key": "k", "anthropic-version": "v"}, "404"),
        ("/v1/messages", {"anthropic-version": "v"}, "401"),
        ("/v1/messages", {"authorization": "Bearer k"}, "400"),
    ],
)
async def test_fake_anthropic_looks_at_path_key_and_version(connect, path, headers, status):
    async with FakeAnthropic() as server:
        client = await connect(server)
        await client.ask(json.dumps(GOOD).encode(), path, **headers)

        assert status in await client.head()


FUNCTION = {"name": "f", "parameters": {"type": "object", "properties": {}}}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"prompt_cache_key": 7}, "prompt_cache_key"),
        ({"tools": [{"type": "function", "function": {**FUNCTION, "strict": "yes"}}]}, "strict"),
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "tools[0].function.parameters"),
    ],
)
def test_mistral_refuses_fields_of_a_wrong_kind(fields, words):
    asked = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
    right = {"prompt_cache_key": "s1", "tools": [{"type": "function", "function": FUNCTION}]}

    assert mistral_violation({**asked, **right}) is None
    status, content = mistral_violation({**asked, **fields})
    assert (status, words in content) == (422, True)


CHAT = {"role": "user", "content": "Hi"}
OBJECT = {"type": "object", "properties": {}}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}
OUTPUT = {"type": "message", "role": "assistant", "content": []}
NOT_FOLLOWED = "'rs_1' of type 'reasoning' was provided without its required following item"


def chat_call(name="read"):
    calls = [{"id": "c1", "type": "function", "function": {"name": name, "arguments": "{}"}}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


@for_each(
    ("items", "violation"),
    [
        ([CHAT, {**OUTPUT, "id": "msg_1"}], None),
        ([CHAT, REASONING, {**OUTPUT, "id": "msg_1"}], None),
        ([CHAT, {**REASONING, "id": None}, OUTPUT], None),
        ([CHAT, REASONING, CHAT], NOT_FOLLOWED),
        ([CHAT, REASONING], NOT_FOLLOWED),
        ([CHAT, REASONING, {**OUTPUT, "id": "msg_pi_1"}], NOT_FOLLOWED),
        ([CHAT, REASONING, OUTPUT], NOT_FOLLOWED),
    ],
)
def test_responses_refuses_reasoning_without_the_item_that_it_came_with(items, violation):
    problem = responses_violation({"model": "m", "input": items})

    assert problem is None if violation is None else violation in problem


@for_each(
    ("changes", "violation"),
    [
        ({}, None),
        (
            {"messages": [CHAT, chat_call(), {"role": "tool", "tool_call_id": "c1", "content": "\r\n"}]},
            "must not be blank",
        ),
        (
            {"messages": [CHAT, chat_call("a.b"), {"role": "tool", "tool_call_id": "c1", "content": "x"}]},
            "match pattern",
        ),
        (
            {"tools": [{"function": {"name": "f", "parameters": {"type": "object"}}}]},
            "object schema missing properties",
        ),
        ({"tools": [{"function": {"name": "f", "parameters": {**OBJECT, "oneOf": []}}}]}, "at the top level"),
        (
            {"tools": [{"function": {"name": "f", "parameters": {**OBJECT, "properties": {"a": {"type": "array"}}}}}]},
            "array schema missing items",
        ),
        ({"tools": [{"function": {"name": "x" * 65, "parameters": OBJECT}}]}, "match pattern"),
    ],
)
def test_completions_refuses_what_openai_refuses_of_tools(changes, violation):
    problem = completions_violation({"model": "m", "messages": [CHAT], **changes})

    assert problem is None if violation is None else violation in problem


def test_claude_refuses_a_strict_tool_that_is_not_closed():
    schema = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 1}}}
    asked = {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "Hi"}]}
    free = {**asked, "tools": [{"name": "f", "input_schema": schema}]}
    strict = {**asked, "tools": [{"name": "f", "input_schema": schema, "strict": True}]}

    assert anthropic_violation(free) is None
    assert "'additionalProperties' must be explicitly set to false" in anthropic_violation(strict)
