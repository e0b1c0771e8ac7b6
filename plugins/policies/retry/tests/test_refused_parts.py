"""A server that insists on refusing a part of a request: pi finds the part, says so and goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import pi_retry
from pi_hookspecs import AssistantMessage, ImageContent, TextContent, ThinkingContent, Tool, ToolResult
from pi_testing import error, text, thinking, tool_call

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_testing.scripted import Request

OLD = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
NEW = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNgYPgPAAEDAQAIicLsAAAAAElFTkSuQmCC"
"""Two pictures of one pixel, as base64."""

pytestmark = pytest.mark.pi(plugins={"retry": pi_retry}, settings={"retry": {"baseDelayMs": 1}})


def tool(name: str, **fields: object) -> Tool:
    async def execute(*_args: object, **_kwargs: object) -> ToolResult:
        return ToolResult(content=(TextContent("found"),))

    return Tool(name=name, description=name, parameters={"type": "object", "properties": {}}, execute=execute, **fields)


def blocks(request: Request) -> list[object]:
    return [block for message in request.messages if not isinstance(message.content, str) for block in message.content]


def images(request: Request) -> list[str]:
    return [block.data for block in blocks(request) if isinstance(block, ImageContent)]


def has_thinking(request: Request) -> bool:
    return any(isinstance(block, ThinkingContent) for block in blocks(request))


def answers(request: Request) -> list[AssistantMessage]:
    return [message for message in request.messages if isinstance(message, AssistantMessage)]


def insisting(script, refuses: Callable[[Request], str | None]):
    """Script a server that refuses every request by a rule of its own."""

    def play(request: Request):
        refusal = refuses(request)
        return [text("fine") if refusal is None else error(refusal)]

    for _ in range(20):
        script.turn(play)


def left_out(session) -> list[dict[str, object]]:
    entries = session.session_manager.entries()
    return [entry.data for entry in entries if entry.type == "custom" and entry.custom_type == "left_out"]


def picture(data: str) -> ImageContent:
    return ImageContent(data, "image/png")


@pytest.mark.parametrize(
    "refusal",
    [
        '400 {"error":{"message":"messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 9 MB > 5 MB"}}',
        "400: Could not process image",
        '400 {"error":{"code":"invalid_image","message":"The image data you provided is not valid"}}',
        "413 request_too_large: the picture is larger than allowed",
        "422 unsupported media type in image_url",
        '{"type":"error","code":"invalid_image","message":"The image could not be read"}',
        "400 messages[0]: unknown variant `image_url`, expected `text`",
        "500 image input is not supported - hint: you may need to provide the mmproj",
        "404 No endpoints found that support image input",
        "400 Bad attachment in message 1",
        "400 Cannot read multimodal data",
        "400 messages[1].content must be a string",
        "400 Only text content is supported by this deployment",
        "400 Unable to decode content part 1 of the last user message",
        "400 Bad Request",
    ],
)
async def test_a_refused_picture_is_left_out_and_the_next_prompt_works(pi_session, script, recorder, refusal):
    pi_session.subscribe(recorder)
    insisting(script, lambda request: refusal if NEW in images(request) else None)

    first = await pi_session.prompt("look", images=[picture(NEW)])
    second = await pi_session.prompt("and now?")

    assert (first.text, second.text) == ("fine", "fine")
    assert len(script.requests) == 3
    assert [data["kind"] for data in left_out(pi_session)] == ["picture"]
    starts = [event.error_message for event in recorder.events if event.type == "auto_retry_start"]
    assert starts[0].startswith("scripted refused the newest picture: continuing without it")


async def test_an_older_picture_is_found_when_the_newest_is_not_to_blame(pi_session, script):
    insisting(
        script, lambda request: "400 invalid image" if OLD in images(request) and len(script.requests) > 1 else None
    )
    await pi_session.prompt("first", images=[picture(OLD)])

    answer = await pi_session.prompt("second", images=[picture(NEW)])

    assert answer.text == "fine"
    assert [images(request) for request in script.requests[1:]] == [[OLD, NEW], [OLD], []]


GOOD, BAD, WORSE = tool("good"), tool("bad"), tool("worse")


@pytest.mark.pi(tools=[GOOD, BAD])
@pytest.mark.parametrize(
    "refusal",
    [
        "400 tools.1.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level",
        "400 Invalid schema for function 'bad': schema must have type 'object'",
        '422 {"detail":[{"loc":["body","tools",1,"function","parameters"],"msg":"extra fields"}]}',
        "400 The value at toolConfig.tools.1.member.toolSpec.inputSchema failed to satisfy a constraint",
        "400 GenerateContentRequest.tools[0].function_declarations[1].parameters.properties: should be non-empty",
        '400 {"error":{"message":"Invalid \'tools[1].function.name\': string does not match pattern"}}',
        "400 Tool definition at position 1 is not acceptable",
        "422 body -> tools -> 1 -> function -> parameters: extra inputs are not permitted",
        "422 'bad' contains the unsupported keyword 'format'",
        "500 JSON schema conversion failed: unrecognized type in tool bad",
        "500 failed to build a grammar for 'bad'",
    ],
)
async def test_a_refused_tool_is_left_out_for_the_session(pi_session, script, refusal):
    insisting(script, lambda request: refusal if "bad" in request.tools else None)

    first, second = await pi_session.prompt("hello"), await pi_session.prompt("again")

    assert (first.text, second.text) == ("fine", "fine")
    assert [data["what"] for data in left_out(pi_session)] == ["the tool 'bad'"]
    assert script.requests[-1].tools == ("good",)
    assert len(script.requests) == 3


@pytest.mark.pi(tools=[GOOD, BAD, WORSE])
async def test_several_refused_tools_are_found_one_after_another(pi_session, script):
    def refuses(request):
        wrong = next((name for name in ("bad", "worse") if name in request.tools), None)
        return None if wrong is None else f"400 tools.{request.tools.index(wrong)}.input_schema: unknown keyword"

    insisting(script, refuses)

    answer = await pi_session.prompt("hello")

    assert answer.text == "fine"
    assert [data["ids"] for data in left_out(pi_session)] == [["bad"], ["worse"]]


@pytest.mark.pi(tools=[tool("read"), BAD])
@pytest.mark.parametrize("refusal", ["400 object schema missing properties", "500 failed to parse grammar"])
async def test_a_schema_that_is_not_named_leaves_pi_s_own_tools(pi_session, script, refusal):
    insisting(script, lambda request: refusal if "bad" in request.tools else None)

    answer = await pi_session.prompt("hello")

    assert answer.text == "fine"
    assert script.requests[-1].tools == ("read",)


@pytest.mark.pi(tools=[tool("search", constrained_sampling="prefer")])
@pytest.mark.parametrize(
    "refusal",
    [
        "400 Too many strict tools (21). The maximum number of strict tools supported is 20.",
        "400 The compiled grammar is too large, which would cause performance issues.",
        "400 Schemas contains too many optional parameters (25), which would make compilation inefficient (limit: 24).",
    ],
)
async def test_strict_tools_are_sent_without_strict_for_the_session(pi_session, script, refusal):
    def is_strict(request):
        return any(each.constrained_sampling for each in request.context.tools)

    insisting(script, lambda request: refusal if is_strict(request) else None)

    first, second = await pi_session.prompt("hello"), await pi_session.prompt("again")

    assert (first.text, second.text) == ("fine", "fine")
    assert script.requests[-1].tools == ("search",)
    assert [(data["kind"], data["ids"]) for data in left_out(pi_session)] == [("strict", ["scripted/model"])]


@pytest.mark.parametrize(
    "refusal",
    [
        "400 messages.1: The final block in an assistant message cannot be `thinking`.",
        "400 Item 'rs_68c4' of type 'reasoning' was provided without its required following item.",
        "400 messages.1.content.0: Invalid `signature` in `thinking` block",
        "400 property 'reasoning_content' is unsupported",
    ],
)
async def test_refused_thinking_is_left_out_and_its_answer_is_kept(pi_session, script, refusal):
    script.turn(thinking("hm"), text("kept"))
    insisting(script, lambda request: refusal if has_thinking(request) else None)
    await pi_session.prompt("first")

    answer = await pi_session.prompt("second")

    assert answer.text == "fine"
    assert [message.text for message in script.requests[-1].messages] == ["first", "kept", "second"]


@pytest.mark.pi(tools=[GOOD])
@pytest.mark.parametrize(
    "refusal",
    [
        "400 messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1",
        "400 No tool output found for function call toolu_1.",
        "400 messages.1.content.0.tool_use.name: String should have at most 200 characters",
        "400 Please ensure that the number of function response parts equals the number of function call parts",
        "400 messages: roles must alternate",
        "400 Invalid message sequence",
        '422 {"detail":[{"loc":["body","messages",1,"tool_calls"],"msg":"extra fields"}]}',
        "400 the message at position 1 with role 'assistant' must not be empty",
        "400 Function call is missing a thought_signature in functionCall parts",
    ],
)
async def test_a_refused_call_is_left_out_with_its_result(pi_session, script, refusal):
    script.turn(text("I look."), tool_call("good", "toolu_1")).turn(text("done"))
    insisting(script, lambda request: refusal if any(each.tool_calls for each in answers(request)) else None)
    await pi_session.prompt("first")

    answer = await pi_session.prompt("second")

    assert answer.text == "fine"
    assert script.requests[-1].tool_results == ()
    assert "I look." in [message.text for message in answers(script.requests[-1])]


@pytest.mark.pi(tools=[GOOD])
async def test_an_answer_is_found_by_its_number_among_many(pi_session, script):
    for number in range(6):
        script.turn(text(f"I look {number}."), tool_call("good", f"toolu_{number}")).turn(text(f"done {number}"))

    def refuses(request):
        wrong = [at for at, each in enumerate(request.messages) if "I look 1." in each.text and each.tool_calls]
        return f"400 messages.{wrong[0]}.content.1: unexpected value" if wrong else None

    for number in range(6):
        await pi_session.prompt(f"prompt {number}")
    insisting(script, refuses)

    answer = await pi_session.prompt("and now?")

    assert answer.text == "fine"
    assert [data["what"] for data in left_out(pi_session)] == ["an answer with 1 tool call"]
    assert sum(message.role == "toolResult" for message in script.requests[-1].messages) == 5


@pytest.mark.pi(tools=[GOOD])
async def test_a_refusal_of_calls_blames_an_answer_with_calls(pi_session, script):
    script.turn(text("I look."), tool_call("good", "toolu_1")).turn(text("done"))
    insisting(
        script,
        lambda request: "400 unknown field tool_call_id" if any(a.tool_calls for a in answers(request)) else None,
    )
    await pi_session.prompt("first")

    answer = await pi_session.prompt("second")

    assert answer.text == "fine"
    assert len(left_out(pi_session)) == 1


@pytest.mark.pi(tools=[GOOD])
@pytest.mark.parametrize(
    "refusal",
    [
        "400 Unsupported parameter: 'temperature' is not supported with this model.",
        "400 This model does not support effort level 'xhigh'.",
        "400 max_tokens: 64000 > 32000, the maximum number of output tokens",
        "400 The requested model 'm9' does not exist.",
        "400 Tool call validation failed: parameters for tool good did not match schema: missing 'name'",
        "401 invalid x-api-key",
        "402 Insufficient Balance",
        "400 Unknown parameter: 'store'",
        "404 No endpoints found for vision-model-9",
        "400 something is wrong",
    ],
)
async def test_nothing_is_left_out_when_no_part_is_to_blame(pi_session, script, refusal):
    script.turn(thinking("hm"), text("fine"))
    insisting(script, lambda request: refusal)
    await pi_session.prompt("first", images=[picture(OLD)])

    answer = await pi_session.prompt("second")

    assert answer.error_message == refusal
    assert len(script.requests) == 2
    assert left_out(pi_session) == []


@pytest.mark.pi(stored=True, tools=[GOOD])
@pytest.mark.parametrize(
    ("refused", "refusal"), [("call", "400 Invalid message sequence"), ("picture", "400 Bad Request")]
)
async def test_prompts_that_failed_before_are_not_to_blame(pi_session, script, refused, refusal):
    if refused == "call":
        script.turn(text("I look."), tool_call("good", "toolu_1")).turn(text("done"))
        await pi_session.prompt("first")
    for number in range(5):  # as an older version stored them, which left nothing out
        script.turn(error("402 no money"))
        await pi_session.prompt(
            f"failed {number}", images=[picture(NEW)] if refused == "picture" and not number else []
        )
    insisting(
        script,
        lambda request: refusal if images(request) or any(each.tool_calls for each in answers(request)) else None,
    )
    await pi_session.switch_session(pi_session.session_manager.file)

    answer = await pi_session.prompt("now")

    assert answer.text == "fine"


async def test_what_did_not_help_is_put_back(pi_session, script):
    script.turn(text("fine"))
    insisting(script, lambda request: "400 invalid image")
    await pi_session.prompt("first", images=[picture(OLD)])

    await pi_session.prompt("second", images=[picture(NEW)])
    before = len(script.requests)
    await pi_session.prompt("third")

    assert images(script.requests[before]) == [OLD, NEW]
    assert "putBack" in left_out(pi_session)[2]


@pytest.mark.pi(stored=True)
async def test_a_resumed_session_leaves_it_out_too_and_the_file_keeps_it(pi_session, script):
    insisting(script, lambda request: "400 invalid image" if NEW in images(request) else None)
    await pi_session.prompt("look", images=[picture(NEW)])
    file = pi_session.session_manager.file

    await pi_session.switch_session(file)
    answer = await pi_session.prompt("again")

    assert (answer.text, len(script.requests)) == ("fine", 3)
    assert NEW in file.read_text(encoding="utf-8")


async def test_the_user_lists_what_is_left_out_and_puts_it_back(pi_session, script, fake_ui):
    refused = ["400 invalid image"]
    insisting(script, lambda request: refused[0] if refused and NEW in images(request) else None)
    await pi_session.prompt("look", images=[picture(NEW)])
    refused.clear()

    await pi_session.prompt("/left-out")
    await pi_session.prompt("/left-out back 2")
    await pi_session.prompt("/left-out back")
    await pi_session.prompt("now")

    shown = [str(notice) for notice in fake_ui.notices]
    assert "1. the newest picture: 400 invalid image" in shown[0]
    assert "/left-out back [1 to 1]" in shown[1]
    assert "Sent again from now on: the newest picture." in shown[2]
    assert images(script.requests[-1]) == [NEW]
