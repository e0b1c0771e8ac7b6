"""The vendor's own client sees what our codec sees, and sends what our codec sends."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from pi_testing.fake_servers.openai import (
    FakeOpenAI,
    call,
    chunks,
    completion,
    completion_events,
    error,
    events,
    reasoning,
    response,
    response_events,
    text,
)

pytestmark = pytest.mark.slow  # loads the vendor's SDK

KEY = "sk-0123456789"

SCENARIOS = {
    "text": (text("Hel", "lo"),),
    "nothing": (),
    "reasoning": (reasoning("Hm", "."), text("Hello")),
    "one call": (call("call_1", "read", path="a"),),
    "parallel calls": (
        text("I read."),
        call("call_1", "read", path="\u00e4"),
        call("call_2", "ls"),
        call("call_3", "x"),
    ),
    "unicode": (text("Gr\u00fc\u00dfe ", "\N{GRINNING FACE}", "\u2028"),),
}

USAGE = {
    "completions": {
        "prompt_tokens": 100,
        "prompt_tokens_details": {"cached_tokens": 40},
        "completion_tokens": 9,
        "completion_tokens_details": {"reasoning_tokens": 3},
        "total_tokens": 109,
    },
    "responses": {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 40},
        "output_tokens": 9,
        "output_tokens_details": {"reasoning_tokens": 3},
        "total_tokens": 109,
    },
}


def openai():
    """The SDK, whose import takes half a second: not while every worker collects tests."""
    import openai as sdk

    return sdk


@pytest.fixture
async def vendor():
    """Asks with ``AsyncOpenAI`` and returns text, thinking, calls, usage and error."""
    made = []

    def client(server):
        made.append(openai().AsyncOpenAI(api_key=KEY, base_url=server.base_url, max_retries=0))
        return made[-1]

    yield SimpleNamespace(
        completions=lambda server, **body: completions_seen(client(server), body),
        responses=lambda server, **body: responses_seen(client(server), body),
    )
    for each in made:
        await each.close()


def nothing():
    return SimpleNamespace(text="", thinking="", calls={}, usage=None, error=None, stop=None)


async def completions_seen(client, body):
    seen = nothing()
    try:
        stream = await client.chat.completions.create(stream=True, **(body or {"model": "m", "messages": [user("Hi")]}))
        async for chunk in stream:
            seen.usage = chunk.usage or seen.usage
            for choice in chunk.choices:
                seen.text += choice.delta.content or ""
                seen.thinking += getattr(choice.delta, "reasoning_content", None) or ""
                seen.stop = choice.finish_reason or seen.stop
                for piece in choice.delta.tool_calls or ():
                    known = seen.calls.setdefault(piece.index, [piece.id, piece.function.name, ""])
                    known[2] += piece.function.arguments or ""
    except openai().OpenAIError as problem:
        seen.error = problem
    return seen


async def responses_seen(client, body):
    seen = nothing()
    try:
        stream = await client.responses.create(stream=True, **(body or {"model": "m", "input": "Hi"}))
        async for event in stream:
            if event.type == "response.output_text.delta":
                seen.text += event.delta
            elif event.type == "response.reasoning_summary_text.delta":
                seen.thinking += event.delta
            elif event.type == "response.output_item.done" and event.item.type == "function_call":
                seen.calls[event.output_index] = [event.item.call_id, event.item.name, event.item.arguments]
            elif event.type in ("response.completed", "response.incomplete", "response.failed"):
                seen.usage, seen.stop = event.response.usage, event.response.status
    except openai().OpenAIError as problem:
        seen.error = problem
    return seen


def user(words):
    return {"role": "user", "content": [{"type": "text", "text": words}]}


def ours(message):
    thinking = "".join(block.thinking for block in message.content if block.type == "thinking")
    calls = [(call.id.partition("|")[0], call.name, call.arguments) for call in message.tool_calls]
    return message.text, thinking, calls


def theirs(seen):
    calls = [(call_id, name, json.loads(arguments)) for call_id, name, arguments in seen.calls.values()]
    return seen.text, seen.thinking, calls


@pytest.mark.parametrize("transport", [None, "sdk"])
@pytest.mark.parametrize("api", ["completions", "responses"])
@pytest.mark.parametrize("name", SCENARIOS)
async def test_both_see_the_same_answer(make_model, chat, reply, vendor, api, name, transport):
    answer = {"completions": completion, "responses": response}[api](*SCENARIOS[name], usage=USAGE[api]).in_pieces(37)
    async with FakeOpenAI() as server:
        server.answers(answer, answer)
        seen = await getattr(vendor, api)(server)
        model = make_model(f"openai-{api}", base_url=server.base_url)
        message = await reply(model, chat.user("Hi"), transport=transport, api_key=KEY)

    assert seen.error is None
    assert ours(message) == theirs(seen)
    usage = seen.usage
    details = (usage.prompt_tokens_details if api == "completions" else usage.input_tokens_details).cached_tokens
    asked = usage.prompt_tokens if api == "completions" else usage.input_tokens
    answered = usage.completion_tokens if api == "completions" else usage.output_tokens
    assert (message.usage.input + message.usage.cache_read, message.usage.cache_read) == (asked, details)
    assert (message.usage.output, message.usage.total_tokens) == (answered, usage.total_tokens)
    assert message.stop_reason == ("toolUse" if seen.calls else "stop")


CLASSES = {
    400: "BadRequestError",
    401: "AuthenticationError",
    403: "PermissionDeniedError",
    404: "NotFoundError",
    422: "UnprocessableEntityError",
    429: "RateLimitError",
    500: "InternalServerError",
    503: "InternalServerError",
}


@pytest.mark.parametrize("api", ["completions", "responses"])
@pytest.mark.parametrize("status", CLASSES)
async def test_both_see_the_same_error(make_model, chat, reply, vendor, api, status):
    async with FakeOpenAI() as server:
        server.answers(*[error(status, "It failed", code="some_code")] * 2)
        seen = await getattr(vendor, api)(server)
        message = await reply(make_model(f"openai-{api}", base_url=server.base_url), chat.user("Hi"), api_key=KEY)

    assert type(seen.error).__name__ == CLASSES[status]
    assert "It failed" in seen.error.message
    assert "It failed" in message.error_message
    assert message.extra["requestFailure"] == {"status": seen.error.status_code, "requestId": seen.error.request_id}


async def test_both_see_an_error_in_the_midst_of_completions(make_model, chat, reply, vendor):
    broken = chunks([*completion_events(text("Hel"))[:2], {"error": {"message": "Down", "code": "x"}}], done=False)
    async with FakeOpenAI() as server:
        server.answers(broken, broken)
        seen = await vendor.completions(server)
        model = make_model(base_url=server.base_url)
        message = await reply(model, chat.user("Hi"), api_key=KEY)

    assert (type(seen.error), seen.error.message, seen.text) == (openai().APIError, "Down", "Hel")
    assert "Down" in message.error_message
    assert message.text == "Hel"


async def test_both_see_an_error_in_the_midst_of_responses(make_model, chat, reply, vendor):
    down = {"type": "error", "error": {"message": "Down", "code": "x"}, "sequence_number": 9}
    broken = events([*response_events(text("Hel"))[:5], down])
    async with FakeOpenAI() as server:
        server.answers(broken, broken)
        seen = await vendor.responses(server)
        message = await reply(make_model("openai-responses", base_url=server.base_url), chat.user("Hi"), api_key=KEY)

    assert (type(seen.error), seen.text) == (openai().APIError, "Hel")
    assert message.error_message.startswith("Error Code x: Down\nSend the prompt again")
    assert message.text == "Hel"


@pytest.mark.parametrize("api", ["completions", "responses"])
async def test_both_keep_the_text_of_a_stream_that_was_cut(make_model, chat, reply, vendor, api):
    answer = {"completions": completion, "responses": response}[api](text("Hel", "lo")).cut(after=b'"lo"')
    async with FakeOpenAI() as server:
        server.answers(answer, answer)
        seen = await getattr(vendor, api)(server)
        message = await reply(make_model(f"openai-{api}", base_url=server.base_url), chat.user("Hi"), api_key=KEY)

    assert isinstance(seen.error, openai().APIConnectionError)
    assert (message.stop_reason, message.text) == ("error", seen.text)
    assert seen.text == "Hel"


# Request bodies, field by field


OUTPUT = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}
STRICT_OUTPUT = {"name": "output", "schema": OUTPUT, "strict": True}


async def test_completions_bodies_are_those_of_the_client(make_model, chat, ask, vendor, read_tool):
    conversation = {
        "model": "gpt-fake",
        "messages": [
            {"role": "system", "content": "S"},
            user("a"),
            {
                "role": "assistant",
                "content": "Let me see.",
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path":"a"}'}}
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "ok"},
            user("b"),
        ],
        "tools": [
            {
                "type": "function",
                "function": {"name": "read", "description": "Reads a file.", "parameters": read_tool.parameters},
            }
        ],
        "stream_options": {"include_usage": True},
        "store": False,
        "max_completion_tokens": 500,
        "temperature": 0.5,
        "reasoning_effort": "high",
        "tool_choice": "auto",
        "response_format": {"type": "json_schema", "json_schema": STRICT_OUTPUT},
    }
    async with FakeOpenAI() as server:
        server.answers(completion(text("a")), completion(text("a")), completion(text("a")))
        assert (await vendor.completions(server, **conversation)).error is None
        model = make_model(base_url=server.base_url, reasoning=True, compat={"supportsStructuredOutput": True})
        messages = (
            chat.user("a"),
            chat.answer(model, chat.text("Let me see."), chat.call("c1", "read", {"path": "a"})),
            chat.result("c1", "ok"),
            chat.user("b"),
        )
        fields = {"system": "S", "tools": [read_tool], "max_tokens": 500, "temperature": 0.5, "reasoning": "high"}
        for transport in (None, "sdk"):
            options = {"tool_choice": "auto", "output_schema": OUTPUT, "transport": transport, "api_key": KEY}
            await ask(model, *messages, **options, **fields)

    sdk, kit, through_sdk = (request.json for request in server.requests)
    assert kit == sdk
    assert through_sdk == sdk
    assert server.requests[0].path == server.requests[1].path == server.requests[2].path
    assert len({request.headers["authorization"] for request in server.requests}) == 1


async def test_responses_bodies_are_those_of_the_client(make_model, chat, ask, vendor, read_tool):
    item = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}
    conversation = {
        "model": "gpt-fake",
        "input": [
            {"role": "system", "content": "S"},
            {"role": "user", "content": [{"type": "input_text", "text": "a"}]},
            item,
            {
                "type": "message",
                "role": "assistant",
                "id": "msg_1",
                "status": "completed",
                "content": [{"type": "output_text", "text": "Let me see.", "annotations": []}],
            },
            {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "read", "arguments": '{"path":"a"}'},
            {"type": "function_call_output", "call_id": "c1", "output": "ok"},
            {"role": "user", "content": [{"type": "input_text", "text": "b"}]},
        ],
        "tools": [
            {
                "type": "function",
                "name": "read",
                "description": "Reads a file.",
                "parameters": read_tool.parameters,
                "strict": False,
            }
        ],
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"effort": "low", "summary": "auto"},
        "max_output_tokens": 500,
        "prompt_cache_key": "s1",
        "tool_choice": "auto",
        "text": {"format": {"type": "json_schema", **STRICT_OUTPUT}},
    }
    async with FakeOpenAI() as server:
        server.answers(response(text("a")), response(text("a")), response(text("a")))
        assert (await vendor.responses(server, **conversation)).error is None
        flags = {"supportsStrictMode": True}
        model = make_model("openai-responses", base_url=server.base_url, reasoning=True, compat=flags)
        answer = chat.answer(
            model,
            chat.thinking("", json.dumps(item)),
            chat.text("Let me see.", '{"v":1,"id":"msg_1"}'),
            chat.call("c1|fc_1", "read", {"path": "a"}),
        )
        messages = (chat.user("a"), answer, chat.result("c1|fc_1", "ok"), chat.user("b"))
        fields = {"system": "S", "tools": [read_tool], "max_tokens": 500, "reasoning": "low", "session_id": "s1"}
        for transport in (None, "sdk"):
            options = {"tool_choice": "auto", "output_schema": OUTPUT, "transport": transport, "api_key": KEY}
            await ask(model, *messages, **options, **fields)

    sdk, kit, through_sdk = (request.json for request in server.requests)
    assert kit == sdk
    assert through_sdk == sdk


@pytest.mark.parametrize("key", [KEY, "eyJhbGciOiJub25lIn0.e30.c2ln"])
async def test_azure_is_asked_as_the_client_asks_it(make_model, chat, reply, monkeypatch, key):
    async with FakeOpenAI() as server:
        monkeypatch.setenv("AZURE_OPENAI_BASE_URL", server.azure_url)
        server.answers(*[response(text("Hi"))] * 3)
        login = {"api_key": key} if key == KEY else {"azure_ad_token": key}
        async with openai().AsyncAzureOpenAI(base_url=server.azure_url, api_version="v1", **login) as client:
            await client.responses.create(model="m", input="Hi", extra_body={"stream": True})
        model = make_model("azure-openai-responses")
        for transport in (None, "sdk"):
            message = await reply(model, chat.user("Hi"), api_key=key, transport=transport)
            assert (message.text, message.error_message) == ("Hi", None)

    for request in server.requests[1:]:
        first = server.requests[0]
        assert (request.path, request.query) == (first.path, first.query)
        for name in ("api-key", "authorization"):
            assert request.headers.get(name) == first.headers.get(name)


async def test_the_sdk_asks_entra_where_azure_has_no_key(make_model, chat, reply, monkeypatch):
    async def token():
        return "eyJhbGciOiJub25lIn0.e30.c2ln"

    monkeypatch.setattr("pi_provider_openai.entra.entra_token", token)
    async with FakeOpenAI() as server:
        monkeypatch.setenv("AZURE_OPENAI_BASE_URL", server.azure_url)
        server.answers(response(text("Hi")))
        message = await reply(make_model("azure-openai-responses"), chat.user("Hi"), api_key=None, transport="sdk")

    assert message.text == "Hi"
    assert server.request.headers["authorization"] == "Bearer eyJhbGciOiJub25lIn0.e30.c2ln"


async def test_the_client_lists_the_models():
    async with (
        FakeOpenAI(models=["a", "b"]) as server,
        openai().AsyncOpenAI(api_key=KEY, base_url=server.base_url) as client,
    ):
        listed = [model.id async for model in await client.models.list()]

    assert listed == ["a", "b"]


ASKED = {"model": "m", "messages": [{"role": "user", "content": "a"}]}
OPEN = {"type": "object", "properties": {"name": {"type": "string"}}}
CLOSED = {"required": ["name"], "additionalProperties": False}


def strict_tool(**schema):
    function = {"name": "f", "parameters": {"type": "object", **schema}, "strict": True}
    return {**ASKED, "tools": [{"type": "function", "function": function}]}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"model": "m", "messages": [{"role": "tool", "tool_call_id": "x", "content": "a"}]}, "preceding message"),
        ({"model": "m", "messages": [{"role": "assistant", "content": None}]}, "Invalid value for 'content'"),
        ({**ASKED, "response_format": {"type": "json"}}, "Invalid value: 'json' at 'response_format.type'"),
        ({**ASKED, "response_format": {"type": "json_schema"}}, "Invalid 'response_format.name'"),
        (
            {**ASKED, "response_format": {"type": "json_schema", "json_schema": {**STRICT_OUTPUT, "schema": OPEN}}},
            "'additionalProperties' is required to be supplied and to be false",
        ),
        (strict_tool(properties={"name": {"type": "string"}}), "'additionalProperties' is required to be supplied"),
        (
            strict_tool(properties={"name": {"type": "string"}}, additionalProperties=False),
            "'required' is required to be supplied and to be an array including every key",
        ),
        (strict_tool(properties={"name": {}}, **CLOSED), "schema must have a 'type' key"),
        (strict_tool(properties={"name": {"type": "array"}}, **CLOSED), "array schema missing items"),
        (strict_tool(properties={"name": {"oneOf": [{"type": "null"}]}}, **CLOSED), "'oneOf' is not permitted"),
        ({"model": "", "messages": [{"role": "user", "content": "a"}]}, "Missing required parameter: 'model'"),
    ],
)
async def test_the_fake_refuses_what_the_api_refuses(vendor, body, words):
    async with FakeOpenAI() as server:
        seen = await vendor.completions(server, **body)

    assert type(seen.error) is openai().BadRequestError
    assert words in seen.error.message
