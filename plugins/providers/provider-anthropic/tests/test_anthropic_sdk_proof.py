"""The fake server is proven by the vendor's own client: it sees what our codec sees, and sends what we send."""

from __future__ import annotations

import json

import pytest

from pi_hookspecs import (
    AssistantMessage,
    ImageContent,
    StreamOptions,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from pi_testing.fake_servers.anthropic import (
    error,
    error_event,
    message,
    message_events,
    redacted_thinking,
    silence,
    stream,
    text,
    thinking,
    tool_use,
)

pytestmark = pytest.mark.slow  # loads the vendor's SDK

ANSWERS = {
    "text": message(text("Hello, ", "wörld \N{WAVING HAND SIGN}")),
    "thinking": message(thinking("Let me", " see", signature="c2lnbmVk"), text("so")),
    "thinking without words": message(thinking(signature="c2lnbmVk"), text("so")),
    "redacted thinking": message(redacted_thinking("b3BhcXVl"), text("so")),
    "parallel calls": message(
        text("I look."),
        tool_use("toolu_1", "read", path="a\n\N{SNOWMAN}", deep={"x": [1, None]}),
        tool_use("toolu_2", "bash", command="ls"),
        tool_use("toolu_3", "now"),
    ),
    "length": message(text("cut"), stop="max_tokens"),
    "refusal": message(text("I"), stop="refusal"),
    "empty": message(),
    "usage": message(
        text("a"),
        usage={
            "input_tokens": 100,
            "cache_read_input_tokens": 1000,
            "cache_creation_input_tokens": 500,
            "cache_creation": {"ephemeral_5m_input_tokens": 200, "ephemeral_1h_input_tokens": 300},
        },
        output_tokens=42,
    ),
    "byte by byte": message(text("wörld"), tool_use("toolu_1", "read", path="ä")).in_pieces(1),
}


def anthropic():
    """The SDK, whose import takes a second: not while every worker collects tests."""
    return pytest.importorskip("anthropic")


def client(server, **options):
    return anthropic().AsyncAnthropic(api_key="k", base_url=server.url, max_retries=0, **options)


def simple(block):
    """Return a content block of theirs in the words of ours."""
    if block.type == "text":
        return TextContent(block.text)
    if block.type == "thinking":
        return ThinkingContent(block.thinking, thinking_signature=block.signature or None)
    if block.type == "redacted_thinking":
        return ThinkingContent("", thinking_signature=block.data, redacted=True)
    return ToolCall(block.id, block.name, block.input)


@pytest.mark.parametrize("scenario", ANSWERS)
async def test_sdk_sees_the_same_message(ask, server, scenario):
    server.answers(ANSWERS[scenario], ANSWERS[scenario])
    ours = (await ask()).message
    async with (
        client(server) as sdk,
        sdk.messages.stream(
            model="claude-fake", max_tokens=10, messages=[{"role": "user", "content": "hi"}]
        ) as streaming,
    ):
        theirs = await streaming.get_final_message()

    assert ours.content == tuple(simple(block) for block in theirs.content)
    assert ours.raw_stop_reason == theirs.stop_reason
    assert ours.response_id == theirs.id
    assert (ours.usage.input, ours.usage.output) == (theirs.usage.input_tokens, theirs.usage.output_tokens)
    assert ours.usage.cache_read == (theirs.usage.cache_read_input_tokens or 0)
    assert ours.usage.cache_write == (theirs.usage.cache_creation_input_tokens or 0)


@pytest.mark.parametrize("scenario", ANSWERS)
async def test_sdk_sees_the_same_deltas(ask, server, scenario):
    server.answers(ANSWERS[scenario], ANSWERS[scenario])
    ours = [event.delta for event in (await ask()).events if event.type.endswith("_delta")]
    theirs = []
    async with client(server) as sdk:
        events = await sdk.messages.create(
            model="claude-fake", max_tokens=10, messages=[{"role": "user", "content": "hi"}], stream=True
        )
        async for event in events:
            if event.type == "content_block_delta" and event.delta.type != "signature_delta":
                delta = event.delta
                theirs.append(
                    getattr(delta, {"text_delta": "text", "thinking_delta": "thinking"}.get(delta.type, "partial_json"))
                )

    assert ours == [delta for delta in theirs if delta]


CLASSES = {
    400: "BadRequestError",
    401: "AuthenticationError",
    402: "PaymentRequiredError",
    403: "PermissionDeniedError",
    404: "NotFoundError",
    413: "RequestTooLargeError",
    429: "RateLimitError",
    500: "InternalServerError",
    503: "ServiceUnavailableError",
    504: "DeadlineExceededError",
    529: "OverloadedError",
}


@pytest.mark.parametrize("status", CLASSES)
async def test_sdk_sees_the_same_error(ask, server, status):
    server.answers(error(status, "because", retry_after="7"), error(status, "because", retry_after="7"))
    ours = (await ask()).message.extra["requestFailure"]
    async with client(server) as sdk:
        with pytest.raises(getattr(anthropic()._exceptions, CLASSES[status])) as caught:
            await sdk.messages.create(
                model="m", max_tokens=1, messages=[{"role": "user", "content": "hi"}], stream=True
            )

    assert caught.value.status_code == ours["status"] == status
    assert caught.value.request_id == ours["requestId"]
    assert caught.value.response.headers["retry-after"] == "7"
    assert caught.value.body["error"]["message"] == "because"


async def drained(server, **options):
    """Ask with the SDK and return the text of its answer, and what it raised."""
    received = []
    async with client(server, **options) as sdk:
        try:
            events = await sdk.messages.create(
                model="m", max_tokens=1, messages=[{"role": "user", "content": "hi"}], stream=True
            )
            async for event in events:
                received.append(getattr(getattr(event, "delta", None), "text", ""))  # noqa: PERF401 - some come before an error
        except Exception as problem:  # noqa: BLE001 - which one is the question
            return "".join(received), problem
    return "".join(received), None


async def test_sdk_sees_the_same_error_event(ask, server):
    events = [*message_events(text("some"))[:4], error_event("overloaded_error", "Overloaded")]
    server.answers(stream(events), stream(events))
    reply = await ask()
    received, problem = await drained(server)

    assert received == reply.message.text == "some"
    assert isinstance(problem, anthropic().APIStatusError)
    assert problem.body["error"]["type"] == "overloaded_error"
    assert reply.error.startswith(json.dumps(problem.body, separators=(",", ":")))


async def test_sdk_sees_the_same_cut_stream(ask, server):
    cut = message(text("some", "more")).cut(b'"text": "some"}}\n\n')
    server.answers(cut, cut)
    reply = await ask()
    received, problem = await drained(server)

    assert received == reply.message.text == "some"
    assert type(problem).__name__ == "RemoteProtocolError"
    assert reply.error.startswith("terminated")


async def test_sdk_does_not_notice_a_stream_that_ends_early_but_we_do(ask, server):
    early = stream(message_events(text("some"))[:5])
    server.answers(early, early)
    reply = await ask()
    received, problem = await drained(server)

    assert (received, problem) == ("some", None)
    assert reply.error.startswith("Anthropic stream ended before message_stop")


async def test_sdk_waits_as_we_do(ask, server):
    stalled = message(text("some", "more")).stalled(b'"text": "some"}}\n\n')
    server.answers(silence(), silence(), stalled, stalled)
    silent, (_, never) = await ask(timeout_ms=2000), await drained(server, timeout=2)
    stopped, (received, late) = await ask(timeout_ms=2000), await drained(server, timeout=2)

    assert isinstance(never, anthropic().APITimeoutError)
    assert "2 s" in silent.error
    assert received == stopped.message.text == "some"
    assert type(late).__name__ == "ReadTimeout"


MARK = {"type": "ephemeral"}
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS = [
    {
        "name": "read",
        "description": "Read a file.",
        "input_schema": SCHEMA,
        "eager_input_streaming": True,
        "cache_control": MARK,
    }
]
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}


def ours(content, **fields):
    return AssistantMessage(
        content=content, api="anthropic-messages", provider="anthropic", model="claude-fake", **fields
    )


async def test_sdk_sends_the_same_body_for_the_same_conversation(server, provider, model, context, tool):
    server.answers(message(text("ok")), message(text("ok")))
    prompt = context(
        UserMessage(content="Look at this."),
        ours(
            (
                ThinkingContent("hm", thinking_signature="sig"),
                ThinkingContent("", thinking_signature="opaque", redacted=True),
                TextContent("I look."),
                ToolCall("toolu_1", "read", {"path": "a"}),
                ToolCall("toolu_2", "read", {"path": "b"}),
            )
        ),
        ToolResultMessage(
            tool_call_id="toolu_1", tool_name="read", content=(TextContent("A"), ImageContent("aGk=", "image/png"))
        ),
        ToolResultMessage(tool_call_id="toolu_2", tool_name="read", content=(TextContent("gone"),), is_error=True),
        UserMessage(content=(TextContent("And this?"), ImageContent("aGk=", "image/png"))),
        system_prompt="Be brief.",
        tools=(tool(),),
    )
    asked = model(server.url, reasoning=True)
    options = StreamOptions(api_key="k", reasoning="high", tool_choice="auto", metadata={"user_id": "u"})
    async for _ in provider.stream(asked, prompt, options):
        pass
    async with client(server) as sdk:
        events = await sdk.beta.messages.create(
            model="claude-fake",
            max_tokens=8192,
            system=[{"type": "text", "text": "Be brief.", "cache_control": MARK}],
            thinking={"type": "enabled", "budget_tokens": 7168, "display": "summarized"},
            tools=TOOLS,
            tool_choice={"type": "auto"},
            metadata={"user_id": "u"},
            betas=["interleaved-thinking-2025-05-14"],
            stream=True,
            messages=[
                {"role": "user", "content": "Look at this."},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "hm", "signature": "sig"},
                        {"type": "redacted_thinking", "data": "opaque"},
                        {"type": "text", "text": "I look."},
                        {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a"}},
                        {"type": "tool_use", "id": "toolu_2", "name": "read", "input": {"path": "b"}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "toolu_1",
                            "content": [{"type": "text", "text": "A"}, IMAGE],
                            "is_error": False,
                        },
                        {"type": "tool_result", "tool_use_id": "toolu_2", "content": "gone", "is_error": True},
                    ],
                },
                {"role": "user", "content": [{"type": "text", "text": "And this?"}, {**IMAGE, "cache_control": MARK}]},
            ],
        )
        async for _ in events:
            pass
    mine, theirs = server.requests

    for field in sorted(mine.json.keys() | theirs.json.keys()):
        assert mine.json.get(field) == theirs.json.get(field), field
    assert (mine.method, mine.path) == (theirs.method, theirs.path)
    for header in ("anthropic-beta", "content-type"):
        assert mine.headers[header] == theirs.headers[header], header
    # The SDK sends the key as bearer, and a newer version, which has no temperature.
    assert (mine.headers["x-api-key"], theirs.headers["authorization"]) == ("k", "Bearer k")
    assert (mine.headers["anthropic-version"], theirs.headers["anthropic-version"]) == ("2023-06-01", "2026-10-21")


OUTPUT = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}


async def test_sdk_sends_the_same_body_for_adaptive_thinking_and_an_output_schema(server, provider, model, context):
    server.answers(message(text("ok")), message(text("ok")))
    asked = model(server.url, reasoning=True, compat={"forceAdaptiveThinking": True, "supportsStructuredOutput": True})
    options = StreamOptions(api_key="k", reasoning="medium", output_schema=OUTPUT)
    async for _ in provider.stream(asked, context(), options):
        pass
    async with client(server) as sdk:
        await sdk.beta.messages.create(
            model="claude-fake",
            max_tokens=8192,
            thinking={"type": "adaptive", "display": "summarized"},
            output_config={"effort": "medium", "format": {"type": "json_schema", "schema": OUTPUT}},
            messages=[{"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": MARK}]}],
            stream=True,
        )

    assert server.requests[0].json == server.requests[1].json


async def test_sdk_continues_threads_at_the_fake_and_begins_a_lost_one_again(server):
    async with client(server) as sdk:
        thread = sdk.beta.messages.thread(model="claude-fake", max_tokens=10, system="Be brief.")
        for number, words in enumerate(("hi", "and?", "more")):
            server.answers(message(text(f"answer {number}"), message_id=f"msg_{number}"))
            if words == "more":
                server.threads.lose()
            async with thread.stream({"role": "user", "content": words}) as answering:
                await answering.get_final_message()

    kinds = [request.json["thread"]["type"] for request in server.requests]
    assert kinds == ["create", "continue", "continue", "create"]
    assert [each["role"] for each in server.conversations[-1]["messages"]] == ["user", "assistant"] * 2 + ["user"]


async def test_both_transports_continue_threads(server, provider, model, context):
    asked = model(server.url, compat={"supportsMessageThreads": True})
    for transport in ("http", "sdk"):
        messages = [UserMessage(content="hi", timestamp=1)]
        for number in range(2):
            server.answers(message(text("ok"), message_id=f"msg_{transport}_{number}"))
            options = StreamOptions(api_key="sk-ant-api03-secret-0123456789", session_id=transport, transport=transport)
            events = [each async for each in provider.stream(asked, context(*messages), options)]
            messages += [events[-1].message, UserMessage(content="and?", timestamp=2)]
        server.threads.lose()
        server.answers(message(text("still here"), message_id=f"msg_{transport}_2"))
        events = [each async for each in provider.stream(asked, context(*messages), options)]
        assert events[-1].message.content == (TextContent("still here"),)

    kinds = [request.json["thread"]["type"] for request in server.requests]
    assert kinds == ["create", "continue", "continue", "create"] * 2
