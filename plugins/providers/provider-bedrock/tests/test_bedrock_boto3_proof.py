"""The fake server is proven by the vendor's own client: it sees what our codec sees, and sends what we send."""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode
from contextlib import closing

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
from pi_testing.fake_servers.bedrock import (
    error,
    exception,
    message,
    message_events,
    redacted_thinking,
    stream,
    text,
    thinking,
    tool_use,
)

boto3 = pytest.importorskip("boto3")
from botocore.config import Config  # noqa: E402 - only where boto3 is
from botocore.exceptions import ClientError  # noqa: E402 - as above

pytestmark = pytest.mark.slow  # loads the vendor's SDK

KEY_ID = "AKIAFAKE000000000000"
SECRET = "secret/key+of+forty+characters/0123456789"
MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"

ANSWERS = {
    "text": message(text("Hello, ", "wörld \N{WAVING HAND SIGN}")),
    "thinking": message(thinking("Let me", " see", signature="c2lnbmVk"), text("so")),
    "thinking without words": message(thinking(signature="c2lnbmVk"), text("so")),
    "redacted thinking": message(redacted_thinking("b3BhcXVl"), text("so")),
    "parallel calls": message(
        text("I look."),
        tool_use("tooluse_1", "read", path="a\n\N{SNOWMAN}", deep={"x": [1, None]}),
        tool_use("tooluse_2", "bash", command="ls"),
        tool_use("tooluse_3", "now"),
    ),
    "length": message(text("cut"), stop="max_tokens"),
    "empty": message(),
    "usage": message(
        text("a"),
        usage={"inputTokens": 100, "cacheReadInputTokens": 1000, "cacheWriteInputTokens": 500, "outputTokens": 42},
    ),
    "byte by byte": message(text("wörld"), tool_use("tooluse_1", "read", path="ä")).in_pieces(1),
}


def converse(server, **request):
    """Ask with boto3; return the events as it gives them, and what it raised."""
    client = boto3.client(
        "bedrock-runtime",
        endpoint_url=server.url,
        region_name="us-east-1",
        aws_access_key_id=KEY_ID,
        aws_secret_access_key=SECRET,
        config=Config(retries={"total_max_attempts": 1}, read_timeout=5),
    )
    request = {"modelId": MODEL, "messages": [{"role": "user", "content": [{"text": "hi"}]}], **request}
    events = []
    with closing(client):
        try:
            with closing(client.converse_stream(**request)["stream"]) as stream:
                events.extend(stream)  # keeps what came before an error
        except Exception as problem:  # noqa: BLE001 - which one is the question
            return events, problem
    return events, None


def their_content(events):
    """Return the message that boto3's events amount to, in our words."""
    blocks = {}
    for event in events:
        if start := event.get("contentBlockStart"):
            call = start["start"]["toolUse"]
            blocks[start["contentBlockIndex"]] = ["call", call["toolUseId"], call["name"], ""]
        if delta := event.get("contentBlockDelta"):
            index, delta = delta["contentBlockIndex"], delta["delta"]
            if "text" in delta:
                blocks.setdefault(index, ["text", ""])[1] += delta["text"]
            elif "toolUse" in delta:
                blocks[index][3] += delta["toolUse"]["input"]
            else:
                block = blocks.setdefault(index, ["thinking", "", "", b""])
                block[1] += delta["reasoningContent"].get("text", "")
                block[2] += delta["reasoningContent"].get("signature", "")
                block[3] += delta["reasoningContent"].get("redactedContent", b"")
    return [tuple(block) for _, block in sorted(blocks.items())]


def our_content(message):
    found = []
    for block in message.content:
        if isinstance(block, TextContent):
            found.append(("text", block.text))
        elif isinstance(block, ToolCall):
            found.append(("call", block.id, block.name, block.arguments))
        elif block.redacted:
            found.append(("thinking", "", "", b64decode(block.thinking_signature)))
        else:
            found.append(("thinking", block.thinking, block.thinking_signature or "", b""))
    return found


def parsed(block):
    return (*block[:3], json.loads(block[3] or "{}")) if block[0] == "call" else block


@pytest.mark.parametrize("scenario", ANSWERS)
async def test_boto3_sees_the_same_message(ask, server, scenario):
    server.answers(ANSWERS[scenario], ANSWERS[scenario])
    ours = (await ask()).message
    events, problem = await asyncio.to_thread(converse, server)
    last = {name: event[name] for event in events for name in event}

    assert problem is None
    assert our_content(ours) == [parsed(block) for block in their_content(events)]
    assert ours.raw_stop_reason == last["messageStop"]["stopReason"]
    usage = last["metadata"]["usage"]
    assert (ours.usage.input, ours.usage.output) == (usage["inputTokens"], usage["outputTokens"])
    assert ours.usage.cache_read == usage.get("cacheReadInputTokens", 0)
    assert ours.usage.cache_write == usage.get("cacheWriteInputTokens", 0)
    assert ours.usage.total_tokens == usage["totalTokens"]


KINDS = {
    400: "ValidationException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    408: "ModelTimeoutException",
    424: "ModelErrorException",
    429: "ThrottlingException",
    500: "InternalServerException",
    503: "ServiceUnavailableException",
}


@pytest.mark.parametrize("status", KINDS)
async def test_boto3_sees_the_same_error(ask, server, status):
    server.answers(error(status, "because"), error(status, "because"))
    reply = await ask()
    _, problem = await asyncio.to_thread(converse, server)

    assert isinstance(problem, ClientError)
    response = problem.response
    assert response["ResponseMetadata"]["HTTPStatusCode"] == status
    assert reply.message.extra["requestFailure"]["requestId"] == response["ResponseMetadata"]["RequestId"]
    assert reply.error.startswith(f"{status} {response['Error']['Code']}: {response['Error']['Message']}")
    assert response["Error"]["Code"] == KINDS[status]


@pytest.mark.parametrize("kind", ["internalServerException", "modelStreamErrorException", "validationException",
                                  "throttlingException", "serviceUnavailableException"])  # fmt: skip
async def test_boto3_sees_the_same_exception_in_the_midst(ask, server, kind):
    begun = message_events(text("some"))[:2]
    server.answers(stream([*begun, exception(kind, "because")]), stream([*begun, exception(kind, "because")]))
    reply = await ask()
    events, problem = await asyncio.to_thread(converse, server)

    assert reply.message.text == "some"
    assert their_content(events) == [("text", "some")]
    assert problem.response["Error"] == {"Code": kind, "Message": "because"}
    assert f"{kind[0].upper()}{kind[1:]}: because" in reply.error


@pytest.mark.parametrize("end", [200, 260, 300])
async def test_boto3_sees_the_same_cut_stream(ask, server, end):
    whole = message(text("some", "more"))
    server.answers(whole.cut(end), whole.cut(end))
    reply = await ask()
    events, problem = await asyncio.to_thread(converse, server)

    assert [("text", reply.message.text)][: len(reply.message.content)] == their_content(events)
    assert problem is not None
    assert reply.error.startswith("terminated")


async def test_boto3_refuses_the_same_damage(ask, server):
    body = bytearray(message(text("some")).body)
    body[-100] ^= 1
    server.answers(stream([bytes(body)]), stream([bytes(body)]))
    reply = await ask()
    _, problem = await asyncio.to_thread(converse, server)

    assert type(problem).__name__ == "ChecksumMismatch"
    assert "checksum" in reply.error


OUTPUT = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}


async def test_boto3_sends_what_we_send(server, aws, provider, model, context, tool):
    aws(key=True, region="us-east-1")
    server.answers(message(text("ok")), message(text("ok")))
    claude = {"api": "bedrock-converse-stream", "provider": "amazon-bedrock", "model": MODEL}
    pixel = "aGk="
    prompt = context(
        UserMessage(content="Look at this."),
        AssistantMessage(
            content=(
                ThinkingContent("hm", thinking_signature="sig"),
                ThinkingContent("", thinking_signature="b3BhcXVl", redacted=True),
                TextContent("I look."),
                ToolCall("tooluse_1", "read", {"path": "a"}),
                ToolCall("tooluse_2", "read", {"path": "b"}),
            ),
            **claude,
        ),
        ToolResultMessage(
            tool_call_id="tooluse_1", tool_name="read", content=(TextContent("A"), ImageContent(pixel, "image/png"))
        ),
        ToolResultMessage(tool_call_id="tooluse_2", tool_name="read", content=(TextContent("gone"),), is_error=True),
        UserMessage(content=(TextContent("And this?"), ImageContent(pixel, "image/jpeg"))),
        system_prompt="Be brief.",
        tools=(tool(),),
    )
    asked = model(server.url, reasoning=True, compat={"supportsStructuredOutput": True})
    async for _ in provider.stream(
        asked, prompt, StreamOptions(reasoning="high", tool_choice="auto", output_schema=OUTPUT)
    ):
        pass
    image = {"format": "png", "source": {"bytes": b"hi"}}
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    point = {"cachePoint": {"type": "default"}}
    _, problem = await asyncio.to_thread(
        converse,
        server,
        system=[{"text": "Be brief."}, point],
        inferenceConfig={"maxTokens": 8192},
        toolConfig={
            "tools": [{"toolSpec": {"name": "read", "description": "Read a file.", "inputSchema": {"json": schema}}}],
            "toolChoice": {"auto": {}},
        },
        outputConfig={
            "textFormat": {
                "type": "json_schema",
                "structure": {"jsonSchema": {"name": "output", "schema": json.dumps(OUTPUT)}},
            }
        },
        additionalModelRequestFields={
            "thinking": {"type": "enabled", "budget_tokens": 7168, "display": "summarized"},
            "anthropic_beta": ["interleaved-thinking-2025-05-14"],
        },
        messages=[
            {"role": "user", "content": [{"text": "Look at this."}]},
            {
                "role": "assistant",
                "content": [
                    {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "sig"}}},
                    {"reasoningContent": {"redactedContent": b"opaque"}},
                    {"text": "I look."},
                    {"toolUse": {"toolUseId": "tooluse_1", "name": "read", "input": {"path": "a"}}},
                    {"toolUse": {"toolUseId": "tooluse_2", "name": "read", "input": {"path": "b"}}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "toolResult": {
                            "toolUseId": "tooluse_1",
                            "content": [{"text": "A"}, {"image": image}],
                            "status": "success",
                        }
                    },
                    {"toolResult": {"toolUseId": "tooluse_2", "content": [{"text": "gone"}], "status": "error"}},
                    {"text": "And this?"},
                    {"image": {**image, "format": "jpeg"}},
                    point,
                ],
            },
        ],
    )
    mine, theirs = server.requests

    assert problem is None
    for field in sorted(mine.json.keys() | theirs.json.keys()):
        assert mine.json.get(field) == theirs.json.get(field), field
    assert (mine.method, mine.path, mine.query) == (theirs.method, theirs.path, theirs.query)
    # Both were signed so that the server takes it; the scope of the signature is the same.
    scopes = [each.headers["authorization"].split("/")[2:5] for each in (mine, theirs)]
    assert scopes[0][:2] == scopes[1][:2] == ["us-east-1", "bedrock"]


async def test_the_arn_of_a_profile_is_escaped_as_boto3_escapes_it(server, aws, provider, model, context):
    aws(key=True)
    arn = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123"
    server.answers(message(text("ok")), message(text("ok")))
    asked = model(server.url, id=arn, name="Claude of ours")
    events = [event async for event in provider.stream(asked, context(), StreamOptions())]
    await asyncio.to_thread(converse, server, modelId=arn)

    assert events[-1].type == "done"
    assert server.requests[0].path == server.requests[1].path


async def test_the_fake_refuses_a_wrong_secret_of_either(server, aws, provider, model, context):
    aws(key=True, AWS_SECRET_ACCESS_KEY="another")
    events = [event async for event in provider.stream(model(server.url), context(), StreamOptions())]

    assert "InvalidSignatureException" in events[-1].error.error_message
    assert "AWS_SECRET_ACCESS_KEY" in events[-1].error.error_message
