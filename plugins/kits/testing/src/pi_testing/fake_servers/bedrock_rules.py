"""What ConverseStream rejects, as far as pi's requests could trigger it, with error texts close to its own."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from pi_testing.fake_servers.claude_schemas import schema_violations
from pi_testing.fake_servers.tool_rules import CLAUDE_KEY, image_problem, name_problem, schema_problems

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["bedrock_violation"]

_CALL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_NOVA_ROOT = ("type", "properties", "required")
_MOST_POINTS = 4
_SMALLEST_BUDGET = 1024
_FORMATS = ("png", "jpeg", "gif", "webp")
_BLOCKS = ("text", "image", "toolUse", "toolResult", "reasoningContent", "cachePoint")


def bedrock_violation(body: dict[str, Any], model: str = "") -> str | None:
    """Return ConverseStream's error about a body, None if it is valid; ``model`` is that of the URL's path."""
    return next(_violations(body, model), None)


def _violations(body: dict[str, Any], model: str) -> Iterator[str]:
    messages = body.get("messages", [])
    if not messages or messages[0]["role"] != "user":
        yield "A conversation must start with a user message. Try again with one that starts with a user message."
        return
    if any(one["role"] == other["role"] for one, other in pairwise(messages)):
        yield "A conversation must alternate between user and assistant roles. Make sure the conversation alternates."
    points = str(body).count("'cachePoint': ")
    if points > _MOST_POINTS:
        yield f"A maximum of 4 cache points may be provided. Found {points}."
    if any(not block.get("text", "x").strip() for block in body.get("system", ())):
        yield "The text field in the ContentBlock object at system is blank."
    yield from _tool_violations(body, model)
    yield from _thinking_violations(body)
    yield from _output_violations(body.get("outputConfig", {}).get("textFormat"))
    for number, message in enumerate(messages):
        yield from _content_violations(f"messages.{number}.content", message["content"])
        yield from _order_violations(number, message["content"])
    if messages[-1]["role"] == "assistant":
        yield "This model does not support assistant message prefill. The conversation must end with a user message."
    yield from _pair_violations(messages)


def _tool_violations(body: dict[str, Any], model: str) -> Iterator[str]:
    config = body.get("toolConfig")
    used = any("toolUse" in block for message in body["messages"] for block in message["content"])
    if used and config is None:
        yield "The toolConfig field must be defined when using toolUse and toolResult content blocks."
    specs = [tool["toolSpec"] for tool in (config or {}).get("tools", ()) if "toolSpec" in tool]
    if config is not None and not specs:
        yield "toolConfig.tools: Member must have length greater than or equal to 1"
    names = [spec["name"] for spec in specs]
    if len(set(names)) < len(names):
        yield f"The tool names {names} are not unique."
    if any(not _CALL_ID.fullmatch(name) for name in names):
        yield "toolSpec.name: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+"
    if any(not spec["description"] for spec in specs):
        yield "The value at toolConfig.tools.0.toolSpec is invalid."
    only = _NOVA_ROOT if "nova" in model else None
    for spec in specs:
        for problem in schema_problems(spec["inputSchema"]["json"], key=CLAUDE_KEY, root=only):
            yield f"The model returned the following errors: {spec['name']}.inputSchema.json: {problem}"


def _output_violations(text_format: dict[str, Any] | None) -> Iterator[str]:
    if text_format is None:
        return
    if text_format.get("type") != "json_schema":
        yield "outputConfig.textFormat.type: Member must satisfy enum value set: [json_schema]"
        return
    schema = text_format.get("structure", {}).get("jsonSchema", {}).get("schema")
    if not isinstance(schema, str):
        yield "outputConfig.textFormat.structure.jsonSchema.schema: Member must be a string"
        return
    yield from schema_violations("outputConfig.textFormat.structure.jsonSchema.schema", json.loads(schema))


def _thinking_violations(body: dict[str, Any]) -> Iterator[str]:
    limits = body.get("inferenceConfig", {})
    thinking = body.get("additionalModelRequestFields", {}).get("thinking", {"type": "disabled"})
    if thinking["type"] == "enabled":
        if thinking["budget_tokens"] < _SMALLEST_BUDGET:
            yield "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
        if thinking["budget_tokens"] >= limits["maxTokens"]:
            yield "`max_tokens` must be greater than `thinking.budget_tokens`."
    if thinking["type"] != "disabled":
        if limits.get("temperature", 1) != 1:
            yield "`temperature` may only be set to 1 when thinking is enabled."
        if body.get("toolConfig", {}).get("toolChoice", {}).keys() & {"any", "tool"}:
            yield "Thinking may not be enabled when tool_choice forces tool use."


def _content_violations(where: str, blocks: list[dict[str, Any]]) -> Iterator[str]:
    if not blocks:
        yield f"The content field in the Message object at {where} is empty."
    for block in blocks:
        if len(block) != 1 or not block.keys() & set(_BLOCKS):
            yield f"{where}: a content block has one of its members, not {sorted(block)}"
        elif "text" in block and not block["text"].strip():
            yield f"The text field in the ContentBlock object at {where} is blank. Add text to the text field."
        elif "image" in block:
            yield from _image_violations(where, block["image"])
        elif "toolUse" in block and not _CALL_ID.fullmatch(block["toolUse"]["toolUseId"]):
            yield f"{where}.toolUse.toolUseId: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+"
        elif "toolUse" in block and name_problem(block["toolUse"]["name"]):
            yield f"{where}.toolUse.name: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+"
        elif "toolResult" in block:
            yield from _content_violations(f"{where}.toolResult.content", block["toolResult"]["content"])


def _order_violations(number: int, blocks: list[dict[str, Any]]) -> Iterator[str]:
    """Look at the order of the blocks of an answer."""
    kinds = [next(iter(block)) for block in blocks if "cachePoint" not in block]
    if kinds and kinds[-1] == "reasoningContent":
        yield f"messages.{number}: The final block in an assistant message cannot be `thinking`."
    if "toolUse" in kinds and "text" in kinds[kinds.index("toolUse") :]:
        yield f"messages.{number}: `tool_use` ids were found without `tool_result` blocks immediately after."


def _image_violations(where: str, image: dict[str, Any]) -> Iterator[str]:
    if image["format"] not in _FORMATS:
        yield f"{where}.image.format: Member must satisfy enum value set: [gif, jpeg, png, webp]"
    if problem := image_problem(image["source"]["bytes"], f"image/{image['format']}"):
        yield f"{where}.image.source.bytes: {problem}"


def _pair_violations(messages: list[dict[str, Any]]) -> Iterator[str]:
    """Compare each answer's calls with the results of the next message."""
    used = [block["toolUse"]["toolUseId"] for each in messages for block in each["content"] if "toolUse" in block]
    if len(set(used)) < len(used):
        yield "The toolUse blocks of the conversation contain duplicate Ids"
    calls: list[str] = []
    for number, message in enumerate(messages):
        blocks = message["content"]
        results = [block["toolResult"]["toolUseId"] for block in blocks if "toolResult" in block]
        where = f"messages.{number}.content"
        if set(calls) - set(results):
            yield f"Expected toolResult blocks at {where} for the following Ids: {', '.join(calls)}"
        if set(results) - set(calls):
            yield f"The number of toolResult blocks at {where} exceeds the number of toolUse blocks of previous turn."
        if len(set(results)) < len(results):
            yield f"The toolResult blocks at {where} contain duplicate Ids"
        calls = [block["toolUse"]["toolUseId"] for block in blocks if "toolUse" in block]
        if len(set(calls)) < len(calls):
            yield f"The toolUse blocks at {where} contain duplicate Ids"
    if calls:
        yield f"Expected toolResult blocks for the following Ids: {', '.join(calls)}"
