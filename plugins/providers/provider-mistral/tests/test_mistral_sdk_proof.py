"""The fake server is proven by the vendor's own client: it sees what our codec sees, and sends what we send."""

from __future__ import annotations

import json

import pytest

from pi_hookspecs import TextContent, ThinkingContent, ToolCall
from pi_testing.fake_servers.mistral import call, completion, error, text, thinking

vendor = pytest.importorskip("mistralai.client", reason="needs mistralai 3")

QUESTION = [{"role": "user", "content": "hi"}]

ANSWERS = {
    "text": completion(text("Hello, ", "w\u00f6rld \N{WAVING HAND SIGN}")),
    "thinking": completion(thinking("Let me", " see", signature="c2lnbmVk"), text("so")),
    "parallel calls": completion(
        text("I look."),
        call("aB3dE6gH9", "read", path="a\n\N{SNOWMAN}", deep={"x": [1, None]}),
        call("zY8xW7vU6", "bash", command="ls"),
    ),
    "a call in pieces": completion(call("aB3dE6gH9", "read", deltas=['{"path"', ':"a"}'])),
    "length": completion(text("cut"), finish="length"),
    "empty": completion(),
    "usage": completion(text("a"), usage={"prompt_tokens": 100, "completion_tokens": 42, "total_tokens": 142}),
    "byte by byte": completion(text("w\u00f6rld"), call("aB3dE6gH9", "read", path="\u00e4")).in_pieces(1),
}


def client(server):
    return vendor.Mistral(api_key="k", server_url=server.url)


async def streamed(sdk, **fields):
    """Return the chunks that the SDK makes of an answer."""
    events = await sdk.chat.stream_async(model="mistral-fake", messages=QUESTION, **fields)
    return [event.data async for event in events]


def content_of(chunks):
    """Return what the SDK saw, as our blocks."""
    blocks = []
    for chunk in chunks:
        delta = chunk.choices[0].delta
        for part in [delta.content] if isinstance(delta.content, str) else delta.content or ():
            _add(blocks, part)
        for made in delta.tool_calls or ():
            if blocks and isinstance(blocks[-1], list) and blocks[-1][0] == made.id:
                blocks[-1][2] += made.function.arguments
            else:
                blocks.append([made.id, made.function.name, made.function.arguments])
    return tuple(ToolCall(*each[:2], json.loads(each[2])) if isinstance(each, list) else each for each in blocks)


def _add(blocks, part):
    if isinstance(part, str):
        if part:
            last = blocks.pop().text if blocks and isinstance(blocks[-1], TextContent) else ""
            blocks.append(TextContent(last + part))
        return
    last = blocks.pop() if blocks and isinstance(blocks[-1], ThinkingContent) else ThinkingContent("")
    text = "".join(thought.text for thought in part.thinking)
    blocks.append(ThinkingContent(last.thinking + text, part.signature or last.thinking_signature))


@pytest.mark.parametrize("scenario", ANSWERS)
async def test_sdk_sees_the_same_message(server, make_model, chat, reply, scenario):
    server.answers(ANSWERS[scenario], ANSWERS[scenario])
    ours = await reply(make_model(base_url=server.url), chat.user("hi"))
    async with client(server) as sdk:
        chunks = await streamed(sdk)

    assert ours.content == content_of(chunks)
    assert ours.raw_stop_reason == chunks[-1].choices[0].finish_reason
    assert ours.response_id == chunks[0].id
    assert (ours.usage.input, ours.usage.output, ours.usage.total_tokens) == (
        chunks[-1].usage.prompt_tokens,
        chunks[-1].usage.completion_tokens,
        chunks[-1].usage.total_tokens,
    )


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500, 503])
async def test_sdk_sees_the_same_error(server, make_model, chat, reply, status):
    server.answers(error(status, "because"), error(status, "because"))
    ours = await reply(make_model(base_url=server.url), chat.user("hi"))
    async with client(server) as sdk:
        with pytest.raises(vendor.errors.MistralError) as caught:
            await streamed(sdk)

    assert caught.value.status_code == ours.extra["requestFailure"]["status"] == status
    assert json.loads(caught.value.body)["message"] == "because"
    assert '"message":"because"' in ours.error_message


async def test_sdk_sends_the_same_body_for_the_same_conversation(server, make_model, chat, ask, read_tool):
    server.answers(completion(text("ok")), completion(text("ok")))
    model = make_model(base_url=server.url, reasoning=True, input=("text", "image"))
    await ask(
        model,
        chat.user("Look at this."),
        chat.answer(
            model,
            chat.thinking("hm", "c2ln"),
            chat.text("I look."),
            chat.call("aB3dE6gH9", "read", {"path": "a"}),
            chat.call("zY8xW7vU6", "read", {"path": "b"}),
        ),
        chat.result("aB3dE6gH9", "A", chat.image()),
        chat.result("zY8xW7vU6", "gone", is_error=True),
        chat.user(chat.text("And this?"), chat.image()),
        system="Be brief.",
        tools=[read_tool],
        tool_choice={"type": "function", "function": {"name": "read"}},
        reasoning="high",
        temperature=0.5,
        session_id="s1",
        api_key="k",
    )
    sent = server.request.json
    async with client(server) as sdk:
        events = await sdk.chat.stream_async(**sent, http_headers={"x-affinity": "s1"})
        async for _ in events:
            pass
    mine, theirs = server.requests

    assert mine.json == theirs.json  # the SDK's own types took our body, added nothing and lost nothing
    assert (mine.method, mine.path) == (theirs.method, theirs.path)
    for header in ("authorization", "content-type", "accept", "x-affinity"):
        assert mine.headers[header] == theirs.headers[header], header
