"""The vendor's own client sees what our codec sees, and sends what our codec sends."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from google import genai
from google.genai import errors, types

from pi_hookspecs import Tool
from pi_testing.fake_servers.google import (
    FakeGoogle,
    answer,
    answer_events,
    blocked,
    call,
    error,
    error_event,
    html_page,
    silence,
    stream,
    text,
    thought,
)
from pi_testing.fake_servers.google_rules import google_violation

pytestmark = pytest.mark.slow  # loads the vendor's SDK

KEY = "AIza-0123456789"

SCENARIOS = {
    "text": (text("Hel", "lo"),),
    "nothing": (),
    "thinking": (thought("Hm", "."), text("Hello", signature="c2ln")),
    "one call": (call("read", path="a", signature="c2ln"),),
    "parallel calls": (
        text("I read."),
        call("read", call_id="c1", path="\u00e4"),
        call("ls", call_id="c2"),
        call("x", call_id="c3", deep={"a": [1, None]}),
    ),
    "unicode": (text("Gr\u00fc\u00dfe ", "\N{GRINNING FACE}", "\u2028"),),
}

USAGE = {
    "promptTokenCount": 100,
    "cachedContentTokenCount": 40,
    "candidatesTokenCount": 6,
    "thoughtsTokenCount": 3,
    "totalTokenCount": 109,
}


@pytest.fixture
def vendor():
    """Asks with ``google.genai`` and returns text, thinking, calls, usage and error."""

    async def asked(server, contents="Hi", config=None, *, model="gemini-fake", wait_ms=None, **who):
        options = types.HttpOptions(base_url=server.url, timeout=wait_ms, api_version=who.pop("version", "v1beta"))
        client = genai.Client(**{"api_key": KEY, "vertexai": False, **who}, http_options=options)
        seen = SimpleNamespace(text="", thinking="", calls=[], usage=None, error=None, stop=None)
        try:
            chunks = await client.aio.models.generate_content_stream(model=model, contents=contents, config=config)
            async for chunk in chunks:
                take(chunk, seen)
        except Exception as problem:  # noqa: BLE001 - the client lets errors of its HTTP library through
            seen.error = problem
        finally:
            await client.aio.aclose()
        return seen

    return asked


def take(chunk, seen):
    seen.usage = chunk.usage_metadata or seen.usage
    for candidate in chunk.candidates or ():
        seen.stop = candidate.finish_reason or seen.stop
        for part in (candidate.content.parts if candidate.content else None) or ():
            if part.function_call:
                seen.calls.append((part.function_call.id, part.function_call.name, part.function_call.args))
            elif part.thought:
                seen.thinking += part.text or ""
            else:
                seen.text += part.text or ""


@pytest.mark.parametrize("transport", [None, "sdk"])
@pytest.mark.parametrize("name", SCENARIOS)
async def test_both_see_the_same_answer(make_model, chat, reply, vendor, name, transport):
    recorded = answer(*SCENARIOS[name], usage=USAGE).in_pieces(37)
    async with FakeGoogle() as server:
        server.answers(recorded, recorded)
        seen = await vendor(server)
        message = await reply(make_model(base_url=server.base_url), chat.user("Hi"), transport=transport)

    thinking = "".join(block.thinking for block in message.content if block.type == "thinking")
    spoken = "".join(block.text for block in message.content if block.type == "text")
    assert seen.error is None
    assert (spoken, thinking) == (seen.text, seen.thinking)
    assert [(each.name, each.arguments) for each in message.tool_calls] == [each[1:] for each in seen.calls]
    assert all(given in (None, each.id) for each, (given, *_) in zip(message.tool_calls, seen.calls, strict=True))
    usage = message.usage
    assert usage.input + usage.cache_read == seen.usage.prompt_token_count
    assert usage.cache_read == seen.usage.cached_content_token_count
    assert usage.output == seen.usage.candidates_token_count + seen.usage.thoughts_token_count
    assert usage.total_tokens == seen.usage.total_token_count


@pytest.mark.parametrize(
    ("recorded", "kind", "words"),
    [
        (error(400, "Bad request."), errors.ClientError, "Bad request."),
        (error(401, "Who?"), errors.ClientError, "Who?"),
        (error(403, "No."), errors.ClientError, "No."),
        (error(404, "Nothing here."), errors.ClientError, "Nothing here."),
        (error(429, "Slow down."), errors.ClientError, "Slow down."),
        (error(500, "Oh."), errors.ServerError, "Oh."),
        (error(503, "Overloaded."), errors.ServerError, "Overloaded."),
        (html_page(502, "Some proxy"), errors.ServerError, "Some proxy"),
        (stream([answer_events(text("Hel"))[0], error_event(503, "Midst.")]), errors.ServerError, "Midst."),
    ],
    ids=["400", "401", "403", "404", "429", "500", "503", "page", "event"],
)
async def test_both_see_the_same_error(make_model, chat, reply, vendor, recorded, kind, words):
    async with FakeGoogle() as server:
        server.answers(recorded, recorded)
        seen = await vendor(server)
        message = await reply(make_model(base_url=server.base_url), chat.user("Hi"))

    assert type(seen.error) is kind
    assert words in str(seen.error)
    assert words in message.error_message
    assert message.extra["requestFailure"]["status"] == seen.error.code
    assert message.text == seen.text


async def test_a_cut_stream_is_an_error_to_both(make_model, chat, reply, vendor):
    cut = answer(text("Hel", "lo")).cut(after=b"Hel")
    async with FakeGoogle() as server:
        server.answers(cut, cut)
        seen = await vendor(server)
        message = await reply(make_model(base_url=server.base_url), chat.user("Hi"))

    assert type(seen.error).__name__ == "RemoteProtocolError"
    assert message.stop_reason == "error"
    assert (message.text, seen.text) in (("Hel", "Hel"), ("", ""))


async def test_a_server_that_is_silent_is_an_error_to_both(make_model, chat, reply, vendor):
    async with FakeGoogle() as server:
        server.answers(silence(), silence())
        seen = await vendor(server, wait_ms=100)
        message = await reply(make_model(base_url=server.base_url), chat.user("Hi"), timeout_ms=100)

    assert type(seen.error).__name__ == "ReadTimeout"
    assert message.error_message.startswith("Connection error.")


@pytest.mark.parametrize(
    ("recorded", "stop"),
    [
        (answer(text("Hel"), finish="SAFETY"), types.FinishReason.SAFETY),
        (answer(text("Hel"), finish="MALFORMED_FUNCTION_CALL"), types.FinishReason.MALFORMED_FUNCTION_CALL),
        (answer(text("Hel"), finish=None), None),
        (blocked(), None),
    ],
    ids=["safety", "malformed", "no reason", "blocked"],
)
async def test_what_the_client_leaves_to_its_user_is_an_error_of_ours(make_model, chat, reply, vendor, recorded, stop):
    async with FakeGoogle() as server:
        server.answers(recorded, recorded)
        seen = await vendor(server)
        message = await reply(make_model(base_url=server.base_url), chat.user("Hi"))

    assert (seen.error, seen.stop) == (None, stop)
    assert message.stop_reason == "error"
    assert message.text == seen.text


# Requests


SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
    "required": ["path"],
}

CONVERSATION = [
    types.Content(role="user", parts=[types.Part(text="a"), types.Part.from_bytes(data=b"img", mime_type="image/png")]),
    types.Content(
        role="model",
        parts=[
            types.Part(text="Hm.", thought=True),
            types.Part(text="Let me see."),
            types.Part(
                function_call=types.FunctionCall(id="c1", name="read", args={"path": "a"}), thought_signature=b"sig"
            ),
            types.Part(function_call=types.FunctionCall(id="c2", name="read", args={"path": "b"})),
        ],
    ),
    types.Content(
        role="user",
        parts=[
            types.Part(
                function_response=types.FunctionResponse(
                    id="c1",
                    name="read",
                    response={"output": "ok"},
                    parts=[
                        types.FunctionResponsePart(
                            inline_data=types.FunctionResponseBlob(data=b"img", mime_type="image/png")
                        )
                    ],
                )
            ),
            types.Part(function_response=types.FunctionResponse(id="c2", name="read", response={"error": "no"})),
        ],
    ),
    types.Content(role="user", parts=[types.Part(text="b")]),
]


OUTPUT = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
CONFIG = types.GenerateContentConfig(
    system_instruction="S",
    max_output_tokens=500,
    temperature=0.5,
    response_mime_type="application/json",
    response_json_schema=OUTPUT,
    tools=[
        types.Tool(
            function_declarations=[
                types.FunctionDeclaration(name="read", description="Reads a file.", parameters_json_schema=SCHEMA)
            ]
        )
    ],
    tool_config=types.ToolConfig(
        function_calling_config=types.FunctionCallingConfig(mode="ANY", allowed_function_names=["read"])
    ),
    thinking_config=types.ThinkingConfig(include_thoughts=True, thinking_level="LOW"),
)


@pytest.fixture
def conversation(chat):
    def messages(model):
        answer = chat.answer(
            model,
            chat.thinking("Hm."),
            chat.text("Let me see."),
            chat.call("c1", "read", {"path": "a"}, "c2ln"),
            chat.call("c2", "read", {"path": "b"}),
        )
        image = chat.image()
        return (
            chat.user(chat.text("a"), image),
            answer,
            chat.result("c1", "ok", image),
            chat.result("c2", "no", is_error=True),
            chat.user("b"),
        )

    return messages


@pytest.fixture
def same_request(make_model, conversation, ask, vendor):
    """Ask with the client and over both transports; return the three requests."""

    async def requests(api, version, who, **options):
        async def execute(*_):
            raise NotImplementedError

        tool = Tool(name="read", description="Reads a file.", parameters=SCHEMA, execute=execute)
        async with FakeGoogle() as server:
            server.answers(*[answer(text("a"))] * 3)
            seen = await vendor(server, CONVERSATION, CONFIG, model="gemini-3-fake", version=version, **who)
            assert seen.error is None
            base_url = server.base_url if api == "google-generative-ai" else server.url
            model = make_model(api, id="gemini-3-fake", base_url=base_url, reasoning=True, input=("text", "image"))
            fields = {"system": "S", "tools": [tool], "max_tokens": 500, "temperature": 0.5, "reasoning": "low"}
            fields["output_schema"] = OUTPUT
            fields["tool_choice"] = {"type": "tool", "name": "read"}
            for transport in (None, "sdk"):
                events = await ask(model, *conversation(model), transport=transport, **fields, **options)
                assert events[-1].type == "done", events[-1]
            return server.requests

    return requests


def camel(value):
    """Return JSON with the names of fields in one of the two spellings that Google takes; the client mixes them."""
    if isinstance(value, dict):
        heads = ((name.split("_"), item) for name, item in value.items())
        return {first + "".join(map(str.title, rest)): camel(item) for (first, *rest), item in heads}
    return [camel(item) for item in value] if isinstance(value, list) else value


def assert_same(requests):
    theirs, *ours = requests
    for request in ours:
        assert request.json == camel(theirs.json)
        assert (request.path, request.query) == (theirs.path, theirs.query)
        for name in ("x-goog-api-key", "authorization", "content-type"):
            assert request.headers.get(name) == theirs.headers.get(name)


async def test_gemini_is_asked_as_the_client_asks_it(same_request):
    assert_same(await same_request("google-generative-ai", "v1beta", {}))


async def test_vertex_is_asked_as_the_client_asks_it_with_a_key(same_request):
    assert_same(await same_request("google-vertex", "v1", {"vertexai": True}))


async def test_vertex_is_asked_as_the_client_asks_it_for_a_project(same_request, monkeypatch):
    from google.oauth2.credentials import Credentials

    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "proj-1")
    monkeypatch.setenv("GOOGLE_CLOUD_LOCATION", "us-east5")
    who = {"vertexai": True, "api_key": None, "credentials": Credentials(token="ya29.mine")}
    who |= {"project": "proj-1", "location": "us-east5"}

    assert_same(await same_request("google-vertex", "v1", who, api_key="ya29.mine"))


@pytest.mark.parametrize(
    ("contents", "words"),
    [
        ([], "contents"),
        (
            [types.Content(role="user", parts=[types.Part.from_function_response(name="x", response={})])],
            "function response",
        ),
        ([types.Content(role="model", parts=[types.Part.from_function_call(name="x", args={})])], "function response"),
        ([types.Content(role="user", parts=[types.Part.from_bytes(data=b"x", mime_type="image/gif")])], "MIME type"),
    ],
    ids=["nothing", "stray result", "call without result", "gif"],
)
async def test_the_fake_refuses_what_the_api_refuses(vendor, contents, words):
    async with FakeGoogle() as server:
        seen = await vendor(server, contents)

    assert words in str(seen.error)


async def test_the_fake_refuses_functions_of_gemini_2_in_json(vendor):
    async with FakeGoogle() as server:
        seen = await vendor(server, CONVERSATION[:1], CONFIG, model="gemini-2.5-fake")

    assert "Function calling with a response mime type: 'application/json' is unsupported" in str(seen.error)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"mode": "SOMETIMES"}, "Invalid value at 'tool_config.function_calling_config.mode'"),
        ({"mode": "VALIDATED"}, "without function_declarations"),
        ({"mode": "AUTO", "allowedFunctionNames": ["read"]}, "only be set when the mode is ANY or VALIDATED"),
    ],
)
def test_the_fake_knows_the_modes_of_calling(config, words):
    contents = [{"role": "user", "parts": [{"text": "Hi"}]}]
    body = {"contents": contents, "toolConfig": {"functionCallingConfig": config}}

    assert words in google_violation(body, "gemini-3-fake")


@pytest.mark.parametrize(("model", "refused"), [("gemini-2.5-pro", True), ("gemini-3-pro", False), ("m1", False)])
def test_the_fake_takes_images_in_results_but_for_gemini_1_and_2(model, refused):
    image = {"inlineData": {"mimeType": "image/png", "data": "aW1n"}}
    call = {"functionCall": {"name": "read", "args": {}}, "thoughtSignature": "c2lnbmVk"}
    result = {"functionResponse": {"name": "read", "response": {"output": "ok"}, "parts": [image]}}
    turns = [("user", {"text": "Hi"}), ("model", call), ("user", result)]
    body = {"contents": [{"role": role, "parts": [part]} for role, part in turns]}

    assert ("Multimodal function responses" in (google_violation(body, model) or "")) is refused
